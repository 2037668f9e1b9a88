"""From fairseq's configuration to a search's options; what can't be honoured is refused by name."""

import dataclasses
import re
from collections.abc import Iterable, Mapping
from typing import Any

from fairseq_mcts.search.options import OPTIONS, Options, make_options

#: fairseq's generation options that every search honours, through `Limits` or because fairseq's
#: commands see to them before or after the generator (tests/generators/test_generation_options.py
#: shows it of each one of this file)
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
}
#: options without effect in fairseq itself on translation models: nothing of fairseq reads them,
#: only other tasks do (speech with two decoders, iterative refinement), or fairseq's parser
#: overwrites them (no_seed_provided)
WITHOUT_EFFECT_IN_FAIRSEQ = {
    "no_early_stop",
    "no_seed_provided",
    "no_beamable_mm",
    "eos_token",
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
            raise ValueError(f"{flag(name)} {given}: not with --search {search}; {instead}")


def refuse_misspelt(given: Iterable[str], known: Iterable[str]) -> None:
    """Names an option of the searches that is none: keywords of hub calls pass no parser."""
    known = set(known)
    for name in given:
        if re.match("(mcts|vgbs|sr|search|value|cheating)_", name) and name not in known:
            raise ValueError(f"{name}: the searches have no such option")


#: calls of a network with fewer prefixes are filled up with guesses: their time goes into reading
#: the weights, whatever the number of rows (benchmarks/prefetch.py shows what that saves)
PREFETCH = 16
#: options beside a search: they change what is written about it, not what it finds
TREE_OPTIONS = ("mcts_trees", "mcts_tree_sentences", "mcts_tree_steps")


def refuse_unused(settings: Mapping[str, Any], options: Options) -> None:
    """Names an option that the search, as it is set, would never look at."""
    how = f"--search {options.search}, as it is set,"
    if not needs_value(options):
        for name in ("value_path", "cheating_value"):
            if settings[name]:
                raise ValueError(f"{flag(name)}: {how} uses no value")
    if not needs_metric(options):
        for name in ("search_metric", "search_post_process"):
            if settings[name] is not None:
                raise ValueError(
                    f"{flag(name)}: {how} uses no metric; add --sr-rank-by metric, --mcts-leaf "
                    "rollout or --mcts-terminal metric"
                )
    for name in TREE_OPTIONS:
        if settings["mcts_trees"] is None and settings[name] is not None:
            raise ValueError(f"{flag(name)} {settings[name]}: has no effect without --mcts-trees")


def refuse_too_many(n_best: int, options: Options) -> None:
    """Refuses --nbest where the search can't ever find so many sentences."""
    if options.search == "mcts":
        return  # how many finished sentences it meets is not known before
    most = getattr(options, options.budget_option)
    if n_best > most:
        name = flag(f"{options.search}_{options.budget_option}")
        raise ValueError(f"--nbest {n_best}: more than {name} {most} gives")


def _complete_mcts(given: dict[str, Any]) -> None:
    """Sets the guesses that a network gains from; refuses what rollouts would not look at."""
    if given.get("leaf") != "rollout":
        given.setdefault("prefetch", PREFETCH)
        return
    if given.get("terminal") == "value":
        raise ValueError(
            "--mcts-terminal value: not with --mcts-leaf rollout, which scores finished sentences "
            "by the metric"
        )
    if "prefetch" in given:
        raise ValueError(
            f"--mcts-prefetch {given['prefetch']}: has no effect with --mcts-leaf rollout"
        )


def search_options(settings: Mapping[str, Any], metric: Any) -> Options:
    """The options of the search that `settings` (the fields of `SearchConfig`) ask for."""
    search = str(settings["search"])
    given: dict[str, Any] = {}
    for name, value in settings.items():
        owner, _, option = name.partition("_")
        if value is None or owner not in OPTIONS or name == "beam_normalization":
            continue
        if owner != search:
            raise ValueError(f"{flag(name)} {value}: has no effect with --search {search}")
        if name in TREE_OPTIONS:
            continue
        given[option] = str(value) if hasattr(value, "name") else value
    if search != "beam" and str(settings["beam_normalization"]) != "length":
        raise ValueError(
            f"--beam-normalization {settings['beam_normalization']}: has no effect with "
            f"--search {search}"
        )
    if "value_bounds" in given:
        given["value_bounds"] = _bounds(given["value_bounds"])
        if given.get("value_scale") != "log":
            raise ValueError("--vgbs-value-bounds: has no effect without --vgbs-value-scale log")
    if search == "mcts":
        _complete_mcts(given)
    if "metric" in {field.name for field in dataclasses.fields(OPTIONS[search])}:
        given["metric"] = metric
    elif metric is not None:
        raise ValueError(f"--search-metric: has no effect with --search {search}")
    count = OPTIONS[search].budget_option
    if settings["search_budget"] is not None and count in given:
        raise ValueError(
            f"--search-budget {settings['search_budget']}: has no effect beside "
            f"{flag(f'{search}_{count}')} {given[count]}"
        )
    preset = settings["search_preset"]
    try:
        return make_options(
            search,
            given,
            preset=None if preset is None else str(preset),
            budget=settings["search_budget"],
        )
    except ValueError as error:
        raise ValueError(_in_flags(search, str(error))) from error


def flag(name: str) -> str:
    """An option as it is written on a command line."""
    return "--" + name.replace("_", "-")


def _in_flags(search: str, complaint: str) -> str:
    """What `search.options` complains about, with the names that a command line has for it."""
    complaint = complaint.replace("needs a metric", "needs --search-metric")
    complaint = re.sub(r"^(\w+)='(\w+)'", r"\1 \2", complaint)
    name = re.match(r"\w+", complaint)
    if name is None:
        return f"--search {search}: {complaint}"
    owner = "search" if name.group() == "budget" else search
    return flag(f"{owner}_{name.group()}") + complaint[name.end() :]


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
        return options.leaf == "rollout" or options.terminal == "metric"  # type: ignore[union-attr]
    return options.search == "sr" and options.rank_by == "metric"  # type: ignore[union-attr]
