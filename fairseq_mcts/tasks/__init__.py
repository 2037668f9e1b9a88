"""fairseq tasks of the plugin; importing this package registers them."""

from fairseq_mcts.tasks import fairseq_hub
from fairseq_mcts.tasks.translation_mcts import TranslationMctsTask

fairseq_hub.install()

__all__ = ["TranslationMctsTask"]
