"""Makes the plugin known to fairseq: the one thing that a `--user-dir` folder has to call."""

import importlib

#: importing these packages runs fairseq's `@register_…` decorators, once per process
REGISTERING_PACKAGES = (
    "fairseq_mcts.models",
    "fairseq_mcts.criterions",
    "fairseq_mcts.tasks",
    "fairseq_mcts.scoring",
)


def register() -> None:
    """Mends the fairseq that is installed, then registers models, criterions, tasks and scorers.

    A fairseq that is missing or lacks something is a `FairseqError`, in one sentence. Under
    fairseq's commands, what the plugin refuses is from now on said in one line.
    Calling it again is harmless: fixes and registrations that are in place are left alone.
    """
    from fairseq_mcts import compat, refusals
    from fairseq_mcts.fairseq_features import require_fairseq

    refusals.end_in_one_line()
    require_fairseq()
    compat.apply()
    for package in REGISTERING_PACKAGES:
        importlib.import_module(package)
