"""Make the plugin known to fairseq: the one thing that a `--user-dir` folder has to call."""

import importlib

PLUGIN_MODULES = ("fairseq_mcts.tasks.translation_mcts",)
"""Importing them runs fairseq's `@register_…` decorators, once per process."""


def register() -> None:
    """Mend fairseq for this environment, then register tasks, models and criterions.

    Calling it again is harmless: fixes and modules that are in place are left alone.
    """
    from fairseq_mcts import compat

    compat.apply()
    for module in PLUGIN_MODULES:
        importlib.import_module(module)
