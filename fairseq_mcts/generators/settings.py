"""From fairseq's configuration to a search's options; what can't be honoured is refused by name."""

import dataclasses
from collections.abc import Mapping
from typing import Any

from fairseq_mcts.search.options import OPTIONS, Options, make_options

#: fairseq's generation options that every search honours, through `Limits` or because fairseq's
#: commands see to them before or after the generator.
HONOURED = {
    "nbest",
    "max_len_a",
    "max_len_b",
    "min_len",
    "match_source_len",
    "unkpen",
    "prefix_size",
    "no_repeat_ngram_size",
    "sacrebleu",
    "score_reference",
    "no_seed_provided",
    "eos_token",
}
#: options without effect in fairseq itself, for any model that this task builds
WITHOUT_EFFECT_IN_FAIRSEQ = {
    "no_early_stop",
    "no_beamable_mm",
    "beam_mt",
    "max_len_a_mt",
    "max_len_b_mt",
    "lenpen_mt",
    "iter_decode_eos_penalty",
    "iter_decode_max_iter",
    "iter_decode_force_max_iter",
    "iter_decode_with_beam",
    "iter_decode_with_external_reranker",
}
#: options of fairseq's beam search that the searches have no place for, and what to use instead
REFUSED: dict[str, str] = {
    "beam": "use --vgbs-beam or --search-budget",
    "lenpen": "the searches do not normalise by a power of the length",
    "unnormalized": "the searches do not normalise by a power of the length",
    "temperature": "use --mcts-temperature, --vgbs-temperature or --sr-temperature",
    "sampling": "use --search sr",
    "sampling_topk": "use --sr-top-k",
    "sampling_topp": "use --sr-top-p",
    "constraints": "lexical constraints need --search beam",
    "diverse_beam_groups": "needs --search beam",
    "diverse_beam_strength": "needs --search beam",
    "diversity_rate": "needs --search beam",
    "print_alignment": "the searches keep no attention weights; use --search beam",
    "replace_unk": "needs attention weights, which the searches do not keep",
    "print_step": "only refinement models have steps to print",
    "retain_iter_history": "only refinement models have a history",
    "lm_path": "language model fusion needs --search beam",
    "lm_weight": "language model fusion needs --search beam",
    "retain_dropout": "the searches remember evaluations, which dropout would make random",
    "retain_dropout_modules": "the searches remember evaluations",
    "decoding_format": "only refinement models have one",
}


def refuse_unsupported(search: str, generation: Any, defaults: Any) -> None:
    """Names the first of fairseq's generation options that was changed and can't be honoured."""
    for name, instead in REFUSED.items():
        default = getattr(defaults, name, None)
        given = getattr(generation, name, default)
        if given != default:
            option = "--" + name.replace("_", "-")
            raise ValueError(f"{option} {given}: not with --search {search}; {instead}")


def search_options(settings: Mapping[str, Any], metric: Any) -> Options:
    """The options of the search that `settings` (the fields of `SearchConfig`) ask for."""
    search = str(settings["search"])
    given: dict[str, Any] = {}
    for name, value in settings.items():
        owner, _, option = name.partition("_")
        if value is None or owner not in OPTIONS or name == "beam_normalization":
            continue
        if owner != search:
            flag = "--" + name.replace("_", "-")
            raise ValueError(f"{flag} {value}: has no effect with --search {search}")
        given[option] = str(value) if hasattr(value, "name") else value
    if "value_bounds" in given:
        given["value_bounds"] = _bounds(given["value_bounds"])
    if "metric" in {field.name for field in dataclasses.fields(OPTIONS[search])}:
        given["metric"] = metric
    elif metric is not None:
        raise ValueError(f"--search-metric: has no effect with --search {search}")
    preset = settings["search_preset"]
    try:
        return make_options(
            search,
            given,
            preset=None if preset is None else str(preset),
            budget=settings["search_budget"],
        )
    except ValueError as error:
        raise ValueError(f"--search {search}: {error}") from error


def _bounds(text: str) -> tuple[float, float]:
    try:
        low, high = (float(part) for part in text.split(","))
    except ValueError:
        raise ValueError(f"--vgbs-value-bounds {text}: expected two numbers, low,high") from None
    return low, high


def needs_value(options: Options) -> bool:
    """Whether a search reads the network's value."""
    if options.search == "mcts":
        return options.leaf == "value"  # type: ignore[union-attr]
    if options.search == "vgbs":
        return options.alpha > 0  # type: ignore[union-attr]
    return options.search == "sr" and options.rank_by == "value"  # type: ignore[union-attr]


def needs_metric(options: Options) -> bool:
    """Whether a search scores finished sentences."""
    if options.search == "mcts":
        return "rollout" in options.leaf or options.terminal == "metric"  # type: ignore[union-attr]
    return options.search == "sr" and options.rank_by == "metric"  # type: ignore[union-attr]
