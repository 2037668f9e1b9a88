"""Make the plugin known to fairseq: the one thing that a `--user-dir` folder has to call."""

import importlib

ROOMS = (
    "fairseq_mcts.models",
    "fairseq_mcts.criterions",
    "fairseq_mcts.tasks",
    "fairseq_mcts.scoring",
)
"""Importing these packages runs fairseq's `@register_…` decorators, once per process."""


def register() -> None:
    """Mend fairseq for this environment, then register tasks, models and criterions.

    Calling it again is harmless: fixes and registrations that are in place are left alone.
    """
    from fairseq_mcts import compat

    compat.apply()
    for room in ROOMS:
        importlib.import_module(room)
