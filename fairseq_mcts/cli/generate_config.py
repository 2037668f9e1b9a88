"""The command line of fairseq-mcts-generate as fairseq's configuration, and what it refuses."""

import argparse
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairseq_mcts.command_help import in_one_style
from fairseq_mcts.subset import parsing
from fairseq_mcts.work.options import add_engine_options

PROGRAM = "fairseq-mcts-generate"
MAX_TOKENS = 12_000  # as fairseq-generate does if nothing is said
_CHUNK_SENTENCES = 250

#: is sent to workers, who parse anew
MakeParser = Callable[[], argparse.ArgumentParser]

#: options of fairseq-generate that have no place here, and what to do instead
_REFUSED = {
    ("common_eval", "results_path"): "results go to --out",
    ("common_eval", "quiet"): "everything is written to --out",
    ("task", "search_trees"): "use fairseq-generate",
    ("task", "search_record"): "use fairseq-generate",
    ("task", "search_json"): "give --json-lines",
    ("generation", "score_reference"): "decodes nothing; use fairseq-generate",
    ("generation", "replace_unk"): "use fairseq-generate",
    ("generation", "constraints"): "use fairseq-interactive",
    ("generation", "print_step"): "only refinement models have steps to print",
    ("generation", "retain_iter_history"): "only refinement models have a history",
}


def make_parser() -> argparse.ArgumentParser:
    """All options of fairseq-generate, and those of work in chunks."""
    parser = parsing.generation_parser(
        PROGRAM,
        "Translate a split or a text file with any decoder, in chunks that any number of workers "
        "share; takes all options of fairseq-generate. Killed at any moment, the same command goes "
        "on where it was. The output is in the order of the input and the same to the last byte, "
        "whoever has made it.",
    )
    group = parser.add_argument_group("work in chunks")
    add = group.add_argument
    add_chunk_options(group)
    add("--out", type=Path, required=True, metavar="FOLDER", help="folder for the translations")
    add(
        "--plain-text",
        action="store_true",
        help="also write the best translations, a line for each sentence",
    )
    add(
        "--shard",
        metavar="I/N",
        help="do only the I-th of N parts of the work, the first of which is 0: for arrays of "
        "jobs; after all of them the command without --shard joins the output",
    )
    add_engine_options(group)
    return in_one_style(parser, "generate", [group])


def add_chunk_options(group: Any) -> None:
    """What is in a chunk, and what is made of it."""
    add = group.add_argument
    add(
        "--input",
        dest="input_file",  # fairseq-interactive has an option of the same name, never empty
        type=Path,
        metavar="FILE",
        help="translate the lines of this text, plain or .gz, in place of --gen-subset; "
        "--tokenizer and --bpe split them into symbols, and DATA holds the dictionaries",
    )
    add(
        "--json-lines",
        action="store_true",
        help="also write all hypotheses with their figures as JSON, a line for each sentence",
    )
    add(
        "--chunk-sentences",
        type=int,
        default=_CHUNK_SENTENCES,
        metavar="N",
        help="sentences that are saved together: what a kill can cost (default: %(default)s)",
    )


def parse(
    arguments: Sequence[str], make_parser: MakeParser = make_parser
) -> tuple[argparse.Namespace, Any]:
    """The options, and fairseq's configuration; of another command if it has a parser."""
    parsed, cfg = parsing.parse(make_parser, arguments)
    if cfg.dataset.max_tokens is None and cfg.dataset.batch_size is None:
        cfg.dataset.max_tokens = MAX_TOKENS
    return parsed, cfg


def refuse_unfit(options: argparse.Namespace, cfg: Any) -> None:
    """Refuses options of fairseq-generate that can't be honoured here."""
    if cfg.common_eval.path is None:
        raise ValueError("--path is required")
    for (part, name), instead in _REFUSED.items():
        given = getattr(cfg[part], name, None)
        if given not in (None, False):
            raise ValueError(f"--{name.replace('_', '-')}: not here; {instead}")
    if cfg.dataset.num_shards > 1 or cfg.distributed_training.distributed_world_size > 1:
        raise ValueError("--num-shards, --distributed-world-size: not here; give --shard I/N")
    if options.sacrebleu or options.scoring != "bleu":
        raise ValueError("--scoring: not here; give the output to fairseq-mcts-score")
    if options.input_file is not None and cfg.generation.prefix_size > 0:
        raise ValueError("--prefix-size: lines of --input come without targets to take prefixes of")
    overrides(cfg)


def overrides(cfg: Any) -> dict[str, Any]:
    """What --model-overrides says."""
    from fairseq_mcts.subset.options import model_overrides

    return model_overrides(cfg.common_eval.model_overrides)
