"""Command lines of commands that take all options of fairseq-generate."""

import argparse
import os
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from fairseq_mcts.command_help import show_defaults

_TASK = "translation_mcts"
#: how text is split into subwords, by those that most data is made with
_BPES = ("sentencepiece", "subword_nmt")
#: options of --bpe that name files
_TEXT_FILES = (
    *("sentencepiece_model", "sentencepiece_model_path"),
    *("bpe_codes", "bpe_merges", "bpe_vocab"),
)


def generation_parser(program: str, description: str) -> argparse.ArgumentParser:
    """A parser of all options of fairseq-generate, for others to be added."""
    from fairseq import options

    parser: argparse.ArgumentParser = options.get_generation_parser(default_task=_TASK)
    parser.prog = program
    parser.description = description
    return parser


def parse(
    make_parser: Callable[[], argparse.ArgumentParser], arguments: Sequence[str]
) -> tuple[argparse.Namespace, Any]:
    """The options, and fairseq's configuration of them."""
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    if {"-h", "--help"} & set(arguments):  # fairseq would answer before it knows the decoders
        complete_parser(make_parser).print_help()
        raise SystemExit(0)
    _refuse_missing_user_dir(arguments)
    # fairseq adds to a parser what the arguments ask for: each parsing takes a new one
    parsed = options.parse_args_and_arch(make_parser(), list(arguments))
    cfg = convert_namespace_to_omegaconf(parsed)
    _refuse_incomplete_text(cfg)
    return parsed, cfg


def _refuse_missing_user_dir(arguments: Sequence[str]) -> None:
    """Before fairseq does, which names no option."""
    early = argparse.ArgumentParser(add_help=False, allow_abbrev=False)
    early.add_argument("--user-dir")
    folder = early.parse_known_args(arguments)[0].user_dir
    if folder is not None and not os.path.isdir(folder):
        raise FileNotFoundError(f"--user-dir {folder}: there is no such folder")


def _refuse_incomplete_text(cfg: Any) -> None:
    """A --bpe or --tokenizer whose own options are not given."""
    from omegaconf import OmegaConf

    for kind in ("bpe", "tokenizer"):
        chosen = cfg[kind]
        if not OmegaConf.is_dict(chosen):
            continue
        for name in chosen:
            if OmegaConf.is_missing(chosen, name):
                flag = f"--{name.replace('_', '-')}"
                raise ValueError(f"--{kind} {chosen._name}: needs {flag}")
        refuse_missing_files(OmegaConf.to_container(chosen))


def refuse_missing_files(given: Mapping[str, Any]) -> None:
    """Files of subwords that are not there, before fairseq complains, which names no option."""
    for name in _TEXT_FILES:
        path = given.get(name)
        if isinstance(path, str) and "://" not in path and not os.path.isfile(path):
            raise FileNotFoundError(f"--{name.replace('_', '-')} {path}: there is no such file")


def complete_parser(
    make_parser: Callable[[], argparse.ArgumentParser],
) -> argparse.ArgumentParser:
    """The parser with what fairseq would add to it late: options of the decoders and of subwords.

    For whoever shows options; the values of such a parser mean nothing.
    """
    from fairseq.dataclass.utils import gen_parser_from_dataclass
    from fairseq.registry import REGISTRIES
    from fairseq.tasks import TASK_DATACLASS_REGISTRY

    parser = make_parser()
    decoders = parser.add_argument_group("data, decoders and their metrics")
    gen_parser_from_dataclass(decoders, TASK_DATACLASS_REGISTRY[_TASK]())
    parser._action_groups.remove(decoders)
    parser._action_groups.insert(1, decoders)  # behind the command's own
    for name in _BPES:
        group = parser.add_argument_group(f"--bpe {name}")
        gen_parser_from_dataclass(group, REGISTRIES["bpe"]["dataclass_registry"][name]())
    show_defaults(parser)
    return parser
