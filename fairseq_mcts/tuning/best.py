"""The file that a sweep leaves for --search-settings: what it found best, and how."""

import dataclasses
import json
import shlex
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq.dataclass.configs import GenerationConfig

from fairseq_mcts.data.files import complete_file
from fairseq_mcts.generators.decoder_flags import flag
from fairseq_mcts.generators.decoding_checks import OF_METRICS, OF_VALUES
from fairseq_mcts.generators.search_settings import GENERATION, settable_fields, settings_of
from fairseq_mcts.subset.options import decoder_of
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.results import Trial

_NOT_OF_TRANSLATIONS = ("_name", "nbest", "no_seed_provided")


def refuse_missing_folder(path: Path, out: Path) -> None:
    """Before hours of decoding, not after them; `out` is made meanwhile."""
    if not path.parent.is_dir() and path.parent.resolve() != out.resolve():
        raise FileNotFoundError(f"--write-settings {path}: there is no folder {path.parent}")


def write_best(
    path: Path,
    setting: Setting,
    options: Namespace,  # `generator_options` of the setting
    trial: Trial,
    metric: str,  # by which it is the best
    origin: dict[str, Any],  # for people
) -> None:
    """Writes the best setting with its scores."""
    named = {name.replace("-", "_") for name, _ in setting.values}
    found = {
        **settings_of(
            decoder_of(options),
            options,
            budget=options.search_budget,
            value_read=options.value_read,
            named=named,
        ),
        "tuned_for": {
            "metric": metric,
            "signature": trial.signatures[metric],
            "score": trial.scores[metric],
        },
        "how": {
            **origin,
            "best": str(setting),
            "scores": trial.scores,
            "given_beside": shlex.join(flags_beside(options)),
        },
    }
    with complete_file(path) as stream:
        stream.write((json.dumps(found, ensure_ascii=False, indent=2) + "\n").encode())


def flags_beside(options: Namespace) -> list[str]:
    """What decides about translations and is not in the file: a value's network, a metric …"""
    changed = [
        field.name
        for field in dataclasses.fields(GenerationConfig)
        if getattr(options, field.name, None) != field.default
    ]
    no_need = {*settable_fields(), *GENERATION, *_NOT_OF_TRANSLATIONS}
    names = [name for name in (*OF_VALUES, *OF_METRICS, *changed) if name not in no_need]
    return [part for name in names for part in _as_flag(name, getattr(options, name))]


def _as_flag(name: str, value: Any) -> Sequence[str]:
    if value is None or value is False:
        return ()
    return (flag(name),) if value is True else (flag(name), str(value))
