"""Networks as the searches' evaluators: key/value pool, decoder steppers, device matters."""

from fairseq_mcts.models.network import Network

__all__ = ["Network"]
