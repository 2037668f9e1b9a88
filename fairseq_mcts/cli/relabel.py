"""fairseq-mcts-relabel: from a corpus, a policy and a metric to data with scores."""

import argparse
import ast
import sys
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any

from fairseq_mcts.cli.errors import exit_on_errors, refuse_below_one
from fairseq_mcts.cli.user_dir import import_user_dir
from fairseq_mcts.cli.work_options import (
    add_engine_options,
    checked_shard,
    make_engine,
    parse_shard,
)
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.register import register
from fairseq_mcts.work import Shard

PROGRAM = "fairseq-mcts-relabel"
_MAX_TOKENS = 12_000  # as fairseq-generate does if nothing is said
_MAX_TOKENS_GROWN = 3_000  # a source then has some hundred prefixes, all of which are remembered
_SUBSETS = "train,valid"
_SEARCHES = ("vgbs:alpha=0.9", "mcts:simulations=24")
_METHODS = ("greedy", "samples", "completions", "search")
_GROWING = "--method completions or search"
_MERGE_OPTIONS = {
    *("data", "out", "subset", "out_subset", "source_lang", "target_lang"),
    *("num_shards", "merge", "user_dir"),
}


def make_parser(arguments: Sequence[str] | None = None) -> argparse.ArgumentParser:
    """The parser; which options --bpe and --tokenizer have depends on the arguments."""
    parser = argparse.ArgumentParser(
        prog=PROGRAM,
        allow_abbrev=False,
        description="Translate a binarised corpus with a policy and score every translation: "
        "data that fairseq-train --task translation_mcts learns values from. Killed at any "
        "moment, the same command goes on where it was.",
    )
    add = parser.add_argument
    add("data", metavar="DATA", type=Path, help="folder of fairseq-preprocess")
    add("--out", metavar="FOLDER", type=Path, required=True, help="folder for the data with scores")
    add("--path", metavar="FILE[:FILE]", help="checkpoint of the policy, or of an ensemble")
    add(
        "--metric",
        metavar="NAME[:OPTION=VALUE,…]",
        help="what scores a translation: against the reference if the metric needs one (bleu, "
        "chrf, bertscore), against the source if not (mlbertscore)",
    )
    add("--subset", help=f"splits, with commas (default: {_SUBSETS}; train with --monolingual)")
    add(
        "--out-subset",
        metavar="NAME",
        help="what the one split of --subset is to be called, for example train1, which is trained "
        "on together with train of the same folder (default: the same)",
    )
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
    _add_sharding_options(parser.add_argument_group("many processes"))
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
    add("--max-len-a", type=float, default=0.0, metavar="A")
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
    add("--model-overrides", default="{}", metavar="DICT", help="as fairseq-generate")
    add("--fp16", action="store_true", help="compute in half precision")
    add("--cpu", action="store_true", help="even if there is a GPU")


def _add_sharding_options(group: Any) -> None:
    add, count = group.add_argument, partial(group.add_argument, type=int, metavar="N")
    add_engine_options(group)
    add(
        "--shard",
        metavar="I/N",
        help="do only the I-th of N parts of the work, the first of which is 0: for arrays of jobs "
        "(also: --shard I --num-shards N)",
    )
    count("--num-shards", help="with --merge: to name the shards that are missing")
    add(
        "--merge",
        action="store_true",
        help="after all shards: put the result together (without shards that happens by itself); "
        "takes the shards' settings, so give just DATA, --out and, if you did, --subset and "
        "languages",
    )
    count(
        "--chunk-rows",
        default=1000,
        help="rows that are saved together: what a kill can cost (default: %(default)s)",
    )


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
        chosen = _given_early(f"--{kind}", arguments, choices=choices)
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


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM):
        parser, options = _parse(arguments)
        refuse_below_one(options, "num_shards", "max_tokens", "batch_size", "chunk_rows", "samples")
        refuse_below_one(options, "rows_per_round", "best_tokens", "nbest")
        refuse_below_one(options, "workers", "cpus_per_worker")
        if options.merge:
            _merge(parser, options)
        else:
            _relabel(arguments, options)


def _parse(arguments: Sequence[str]) -> tuple[argparse.ArgumentParser, argparse.Namespace]:
    folder = _given_early("--user-dir", arguments)
    if folder is not None:  # first of all: it may bring tokenizers of its own
        import_user_dir(folder)
    parser = make_parser(arguments)
    return parser, parser.parse_args(arguments)


def _given_early(flag: str, arguments: Sequence[str] | None, **details: Any) -> str | None:
    """What an option is set to on which the others depend, before these are known."""
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument(flag, dest="given", **details)
    given: str | None = early.parse_known_args(arguments)[0].given
    return given


def _folders(options: argparse.Namespace) -> Any:
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


def _merge(parser: argparse.ArgumentParser, options: argparse.Namespace) -> None:
    from fairseq_mcts.relabelling.run import merge_only

    for name, given in vars(options).items():
        if name not in _MERGE_OPTIONS and given != parser.get_default(name):
            flag = "--" + name.replace("_", "-")
            raise ValueError(f"{flag}: not with --merge, which takes the settings of the shards")
    merge_only(_folders(options), options.num_shards)


def _relabel(arguments: Sequence[str], options: argparse.Namespace) -> None:
    from fairseq_mcts.relabelling.run import relabel

    shard = _shard(options)
    if options.cpus_per_worker is not None and options.workers is None and options.engine != "ray":
        raise ValueError("--cpus-per-worker: has no effect without --workers or --engine ray")
    engine = make_engine(options)
    describe = partial(plan_of, tuple(arguments))
    relabel(describe, _plan(options), shard=shard, engine=engine)


def plan_of(arguments: Sequence[str]) -> Any:
    """The plan of a command line, made anew: workers in other processes call this."""
    register()
    return _plan(_parse(arguments)[1])


def _plan(options: argparse.Namespace) -> Any:
    from fairseq_mcts.relabelling.labeller import BatchLimits
    from fairseq_mcts.relabelling.plan import Plan

    folders = _folders(options)
    recipe = _recipe(options)
    tokens = options.max_tokens
    if tokens is None:  # as in fairseq, --batch-size alone is no limit on tokens
        tokens = _MAX_TOKENS_GROWN if recipe.decoding.grows else _MAX_TOKENS
        tokens = tokens if options.batch_size is None else sys.maxsize
    return Plan(folders, recipe, BatchLimits(tokens, options.batch_size), options.cpu)


def _recipe(options: argparse.Namespace) -> Any:
    from fairseq.data.encoders import build_bpe, build_tokenizer

    from fairseq_mcts.relabelling.models import ModelFiles
    from fairseq_mcts.relabelling.plan import Recipe

    for flag in ("path", "metric"):
        if getattr(options, flag) is None:
            raise ValueError(f"--{flag} is required (except with --merge)")
    text: dict[str, Any] = {"post_process": options.post_process}
    for kind in ("bpe", "tokenizer"):
        names = getattr(options, f"{kind}_options")
        text[kind] = {"name": getattr(options, kind), **{n: getattr(options, n) for n in names}}
    paths = [Path(path) for path in options.path.split(":")]
    value = None
    if options.value_path is not None:
        of_value = [Path(path) for path in options.value_path.split(":")]
        value = ModelFiles(of_value, {}, options.fp16, option="--value-path")
    return Recipe(
        policy=ModelFiles(paths, _model_overrides(options.model_overrides), options.fp16),
        value=value,
        decoding=_decoding(options),
        text=text,
        bpe=build_bpe(options),
        tokenizer=build_tokenizer(options),
        metric=build_metric(options.metric, with_likelihood=True),
        skip_too_long=options.skip_too_long,
        chunk_rows=options.chunk_rows,
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


def _shard(options: argparse.Namespace) -> Shard | None:
    if options.shard is not None and "/" in options.shard:
        if options.num_shards is not None:
            raise ValueError("--num-shards: --shard I/N says it already")
        return parse_shard(options.shard)
    if options.num_shards is None and options.shard is None:
        return None
    if options.num_shards is None or options.shard is None:
        raise ValueError("--shard and --num-shards belong together; or give --shard I/N")
    if not options.shard.isdecimal():
        raise ValueError(f"--shard {options.shard}: expected I/N, for example 0/8")
    return checked_shard(int(options.shard), options.num_shards)


def _model_overrides(text: str) -> dict[str, Any]:
    try:
        overrides = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        overrides = None
    if not isinstance(overrides, dict):
        raise ValueError(f"--model-overrides {text}: expected a dictionary, as {{'name': value}}")
    return overrides
