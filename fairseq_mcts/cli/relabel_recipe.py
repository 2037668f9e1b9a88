"""What is relabelled and how: options, and the plan that they make up."""

import argparse
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairseq_mcts.cli.errors import naming, refuse_above, refuse_below_one
from fairseq_mcts.cli.user_dir import import_user_dir
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.register import register

CHUNK_ROWS = 1000
_MAX_TOKENS = 12_000  # as fairseq-generate does if nothing is said
_MAX_TOKENS_GROWN = 3_000  # a source then has some hundred prefixes, all of which are remembered
_SUBSETS = "train,valid"
_SEARCHES = ("vgbs:alpha=0.9", "mcts:simulations=24")
_METHODS = ("greedy", "samples", "completions", "search")
_GROWING = "--method completions or search"


def make_recipe_parser(
    program: str, description: str, arguments: Sequence[str] | None
) -> argparse.ArgumentParser:
    """Options that say what is relabelled and how, not where to and by whom.

    Which options --bpe and --tokenizer have depends on the arguments.
    """
    folder = given_early("--user-dir", arguments)
    if folder is not None:  # first of all: it may bring tokenizers of its own
        import_user_dir(folder)
    parser = argparse.ArgumentParser(prog=program, allow_abbrev=False, description=description)
    add = parser.add_argument
    add("data", metavar="DATA", type=Path, help="folder of fairseq-preprocess")
    add("--path", metavar="FILE[:FILE]", help="checkpoint of the policy, or of an ensemble")
    add(
        "--metric",
        metavar="NAME[:OPTION=VALUE,…]",
        help="what scores a translation: against the reference if the metric needs one (bleu, "
        "chrf, bertscore), against the source if not (mlbertscore)",
    )
    add("--subset", help=f"splits, with commas (default: {_SUBSETS}; train with --monolingual)")
    add(
        "--monolingual",
        metavar="FILE",
        type=Path,
        help="in place of sources of DATA translate the lines of this text in the source language, "
        "plain or .gz, which --tokenizer and --bpe split into symbols; for metrics without "
        "references",
    )
    add(
        "--limit-sources",
        metavar="N|BEGIN:END",
        help="only the first N sources of the one split, or those from row BEGIN up to row END - 1",
    )
    for letter, side in (("s", "source"), ("t", "target")):
        add(f"-{letter}", f"--{side}-lang", metavar="LANG", help="default: from the files' names")
    add("--user-dir", metavar="DIR", help="folder that registers further metrics")
    _add_method_options(parser.add_argument_group("rows of a source"))
    _add_decoding_options(parser.add_argument_group("decoding"))
    _add_text_options(parser.add_argument_group("text, as metrics are to see it"), arguments)
    return parser


def _add_method_options(group: Any) -> None:
    add, count = group.add_argument, partial(group.add_argument, type=int, metavar="N")
    add(
        "--method",
        choices=_METHODS,
        help="greedy: the greedy translation; samples: --samples of the policy; completions: the "
        "greedy translation, and rows that grow from it: one token of an earlier row is changed to "
        "another of the policy's best, and greedy decoding goes on from there, so that all "
        "prefixes have the score they promise; search: completions, and what --searches with the "
        "present value find, from which rows grow too (default: greedy, or samples if --samples is "
        "given)",
    )
    count(
        "--samples",
        help="draw so many translations of each source; each becomes a row, repetitions too. With "
        f"{_GROWING} beside those, once each, and their scores count for the finished sentences "
        "alone",
    )
    add(
        "--temperature",
        metavar="T[,T…]",
        help="of --samples (default: 1); samples take turns with several",
    )
    add(
        "--seed",
        type=int,
        help="of --samples and completions (default: 1); equal sources get equal rows",
    )
    count("--rounds", help="rounds in which rows grow (default: 4)")
    count(
        "--rows-per-round",
        help="rows of a source that grow in a round, from rows of earlier ones (default: 2)",
    )
    count("--best-tokens", help="a token is changed to one of the policy's N best (default: 12)")
    add(
        "--value-path",
        metavar="FILE[:FILE]",
        help="checkpoint whose value --searches go by (default: the value head of --path)",
    )
    add(
        "--searches",
        nargs="+",
        metavar="NAME[:OPTION=VALUE,…]",
        help=f"of --method search: decoders and their options (default: {' '.join(_SEARCHES)})",
    )
    count("--nbest", help="translations that each of --searches gives (default: 4)")


def _add_decoding_options(group: Any) -> None:
    add, count = group.add_argument, partial(group.add_argument, type=int, metavar="N")
    add("--max-len-a", type=float, default=0.0, metavar="A", help="see --max-len-b (default: 0)")
    add(
        "--max-len-b",
        type=int,
        default=200,
        metavar="B",
        help="at most A · source length + B tokens (default: 0, 200), and two fewer than the "
        "policy has positions, so that values can be learned after eos too",
    )
    add(
        "--skip-too-long",
        action="store_true",
        help="leave sources out that are longer than the policy's positions, and empty lines of "
        "--monolingual; refused otherwise",
    )
    count(
        "--max-tokens",
        help=f"source tokens decoded together (default: {_MAX_TOKENS}, or {_MAX_TOKENS_GROWN} with "
        f"{_GROWING}); changes no result",
    )
    count("--batch-size", help="sources decoded together")
    add(
        "--no-matches",
        action="store_true",
        help="leave out how well each token of translation and source is matched in the other, "
        "which is kept beside the scores of metrics that can tell (mlbertscore), for values to "
        "learn from",
    )
    add("--model-overrides", default="{}", metavar="DICT", help="as fairseq-generate")
    add("--fp16", action="store_true", help="compute in half precision")
    add("--cpu", action="store_true", help="even if there is a GPU")


def _add_text_options(group: Any, arguments: Sequence[str] | None) -> None:
    from fairseq.dataclass.utils import gen_parser_from_dataclass
    from fairseq.registry import REGISTRIES

    for kind, help_text in (
        ("bpe", "how subwords are joined (sentencepiece, subword_nmt, …)"),
        ("tokenizer", "how text is detokenised (moses, …)"),
    ):
        registry = REGISTRIES[kind]
        choices = sorted(registry["registry"])
        group.add_argument(f"--{kind}", choices=choices, help=help_text)
        chosen = given_early(f"--{kind}", arguments, choices=choices)
        before = set(group._group_actions)
        if chosen in registry["dataclass_registry"]:
            gen_parser_from_dataclass(group, registry["dataclass_registry"][chosen]())
        elif chosen is not None and hasattr(registry["registry"][chosen], "add_args"):
            registry["registry"][chosen].add_args(group)
        names = sorted(action.dest for action in group._group_actions if action not in before)
        group.set_defaults(**{f"{kind}_options": names})
    group.add_argument(
        "--post-process",
        "--remove-bpe",
        nargs="?",
        const="subword_nmt",
        help="fairseq's other way to join subwords (subword_nmt, sentencepiece, …)",
    )


def given_early(flag: str, arguments: Sequence[str] | None, **details: Any) -> str | None:
    """What an option is set to on which the others depend, before these are known."""
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument(flag, dest="given", **details)
    given: str | None = early.parse_known_args(arguments)[0].given
    return given


def folders_of(options: argparse.Namespace) -> Any:
    """Where data come from and go to."""
    from fairseq_mcts.relabelling.plan import Folders

    subset = options.subset or ("train" if options.monolingual is not None else _SUBSETS)
    splits = [split.strip() for split in subset.split(",") if split.strip()]
    if not splits or len(set(splits)) < len(splits):
        raise ValueError(f"--subset {subset}: expected names of different splits")
    for name in ("out_subset", "monolingual", "limit_sources"):
        if getattr(options, name) is not None and len(splits) > 1:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag}: concerns one split; give its name by --subset")
    if options.monolingual is not None and options.post_process and options.bpe is None:
        raise ValueError(
            "--monolingual: --post-process only joins subwords; give the --bpe that makes them"
        )
    return Folders(
        options.data,
        options.out,
        splits,
        options.source_lang,
        options.target_lang,
        made_split=options.out_subset,
        limit=_limit(options.limit_sources),
        monolingual=options.monolingual,
    )


def _limit(text: str | None) -> Any:
    from fairseq_mcts.relabelling.corpus import SourceRange

    if text is None:
        return None
    begin, colon, end = text.rpartition(":")
    try:
        limit = SourceRange(int(begin) if colon else 0, int(end))
    except ValueError:
        raise ValueError(f"--limit-sources {text}: expected N or BEGIN:END") from None
    if not 0 <= limit.begin < limit.end:
        raise ValueError(f"--limit-sources {text}: holds no row")
    return limit


def plan_from(options: argparse.Namespace) -> Any:
    """The plan of options, among them where to: `out`, `out_subset`, `chunk_rows`."""
    from fairseq_mcts.relabelling.labeller import BatchLimits
    from fairseq_mcts.relabelling.plan import Plan

    folders = folders_of(options)
    recipe = _recipe(options)
    tokens = options.max_tokens
    if tokens is None:  # as in fairseq, --batch-size alone is no limit on tokens
        tokens = _MAX_TOKENS_GROWN if recipe.decoding.grows else _MAX_TOKENS
        tokens = tokens if options.batch_size is None else sys.maxsize
    return Plan(folders, recipe, BatchLimits(tokens, options.batch_size), options.cpu)


def _recipe(options: argparse.Namespace) -> Any:
    from fairseq.data.encoders import build_bpe, build_tokenizer
    from omegaconf import MISSING

    from fairseq_mcts.relabelling.models import ModelFiles
    from fairseq_mcts.relabelling.plan import Recipe
    from fairseq_mcts.subset.options import model_overrides
    from fairseq_mcts.subset.parsing import refuse_missing_files

    for flag in ("path", "metric"):
        if getattr(options, flag) is None:
            raise ValueError(f"--{flag} is required (except with --merge)")
    text: dict[str, Any] = {"post_process": options.post_process}
    for kind in ("bpe", "tokenizer"):
        names = getattr(options, f"{kind}_options")
        for name in names:
            if getattr(options, name) == MISSING:
                flag = f"--{name.replace('_', '-')}"
                raise ValueError(f"--{kind} {getattr(options, kind)}: needs {flag}")
        given = {name: getattr(options, name) for name in names}
        refuse_missing_files(given)
        text[kind] = {"name": getattr(options, kind), **given}
    with naming(f"--metric {options.metric}"):
        metric = build_metric(options.metric, with_likelihood=True)
    if options.no_matches and not metric.matches_tokens:
        raise ValueError(f"--no-matches: --metric {metric.name} can't tell any")
    paths = [Path(path) for path in options.path.split(":")]
    value = None
    if options.value_path is not None:
        of_value = [Path(path) for path in options.value_path.split(":")]
        value = ModelFiles(of_value, {}, options.fp16, option="--value-path")
    return Recipe(
        policy=ModelFiles(paths, model_overrides(options.model_overrides), options.fp16),
        value=value,
        decoding=_decoding(options),
        text=text,
        bpe=build_bpe(options),
        tokenizer=build_tokenizer(options),
        metric=metric,
        skip_too_long=options.skip_too_long,
        chunk_rows=options.chunk_rows,
        without_matches=options.no_matches,
    )


def _decoding(options: argparse.Namespace) -> Any:
    from fairseq_mcts.relabelling.completion_search import Growth
    from fairseq_mcts.relabelling.decoding import Decoding
    from fairseq_mcts.relabelling.found import Searches

    method = options.method or ("greedy" if options.samples is None else "samples")
    given = _given(options, "samples", "seed", "max_len_a", "max_len_b")
    growth = _given(options, *Growth._fields)
    searches = Searches(tuple(options.searches or _SEARCHES), **_given(options, "nbest"))
    if options.temperature is not None:
        given["temperatures"] = _temperatures(options.temperature)
    decoding = Decoding(method, growth=Growth(**growth), searches=searches, **given)
    if method == "samples" and not decoding.samples:
        raise ValueError("--method samples: needs --samples")
    if method == "greedy" and decoding.samples:
        raise ValueError("--samples: not with --method greedy")
    if options.temperature is not None and not decoding.samples:
        raise ValueError("--temperature: has no effect without --samples")
    if options.seed is not None and not (decoding.samples or decoding.grows):
        raise ValueError(f"--seed: has no effect without --samples or {_GROWING}")
    for name in growth:
        if not decoding.grows:
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag}: has no effect without {_GROWING}")
    if decoding.growth.rounds < 0:
        raise ValueError(f"--rounds {decoding.growth.rounds}: must not be negative")
    for name in _given(options, "value_path", "searches", "nbest"):
        if method != "search":
            flag = name.replace("_", "-")
            raise ValueError(f"--{flag}: has no effect without --method search")
    return decoding


def _given(options: argparse.Namespace, *names: str) -> dict[str, Any]:
    return {name: one for name in names if (one := getattr(options, name)) is not None}


def _temperatures(text: str) -> tuple[float, ...]:
    try:
        temperatures = tuple(float(one) for one in text.split(","))
    except ValueError:
        raise ValueError(f"--temperature {text}: expected numbers with commas") from None
    for temperature in temperatures:
        if not 0 < temperature < float("inf"):
            raise ValueError(f"--temperature {temperature}: must be greater than 0")
    return temperatures


def plan_in_worker(options: argparse.Namespace) -> Any:
    """The same plan, made anew in another process."""
    register()
    if options.user_dir is not None:
        import_user_dir(options.user_dir)
    return plan_from(options)


def refuse_bad_counts(options: argparse.Namespace) -> None:
    """Refuses numbers that nothing can be done with."""
    from fairseq_mcts.generators.fairseq_options import refuse_impossible
    from fairseq_mcts.search.options import MOST, WIDEST

    refuse_impossible(options, ["max_len_a"])
    refuse_below_one(options, "max_tokens", "batch_size", "samples")
    refuse_below_one(options, "rows_per_round", "best_tokens", "nbest")
    refuse_above(MOST, options, "samples", "rounds", "rows_per_round", "nbest")
    refuse_above(WIDEST, options, "best_tokens")
