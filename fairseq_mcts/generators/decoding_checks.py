"""Everything that can be refused about a decoding before a value or a metric is loaded.

One place for whoever decodes: the task's generators and the sweep.
"""

import math
from collections.abc import Iterable, Mapping
from typing import Any

from fairseq_mcts.decoding.caution import parse_value_read
from fairseq_mcts.generators.decoder_flags import (
    as_flag,
    decoder_from_settings,
    flag,
    metric_settings,
)
from fairseq_mcts.generators.fairseq_options import refuse_impossible, refuse_unsupported
from fairseq_mcts.search.decoder import Decoder
from fairseq_mcts.search.registry import decoder_names

#: fields of a configuration beside the decoders' own, and what they configure
OF_SEARCHES = ("search_budget", "search_preset", "search_memory", "translate_empty")
OF_VALUES = ("value_path", "value_read", "cheating_value")
OF_METRICS = ("search_metric", "search_post_process")
OF_TREES = ("search_trees", "search_tree_sentences", "search_tree_steps")
#: what is written beside the translations, which do not depend on it
OF_RECORDS = ("search_record", "search_record_sentences")
OF_FILES = (*OF_TREES, *OF_RECORDS, "search_json")

DEFAULT_VALUE_READ = "mean"
BYTES = 2**20  # the unit of --search-memory


def check_decoding(settings: Mapping[str, Any], generation: Any, defaults: Any) -> Decoder[Any]:
    """The decoder that the configuration's fields `settings` ask for.

    `generation` holds fairseq's generation options and `defaults` their defaults.
    """
    decoder = decoder_from_settings(settings)
    refuse_impossible(generation)
    if decoder.is_fairseqs_own:
        # a scorer that compares with the source may need the text, whatever decodes
        refused = (*OF_SEARCHES, *OF_VALUES, *OF_TREES, *OF_RECORDS, "search_metric")
        _refuse(settings, refused, f"has no effect with --search {decoder.name}", with_value=True)
        _check_normalization(decoder, generation)
        return decoder
    refuse_unsupported(decoder.name, generation, defaults)
    how = f"--search {decoder.name}, as it is set,"
    if not decoder.needs_value:
        _refuse(settings, OF_VALUES, f"{how} uses no value")
    value_caution(settings)
    if not decoder.may_use_metric():
        _refuse(
            settings,
            _unread_without_metric(settings),
            f"has no effect with --search {decoder.name}",
        )
    _check_metric(settings, decoder, how)
    _check_trees(settings, decoder)
    _check_record(settings, decoder)
    _check_n_best(getattr(generation, "nbest", 1), decoder)
    memory = settings["search_memory"]
    if memory is not None and not 0 < memory * BYTES < math.inf:
        raise ValueError(f"--search-memory {memory}: must be a number greater than 0")
    return decoder


def value_caution(settings: Mapping[str, Any]) -> float:
    """How many standard deviations below their means values are read."""
    return parse_value_read(settings["value_read"] or DEFAULT_VALUE_READ)


def refuse_misspelt(given: Iterable[str], known: Iterable[str]) -> None:
    """Refuses an option of the searches that is none: keywords of hub calls pass no parser."""
    owners = tuple(f"{name}_" for name in (*decoder_names(), "search", "value", "cheating"))
    known = set(known)
    for name in given:
        if name.startswith(owners) and name not in known:
            raise ValueError(f"{name}: the searches have no such option")


def _refuse(
    settings: Mapping[str, Any], names: Iterable[str], why: str, *, with_value: bool = False
) -> None:
    for name in names:
        if settings[name] not in (None, False):
            value = f" {settings[name]}" if with_value else ""
            raise ValueError(f"{flag(name)}{value}: {why}")


def _unread_without_metric(settings: Mapping[str, Any]) -> tuple[str, ...]:
    """Options of metrics, but for that of texts where these are written to a file."""
    return OF_METRICS if settings["search_json"] is None else ("search_metric",)


def _check_metric(settings: Mapping[str, Any], decoder: Decoder[Any], how: str) -> None:
    asking = decoder.metric_option
    if not decoder.needs_metric:
        ways = " or ".join(metric_settings())
        unread = _unread_without_metric(settings)
        _refuse(settings, unread, f"{how} uses no metric; add {ways}")
    elif settings["search_metric"] is None:
        setting = f"--search {decoder.name}"
        if asking is not None:
            setting = as_flag(decoder.name)(asking, getattr(decoder.options, asking))
        raise ValueError(f"{setting} needs --search-metric")


def _check_normalization(decoder: Decoder[Any], generation: Any) -> None:
    """GNMT's is done by a generator of its own, which fairseq's alignments have too."""
    for name in ("print_alignment", "unnormalized"):
        if decoder.options.normalization == "gnmt" and getattr(generation, name, None):
            setting = as_flag(decoder.name)("normalization", "gnmt")
            raise ValueError(f"{setting}: not with {flag(name)}")


def _check_trees(settings: Mapping[str, Any], decoder: Decoder[Any]) -> None:
    if not decoder.builds_trees:
        why = f"--search {decoder.name} builds no search trees"
        _refuse(settings, OF_TREES, f"has no effect: {why}", with_value=True)
    elif settings["search_trees"] is None:
        _refuse(settings, OF_TREES, "has no effect without --search-trees", with_value=True)


def _check_record(settings: Mapping[str, Any], decoder: Decoder[Any]) -> None:
    if not decoder.records_search:
        why = f"--search {decoder.name} does not tell what it does"
        _refuse(settings, OF_RECORDS, f"has no effect: {why}", with_value=True)
    elif settings["search_record"] is None:
        _refuse(settings, OF_RECORDS, "has no effect without --search-record", with_value=True)


def _check_n_best(n_best: int, decoder: Decoder[Any]) -> None:
    most = decoder.most_hypotheses
    if most is not None and n_best > most:
        count, what = decoder.budget_option, f"--search {decoder.name}, which finds {most},"
        if count is not None and getattr(decoder.options, count) == most:
            what = as_flag(decoder.name)(count, most)
        raise ValueError(f"--nbest {n_best}: more than {what} gives")
