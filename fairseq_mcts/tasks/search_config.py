"""The task's configuration: fairseq's options of translation, the searches', and each decoder's.

The decoders' own options come from their classes, so the configuration is made anew whenever a
decoder is registered: flags of a decoder in a user's --user-dir are flags like any other.
"""

import dataclasses
from dataclasses import field, make_dataclass
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum
from fairseq.tasks.translation import TranslationConfig

from fairseq_mcts.generators.decoder_flags import (
    DecoderFlag,
    decoder_flags,
    flag,
    metric_settings,
    presets,
)
from fairseq_mcts.search.registry import decoder_class, decoder_names, fairseqs_own_decoder

Field = tuple[str, Any, Any]  # name, type, dataclasses.field


def search_fields() -> list[Field]:
    """What decides how sentences are decoded."""
    return [*_common_fields(), *(_decoder_field(*item) for item in decoder_flags().items())]


def search_field_names() -> list[str]:
    """The names of `search_fields`."""
    return [name for name, _, _ in search_fields()]


def unset_search_fields() -> dict[str, Any]:
    """`search_fields` as they are if nothing is given."""
    return {name: one.default for name, _, one in search_fields()}


def make_config() -> type[TranslationConfig]:
    """The configuration with the options of all decoders that are registered now."""
    fields = [*search_fields(), *_training_fields(), *_validation_fields()]
    names = [name for name, _, _ in fields]
    names += [one.name for one in dataclasses.fields(TranslationConfig)]
    twice = sorted({flag(name) for name in names if names.count(name) > 1})
    if twice:
        raise ValueError(f"a decoder's option has a flag that exists already: {', '.join(twice)}")
    config = make_dataclass("TranslationMctsConfig", fields, bases=(TranslationConfig,))
    config.__module__ = __name__
    config.__doc__ = "Options of translation, of the decoders, of scored data and of validation."
    return config


def _field(name: str, kind: Any, default: Any, help: str) -> Field:
    return name, kind, field(default=default, metadata={"help": help})


def _searches() -> Any:
    return ChoiceEnum(decoder_names())


def _decoder_field(name: str, one: DecoderFlag) -> Field:
    info = one.info
    kind = ChoiceEnum(list(info.flag_choices or info.choices)) if info.choices else info.flag_type
    default = "" if info.default is None else f" (default: {_written(info.default)})"
    return _field(name, Optional[kind], None, info.help + default)


def _written(default: Any) -> str:
    if isinstance(default, tuple):
        return ",".join(map(_written, default))
    if isinstance(default, bool):
        return "on" if default else "off"
    return f"{default:g}" if isinstance(default, float) else str(default)


def _common_fields() -> list[Field]:
    searches = "; ".join(f"{name}: {decoder_class(name).summary()}" for name in decoder_names())
    comparing = ", ".join(
        f"--search {name}" for name in decoder_names() if decoder_class(name).compares_finished
    )
    meanings = "; ".join(f"{name}: {', '.join(flags)}" for name, flags in presets().items())
    return [
        _field(
            "search",
            Optional[_searches()],
            None,  # so that one that is given can be told from one that is not
            f"how to decode (default: {fairseqs_own_decoder()}). {searches}",
        ),
        _field(
            "search_settings",
            Optional[str],
            None,
            "JSON file with a decoder, its options and its budget, as fairseq-mcts-sweep writes "
            "it; what else is given on the command line wins over it",
        ),
        _field(
            "search_budget",
            Optional[int],
            None,
            "network evaluations per output token that the paper's accounting charges: sets the "
            f"count of the search to the smallest that is charged so many ({_budget_options()})",
        ),
        _field(
            "search_preset",
            Optional[ChoiceEnum(list(presets()))],
            None,
            "the paper's settings for metrics that need a reference (privileged) or that need "
            f"none (unprivileged). {meanings}",
        ),
        _field(
            "search_metric",
            Optional[str],
            None,
            f"metric of finished sentences, for {' or '.join(metric_settings())}; for example "
            "mlbertscore:model=FOLDER; one that needs a reference is refused, but where finished "
            f"sentences are compared with one another ({comparing})",
        ),
        _field(
            "search_post_process",
            Optional[str],
            None,
            "how the texts of --search-metric, of --search-json and of scorers that compare with "
            "the source are freed from subwords if there is no --bpe: what --post-process is for "
            "fairseq's own output, for example subword_nmt or sentencepiece",
        ),
        _field(
            "search_json",
            Optional[str],
            None,
            "file for the hypotheses of every sentence (--nbest of them) as JSON lines, with "
            "texts, likelihoods, values, metrics and counts",
        ),
        _field(
            "search_memory",
            Optional[float],
            None,
            "at most so many MiB for the keys and values of a batch's remembered prefixes; a "
            "batch that needs more is split. Unbounded by default",
        ),
        _field(
            "translate_empty",
            bool,
            False,
            "translate sources without a token, too; a search answers them by an empty "
            "translation unless told so, because a model only makes something up",
        ),
        _field(
            "skip_failed",
            bool,
            False,
            "go on if a sentence can't be searched, because a network or a metric gives no number "
            "or memory is too little: it is answered by the best finished sentence so far, else "
            "by greedy search, else by an empty translation; an F line says so, and the run ends "
            "with a list of such sentences. By default the run stops at the first",
        ),
        _field(
            "search_trees",
            Optional[str],
            None,
            "folder for search trees: of each chosen sentence and output token a JSON file with "
            "the whole tree and an SVG picture of its main branches (needs matplotlib); python -m "
            "fairseq_mcts.pictures redraws them with more or fewer branches",
        ),
        _field(
            "search_tree_sentences",
            Optional[str],
            None,
            "sentences whose trees --search-trees writes, by their numbers in the S and H lines, "
            "for example 0,3,7-9 (default: 0)",
        ),
        _field(
            "search_tree_steps",
            Optional[str],
            None,
            "output tokens whose trees --search-trees writes, counted from 1, for example 1,6,9 "
            "(default: all of the sentence)",
        ),
        _field(
            "search_record",
            Optional[str],
            None,
            "file for whole searches as JSON lines (compressed if its name ends in .gz), which "
            "fairseq-mcts-report shows token by token: trees as they grow, beams, samples",
        ),
        _field(
            "search_record_sentences",
            Optional[str],
            None,
            "sentences that --search-record takes, by their numbers in the S and H lines, for "
            "example 0,3,7-9 (default: 0-49)",
        ),
        _field(
            "value_path",
            Optional[str],
            None,
            "checkpoint(s) with a value head whose value is used in place of that of --path, "
            "separated by ':' (the mean is taken)",
        ),
        _field(
            "value_read",
            Optional[str],
            None,
            "which number of a value's distribution the search goes by: mean (the default), or "
            "lower:κ, for example lower:0.5: κ standard deviations less, so that it is not led by "
            "values that may be far too high; with several values those of their mixture",
        ),
        _field(
            "cheating_value",
            bool,
            False,
            "analysis only: the value reads the reference instead of the source, as the paper's "
            "'cheating' rows do; every hypothesis says so in an X line",
        ),
    ]


def _budget_options() -> str:
    return ", ".join(
        flag(f"{name}_{cls.budget_option}")
        for name, cls in ((name, decoder_class(name)) for name in decoder_names())
        if cls.budget_option is not None and not cls.is_fairseqs_own
    )


def _training_fields() -> list[Field]:
    return [
        _field(
            "rows_per_source",
            Optional[int],
            None,
            "data with scores: at most so many rows of a source in a batch of training, others "
            "in each epoch (default: all, as far as --max-tokens allows)",
        ),
    ]


def _validation_fields() -> list[Field]:
    return [
        _field(
            "eval_search",
            Optional[_searches()],
            None,
            "with --eval-bleu: also decode some validation sentences by this search, with the "
            "decoders' options, and report its score as <search>_<metric>, e.g. mcts_bleu, which "
            "--best-checkpoint-metric may name",
        ),
        _field(
            "eval_search_metric",
            Optional[str],
            None,
            "metric that --eval-search reports, for example mlbertscore:model=FOLDER (default: "
            "the BLEU of --eval-bleu)",
        ),
        _field(
            "eval_search_sentences",
            int,
            50,
            "sentences per validation (and worker) that --eval-search decodes",
        ),
    ]
