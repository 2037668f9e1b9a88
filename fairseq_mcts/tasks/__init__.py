"""fairseq tasks of the plugin; importing this package registers them."""

from fairseq_mcts.tasks import fairseq_hub
from fairseq_mcts.tasks.kept_results import keep_results
from fairseq_mcts.tasks.translation_mcts import TranslationMctsTask

fairseq_hub.install()
keep_results()

__all__ = ["TranslationMctsTask"]
