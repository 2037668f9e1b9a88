"""What decides about translations in a configuration of fairseq-generate, and what is refused."""

import ast
import os
from argparse import Namespace
from typing import Any

from fairseq.dataclass.configs import GenerationConfig

from fairseq_mcts.generators.decoding_checks import OF_FILES, check_decoding
from fairseq_mcts.generators.search_settings import resolve
from fairseq_mcts.search.decoder import Decoder
from fairseq_mcts.tasks.search_config import search_field_names


def check_data(cfg: Any) -> None:
    """Refuses data that is not there, before fairseq does without naming it."""
    for folder in cfg.task.data.split(os.pathsep):
        if not os.path.isdir(folder):
            raise FileNotFoundError(
                f"DATA {folder}: there is no such folder; give one that fairseq-preprocess made"
            )


def model_overrides(text: str) -> dict[str, Any]:
    """What --model-overrides says."""
    try:
        given = ast.literal_eval(text)
    except (ValueError, SyntaxError):
        given = None
    if not isinstance(given, dict):
        raise ValueError(f"--model-overrides {text}: expected a dictionary, as {{'name': value}}")
    return given


def check_options(cfg: Any) -> None:
    """Refuses what a decoding would refuse, and what only fairseq-generate itself does."""
    if cfg.common_eval.path is None:
        raise ValueError("--path is required")
    for flag, path in (
        ("--search-trees", cfg.task.search_trees),
        ("--search-json", cfg.task.search_json),
        ("--search-record", cfg.task.search_record),
    ):
        if path is not None:
            raise ValueError(
                f"{flag} {path}: each decoding would overwrite what the last has written; use "
                "fairseq-generate"
            )
    options = generator_options(cfg)
    if options.lm_path is not None:
        raise ValueError(f"--lm-path {options.lm_path}: has no effect here; use fairseq-generate")
    if options.score_reference:
        raise ValueError("--score-reference: decodes nothing, so there is nothing to find out")
    decoder_of(options)


def decoder_of(options: Namespace) -> Decoder[Any]:
    """The decoder that `generator_options` ask for."""
    settings = {name: getattr(options, name, None) for name in search_field_names()}
    return check_decoding(settings, options, GenerationConfig())


def generator_options(cfg: Any) -> Namespace:
    """What decides about translations in a configuration: fairseq's options and the searches'.

    What they say in a file of --search-settings stands in its place.
    """
    searches = {
        name: getattr(cfg.task, name) for name in search_field_names() if name not in OF_FILES
    }
    searches, generation = resolve(searches, Namespace(**cfg.generation))
    return Namespace(**{**vars(generation), **searches})
