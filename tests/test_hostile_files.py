"""Files from elsewhere run nothing, whatever is in them: each is loaded here with a live payload.

Checkpoints of fairseq's commands are in tests/training/test_hostile_checkpoints.py. Out of scope
are compiled kernels, which lie in the user's own cache and are pickles of numba's.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import pickle
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from omegaconf import OmegaConf

from fairseq_mcts import compat
from fairseq_mcts.cli.generate_work import _language_model
from fairseq_mcts.generators.search_settings import read_settings
from fairseq_mcts.hub import load
from fairseq_mcts.pictures.record_file import read_records
from fairseq_mcts.pictures.tree_file import load_tree
from fairseq_mcts.tuning.results import TrialStore
from fairseq_mcts.tuning.storage import open_storage
from fairseq_mcts.work.errors import DamagedChunkError
from fairseq_mcts.work.store import ChunkStore
from tests import intruders
from tests.console import REPOSITORY

# what refusals are made of; anything else would be a crash
REFUSALS = (ValueError, OSError, pickle.UnpicklingError, DamagedChunkError)


@pytest.fixture
def mark(tmp_path: Path) -> Path:
    """What must not be there afterwards."""
    return tmp_path / "mark"


# ------------------------------------------------------------------------ the payloads are alive


def test_payloads_run_if_nobody_takes_care(tmp_path: Path) -> None:
    """Or the tests below would show nothing."""
    marks = [tmp_path / name for name in ("pickle", "torch", "npy", "npz")]
    pickle.loads(intruders.pickled(marks[0]))
    torch.load(intruders.save_checkpoint(tmp_path / "x.pt", marks[1]), weights_only=False)
    np.save(tmp_path / "x.npy", intruders.object_array(marks[2]), allow_pickle=True)
    np.load(tmp_path / "x.npy", allow_pickle=True)
    np.savez(tmp_path / "x.npz", scores=intruders.object_array(marks[3]))
    np.load(tmp_path / "x.npz", allow_pickle=True)["scores"]
    assert all(mark.is_dir() for mark in marks)


# ------------------------------------------------------- files that are read whole by one function


READERS: dict[str, Callable[[Path], Any]] = {
    "tree.json": load_tree,
    "searches.jsonl": read_records,
    "searches.jsonl.gz": read_records,
    "tuned.json": lambda path: read_settings(str(path)),
    "store/settings.json": lambda path: ChunkStore(path.parent).settings(),
    "scores.npy": lambda path: np.load(path, mmap_mode="r"),
}


@pytest.mark.parametrize("name", READERS)
def test_a_pickle_in_place_of_a_file(name: str, tmp_path: Path, mark: Path) -> None:
    path = tmp_path / name
    path.parent.mkdir(exist_ok=True)
    content = intruders.pickled(mark) + b"\n"
    path.write_bytes(gzip.compress(content) if name.endswith(".gz") else content)
    with pytest.raises(REFUSALS):
        READERS[name](path)
    assert not mark.exists()


def test_a_pickle_in_place_of_a_trial(tmp_path: Path, mark: Path) -> None:
    """It is named, and the setting tried again."""
    (tmp_path / "trial-key.json").write_bytes(intruders.pickled(mark))
    assert TrialStore(tmp_path).read("key") is None
    assert not mark.exists()


# ------------------------------------------------------------------------------------ chunks


@pytest.mark.parametrize("kind", ["an array of objects", "a pickle"])
def test_a_chunk(kind: str, tmp_path: Path, mark: Path) -> None:
    store = ChunkStore(tmp_path)
    if kind == "a pickle":
        store.path(0).write_bytes(intruders.pickled(mark))
    else:
        # the digest is what is looked at first, the scores come next
        for name in ("digest", "scores"):
            arrays = {"digest": np.array("x"), name: intruders.object_array(mark)}
            np.savez(store.path(0), **arrays)
            with pytest.raises(DamagedChunkError):
                store.read(0, "x", ("scores",))
    with pytest.raises(DamagedChunkError):
        store.read(0, "x", ("scores",))
    assert not mark.exists()


# -------------------------------------------------------------------------------- scored folders


@pytest.mark.parametrize("kind", ["an array of objects", "a pickle"])
@pytest.mark.parametrize("suffix", ["score.npy", "rows.npy"])
def test_a_scored_folder(suffix: str, kind: str, tmp_path: Path, mark: Path) -> None:
    from fairseq_mcts.data.scored_folder import SplitNames, open_scored_split
    from tests.training.scored_corpus import write_scored_split

    sentence = np.array([5, 6, 2], np.int64)
    write_scored_split(tmp_path, "train", [sentence], [sentence], [sentence], [0.5], vocabulary=9)
    names = SplitNames(tmp_path, "train", "en", "de")
    open_scored_split(names)  # which is fine so far
    path = names.score if suffix == "score.npy" else names.rows
    if kind == "a pickle":
        path.write_bytes(intruders.pickled(mark))
    else:
        np.save(path, intruders.object_array(mark), allow_pickle=True)
    with pytest.raises(REFUSALS):
        open_scored_split(names)
    assert not mark.exists()


# --------------------------------------------------------------------------------- study database


def test_a_study_in_sqlite(tmp_path: Path, mark: Path) -> None:
    """optuna keeps texts of JSON there; pickles in all of them are none."""
    optuna = pytest.importorskip("optuna")
    url = f"sqlite:///{tmp_path / 'study.db'}"
    study = optuna.create_study(storage=open_storage(url), study_name="s")
    study.set_user_attr("settings", "x")
    study.enqueue_trial({"x": 1.0})
    study.optimize(lambda trial: trial.suggest_float("x", 0, 1), n_trials=2)
    texts = {
        "study_user_attributes": "value_json",
        "trial_system_attributes": "value_json",
        "trial_params": "distribution_json",
    }
    with contextlib.closing(sqlite3.connect(tmp_path / "study.db")) as database, database:
        for table, column in texts.items():
            [before] = database.execute(f"SELECT count(*) FROM {table}").fetchone()
            assert before, f"{table} is empty: nothing is tried there"
            database.execute(f"UPDATE {table} SET {column} = ?", (intruders.pickled(mark),))
    with pytest.raises((ValueError, TypeError)):
        optuna.load_study(study_name="s", storage=open_storage(url)).trials  # noqa: B018
    with pytest.raises((ValueError, TypeError)):
        optuna.load_study(study_name="s", storage=open_storage(url)).user_attrs  # noqa: B018
    assert not mark.exists()


def test_a_study_in_a_journal(tmp_path: Path, mark: Path) -> None:
    """The journal of a file has no snapshots, the only pickles that optuna reads."""
    optuna = pytest.importorskip("optuna")
    (tmp_path / "journal").write_bytes(intruders.pickled(mark) + b"\n{}\n")
    with pytest.raises((ValueError, KeyError, TypeError)):
        optuna.load_study(study_name="s", storage=open_storage(f"journal:{tmp_path / 'journal'}"))
    assert not mark.exists()
    from optuna.storages.journal import JournalFileBackend

    assert not hasattr(JournalFileBackend, "load_snapshot")


# -------------------------------------------------------------------------------------- encoders


@pytest.fixture
def encoder(toy_encoder: Path, tmp_path: Path) -> Path:
    """A copy of a working encoder."""
    return Path(shutil.copytree(toy_encoder, tmp_path / "encoder"))


def score_by(encoder: Path) -> Any:
    from fairseq_mcts.metrics import build_metric

    return build_metric(f"mlbertscore:model={encoder}").score(["a"], ["a"])


def test_weights_of_an_encoder(encoder: Path, mark: Path) -> None:
    (encoder / "model.safetensors").unlink()
    intruders.save_checkpoint(encoder / "pytorch_model.bin", mark)
    with pytest.raises(REFUSALS):
        score_by(encoder)
    assert not mark.exists()


@pytest.mark.parametrize("part", ["AutoConfig", "AutoTokenizer"])
def test_code_of_an_encoder_is_not_run_even_if_the_input_says_yes(
    encoder: Path, mark: Path, part: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """transformers asks on stdin whether code may be run: there lines wait to be translated."""
    (encoder / "theirs.py").write_text(f"import os\nos.mkdir({str(mark)!r})\n", encoding="utf-8")
    path = encoder / ("config.json" if part == "AutoConfig" else "tokenizer_config.json")
    config = json.loads(path.read_text(encoding="utf-8"))
    code = "theirs.Theirs" if part == "AutoConfig" else ["theirs.Theirs", "theirs.Theirs"]
    config.update({"auto_map": {part: code}, "model_type": "theirs", "tokenizer_class": "Theirs"})
    path.write_text(json.dumps(config), encoding="utf-8")
    monkeypatch.setattr(sys, "stdin", io.StringIO("y\n" * 9))
    with pytest.raises(REFUSALS, match="custom code"):
        score_by(encoder)
    assert not mark.exists()


def test_a_model_within_an_encoder_that_lets_its_own_code_in(encoder: Path, mark: Path) -> None:
    """CVE-2026-5241: config.json itself says that code may be run, whatever the caller says."""
    inner = encoder / "inner"
    inner.mkdir()
    (inner / "theirs.py").write_text(f"import os\nos.mkdir({str(mark)!r})\n", encoding="utf-8")
    within = {"model_type": "theirs", "auto_map": {"AutoConfig": "theirs.Theirs"}}
    (inner / "config.json").write_text(json.dumps(within), encoding="utf-8")
    outer = {
        "model_type": "lightglue",
        "trust_remote_code": True,
        "keypoint_detector_config": {"model_type": "theirs", "_name_or_path": str(inner)},
    }
    (encoder / "config.json").write_text(json.dumps(outer), encoding="utf-8")
    with pytest.raises(ValueError, match=r"config\.json has trust_remote_code = True"):
        score_by(encoder)
    assert not mark.exists()


@pytest.mark.parametrize("key", ["_attn_implementation_internal", "_attn_implementation"])
@pytest.mark.parametrize("place", ["top", "below"])
def test_attention_from_a_repository(encoder: Path, key: str, place: str) -> None:
    """CVE-2026-4372: with the package kernels it would be fetched and run."""
    path = encoder / "config.json"
    config = json.loads(path.read_text(encoding="utf-8"))
    entry = {key: "somebody/attention"}
    config.update(entry if place == "top" else {"text_config": entry})
    path.write_text(json.dumps(config), encoding="utf-8")
    with pytest.raises(ValueError, match=rf"config\.json has {key} = 'somebody/attention'"):
        score_by(encoder)


# -------------------------------------------- configurations that fairseq would run as Python text

NOT_RUN = "which is more than literals"


def test_a_configuration_loaded_from_python(tmp_path: Path, mark: Path) -> None:
    path = intruders.save_configuration(tmp_path / "evaluated.pt", mark)
    for language in ("en", "de"):
        (tmp_path / f"dict.{language}.txt").write_text("word 1\n", encoding="utf-8")
    with pytest.raises(compat.UnsafeCheckpointError, match=NOT_RUN):
        load(path, data=tmp_path, source_lang="en", target_lang="de")
    assert not mark.exists()


def test_a_configuration_of_a_language_model(tmp_path: Path, mark: Path) -> None:
    """--lm-path, of fairseq-mcts-generate and, by the same function, of fairseq-generate."""
    path = intruders.save_language_model(tmp_path / "lm.pt", mark)
    (tmp_path / "dict.txt").write_text("word 1\n", encoding="utf-8")
    cfg = OmegaConf.create(
        {
            "generation": {"lm_path": str(path)},
            "task": {"data": str(tmp_path)},
            "common_eval": {"model_overrides": "{}"},
        }
    )
    with pytest.raises(ValueError, match=f"--lm-path {path}: can't be loaded: .*{NOT_RUN}"):
        _language_model(cfg)
    assert not mark.exists()


# ------------------------------------------------------------------------------------- no shells


def test_nothing_is_given_to_a_shell() -> None:
    """Options, specs and paths reach other programs as lists of arguments, if at all."""
    listed = subprocess.run(
        ["git", "ls-files", "*.py"], cwd=REPOSITORY, capture_output=True, text=True, check=False
    ).stdout.split()
    files = [REPOSITORY / name for name in listed if not name.startswith("tests/")]
    assert len(files) > 100 or not (REPOSITORY / ".git").exists()
    for path in files:
        text = path.read_text(encoding="utf-8")
        for way in ("shell=True", "os.system(", "os.popen(", "getoutput("):
            assert way not in text, f"{path}: {way}"
