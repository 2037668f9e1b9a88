"""fairseq tasks of the plugin; importing this package registers them."""

from fairseq_mcts.tasks.translation_mcts import TranslationMctsTask

__all__ = ["TranslationMctsTask"]
