"""fairseq_mcts: machine translation that decodes for the metric its user cares about."""

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from fairseq_mcts.hub import Translator

__version__ = "0.2.0.dev0"


def load(*args: Any, **options: Any) -> "Translator":
    """A translator of a checkpoint, see `fairseq_mcts.hub.load`; loads torch and fairseq."""
    from fairseq_mcts import hub

    return hub.load(*args, **options)
