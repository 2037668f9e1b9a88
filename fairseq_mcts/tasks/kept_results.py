"""Keeps fairseq-generate from overwriting results of other settings.

The command empties its file in --results-path before the task is made. So its `main` is replaced,
in the command's own namespace, when the plugin registers: beside the results stands how they were
made, and what was made otherwise is refused. The same command again overwrites its own results.
Networks, subword models and files of --search-settings count by what is in them.
"""

import functools
import json
import sys
from argparse import Namespace
from collections.abc import Callable
from pathlib import Path
from typing import Any

from fairseq import utils
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from omegaconf import OmegaConf

from fairseq_mcts.data.files import by_content, complete_file, digest_of_files
from fairseq_mcts.generators.decoding_checks import OF_FILES
from fairseq_mcts.generators.search_settings import GENERATION, resolve
from fairseq_mcts.tasks.search_config import search_field_names
from fairseq_mcts.work import Settings, differences

_MODULES = ("fairseq_cli.generate", "__main__")
#: what results depend on; None: all of that part
_COMPARED: dict[str, tuple[str, ...] | None] = {
    "task": None,
    "generation": None,
    "bpe": None,
    "tokenizer": None,
    "common": ("seed", "fp16"),
    "common_eval": ("path", "model_overrides", "post_process", "quiet"),
    "dataset": ("gen_subset", "skip_invalid_size_inputs_valid_test"),
    "distributed_training": ("distributed_world_size", "distributed_rank"),
}

_WITH_FILES = ("bpe", "tokenizer")


def keep_results() -> None:
    """Guards fairseq-generate, if that is the command that runs."""
    for name in _MODULES:
        module = sys.modules.get(name)
        main = getattr(module, "main", None)
        is_generate = hasattr(module, "get_symbols_to_strip_from_output") and hasattr(
            module, "_main"
        )
        if is_generate and main is not None and not hasattr(main, "__wrapped__"):
            module.__dict__["main"] = _guarded(main)


def _guarded(main: Callable[[Any], Any]) -> Callable[[Any], Any]:
    @functools.wraps(main)
    def guarded(cfg: Any) -> Any:
        if isinstance(cfg, Namespace):
            cfg = convert_namespace_to_omegaconf(cfg)
        if cfg.common_eval.results_path is not None:
            _refuse_other(Path(cfg.common_eval.results_path), cfg)
        return main(cfg)

    return guarded


def _refuse_other(folder: Path, cfg: Any) -> None:
    """Refuses a folder that holds results of other settings; records those of this run."""
    results = folder / f"generate-{cfg.dataset.gen_subset}.txt"
    record = folder / f"generate-{cfg.dataset.gen_subset}.settings.json"
    settings = _settings(cfg)
    if results.exists() and results.stat().st_size:
        hint = f"--results-path {folder}: {results.name} there"
        if not record.exists():
            raise ValueError(
                f"{hint} does not tell its settings; give another folder, or delete it"
            )
        if changed := differences(_recorded(record, hint), settings):
            raise ValueError(
                f"{hint} was made otherwise: {'; '.join(changed)}. Give another folder, or delete "
                "it"
            )
    folder.mkdir(parents=True, exist_ok=True)
    with complete_file(record) as stream:
        stream.write(json.dumps(settings, indent=2, ensure_ascii=False).encode())


def _recorded(record: Path, hint: str) -> Settings:
    try:
        return dict(json.loads(record.read_text(encoding="utf-8")))
    except (ValueError, TypeError) as error:
        raise ValueError(
            f"{hint} does not tell its settings: {record} is damaged ({error}); give another "
            "folder, or delete both"
        ) from error


def _settings(cfg: Any) -> Settings:
    settings: Settings = {}
    for part, names in _COMPARED.items():
        options = cfg[part]
        if OmegaConf.is_config(options):  # there may be no BPE, for example
            options = OmegaConf.to_container(options, resolve=True, enum_to_str=True)
        if isinstance(options, dict) and names is not None:
            options = {name: options.get(name) for name in names}
        if isinstance(options, dict) and part in _WITH_FILES:
            options = by_content(options)
        settings[part] = options
    if cfg.task.get("search_settings") is not None:
        searching, generation = _resolved(cfg)
        settings["task"] = {**settings["task"], **searching}
        settings["generation"] = {**settings["generation"], **generation}
    settings["networks"] = {name: _digests(path) for name, path in _networks(cfg).items() if path}
    # as a file gives it back
    plain: Settings = json.loads(json.dumps(settings, default=str))
    return plain


def _resolved(cfg: Any) -> tuple[Settings, Settings]:
    """What the file of --search-settings says together with the flags."""
    given = {name: cfg.task[name] for name in search_field_names() if name not in OF_FILES}
    searching, generation = resolve(given, Namespace(**cfg.generation))
    return searching, {name: getattr(generation, name) for name in GENERATION}


def _networks(cfg: Any) -> dict[str, str | None]:
    return {
        "path": cfg.common_eval.path,
        "value_path": cfg.task.get("value_path"),
        "lm_path": cfg.generation.lm_path,
    }


def _digests(paths: str) -> list[str | None]:
    """Of checkpoints; one that is not there is refused later, by who loads it."""
    files = map(Path, utils.split_paths(paths))
    return [digest_of_files([path]) if path.is_file() else None for path in files]
