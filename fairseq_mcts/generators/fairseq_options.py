"""fairseq's own generation options that the searches refuse; all others they honour."""

import math
from collections.abc import Callable, Iterable
from typing import Any

from fairseq_mcts.generators.decoder_flags import flag, flags_instead_of
from fairseq_mcts.search.options import MOST

#: options of fairseq's beam search that the searches have no place for, and why; None: a decoder
#: has an option of its own in its place
REFUSED: dict[str, str | None] = {
    "beam": None,
    "lenpen": "the searches do not normalise by a power of the length",
    "unnormalized": "the searches do not normalise by a power of the length",
    "temperature": None,
    "sampling": None,
    "sampling_topk": None,
    "sampling_topp": None,
    "constraints": "lexical constraints need fairseq's own beam search",
    "diverse_beam_groups": "needs fairseq's own beam search",
    "diverse_beam_strength": "needs fairseq's own beam search",
    "diversity_rate": "needs fairseq's own beam search",
    "print_alignment": "the searches keep no attention weights",
    "replace_unk": "needs attention weights, which the searches do not keep",
    "print_step": "only refinement models have steps to print",
    "retain_iter_history": "only refinement models have a history",
    "lm_path": "language model fusion needs fairseq's own beam search",
    "lm_weight": "language model fusion needs fairseq's own beam search",
    "retain_dropout": "the searches remember evaluations, which dropout would make random",
    "retain_dropout_modules": "the searches remember evaluations",
    "decoding_format": "only refinement models have one",
}


#: what the numbers among fairseq's options must be, whichever decoder reads them
_NUMBERS: dict[str, tuple[Callable[[float], bool], str]] = {
    "nbest": (lambda given: given >= 1, "must be at least 1"),
    "beam": (lambda given: given >= 1, "must be at least 1"),
    "min_len": (lambda given: given >= 0, "must not be negative"),
    "prefix_size": (lambda given: given >= 0, "must be 0 (off) or more"),
    "no_repeat_ngram_size": (lambda given: given >= 0, "must be 0 (off) or more"),
    # products with lengths and powers of them are numbers then
    "max_len_a": (lambda given: abs(given) <= MOST, f"must lie in [-{MOST:,}, {MOST:,}]"),
    "lenpen": (lambda given: abs(given) <= 100, "must lie in [-100, 100]"),
    "unkpen": (math.isfinite, "must be a number"),
    "sampling_topp": (lambda given: given <= 1, "must be at most 1"),
    "diverse_beam_strength": (math.isfinite, "must be a number"),
    "diversity_rate": (math.isfinite, "must be a number"),
    "lm_weight": (math.isfinite, "must be a number"),
    "temperature": (lambda given: 0 < given < math.inf, "must be a number greater than 0"),
}


def refuse_impossible(generation: Any, names: Iterable[str] = tuple(_NUMBERS)) -> None:
    """Refuses numbers that no decoder could do anything with."""
    for name in names:
        is_fine, complaint = _NUMBERS[name]
        given = getattr(generation, name, None)
        if given is not None and not is_fine(given):
            raise ValueError(f"{flag(name)} {given}: {complaint}")


def refuse_unsupported(search: str, generation: Any, defaults: Any) -> None:
    """Refuses the first of fairseq's generation options that was changed and can't be honoured."""
    for name, why in REFUSED.items():
        default = getattr(defaults, name, None)
        given = getattr(generation, name, default)
        if given != default:
            hint = why or f"use {' or '.join(flags_instead_of(name, search))}"
            raise ValueError(f"{flag(name)} {given}: not with --search {search}; {hint}")
