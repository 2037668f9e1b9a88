"""The task `translation_mcts`: fairseq's translation, the place for the plugin's options."""

from dataclasses import dataclass

from fairseq.tasks import register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask


@dataclass
class TranslationMctsConfig(TranslationConfig):  # type: ignore[misc]
    """Options of fairseq's translation task; those of the decoders join them here."""


@register_task("translation_mcts", dataclass=TranslationMctsConfig)
class TranslationMctsTask(TranslationTask):  # type: ignore[misc]
    """Translate from one language into another, with the decoders of fairseq_mcts."""

    cfg: TranslationMctsConfig
