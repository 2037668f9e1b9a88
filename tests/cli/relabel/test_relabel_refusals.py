"""Mistakes of users, data and metrics: refused by name, with nothing lost."""

import re
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch

from fairseq_mcts.cli import relabel
from fairseq_mcts.work import locked
from tests.cli.relabel import forked
from tests.cli.relabel.runs import (
    CHUNKS,
    POLICY,
    complaint,
    content,
    relabelled,
)


@pytest.mark.parametrize(
    "changed, message",
    [
        (("--metric", "chrf"), 'metric.name was "bleu", is now "chrf"'),
        (("--max-len-b", "11"), "decoding.max_len_b was 12, is now 11"),
        (("--samples", "2"), 'decoding.method was "greedy", is now "samples"'),
        (("--chunk-rows", "9"), "chunk_rows was 8, is now 9"),
        (("--path", "other.pt"), "policy.digest was"),
    ],
)
def test_other_settings_neither_go_on_with_a_run_nor_overwrite_its_result(
    folder: Path, greedy: Path, changed: tuple[str, ...], message: str
) -> None:
    if not (folder / "other.pt").exists():
        state = torch.load(folder / "model" / "checkpoint_best.pt", weights_only=False)
        state["extra_state"]["note"] = "another file"
        torch.save(state, folder / "other.pt")
    begun = ("--num-shards", "3", "--shard", "0", "--subset", "valid", "--out", "begun")
    arguments = [*POLICY, *CHUNKS, "--metric", "bleu"]
    if not (folder / "begun").exists():
        relabelled(folder, *arguments, *begun)
    before = content(folder / "begun"), content(greedy)
    assert message in complaint(folder, *arguments, *begun, *changed)
    assert message in complaint(folder, *arguments, "--out", "greedy", *changed)
    assert (content(folder / "begun"), content(greedy)) == before


def test_a_second_command_is_refused(folder: Path) -> None:
    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid", "--out", "held")
    with locked(folder / "held" / "relabel-chunks" / "valid.en-de", Path("held")):
        assert "held: another command is at work there: process " in complaint(folder, *arguments)
    relabelled(folder, *arguments)


def test_a_chunk_of_other_settings_or_a_damaged_one_is_not_merged(folder: Path) -> None:
    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid", "--num-shards", "1")
    for number, out in enumerate(("mixed", "foreign")):
        relabelled(folder, *arguments, "--shard", "0", "--out", out, "--max-len-a", str(number))
    chunk = Path("relabel-chunks", "valid.en-de", "chunk-00000001.npz")
    shutil.copy(folder / "foreign" / chunk, folder / "mixed" / chunk)
    merging = ("bin", "--subset", "valid", "--merge", "--out")
    assert "chunk-00000001.npz was made with other settings" in complaint(folder, *merging, "mixed")
    data = (folder / "foreign" / chunk).read_bytes()
    (folder / "foreign" / chunk).write_bytes(data[: len(data) // 2])
    assert "chunk-00000001.npz is damaged" in complaint(folder, *merging, "foreign")


def test_what_a_metric_may_not_give_is_refused_with_row_and_texts(folder: Path) -> None:
    arguments = (*POLICY, *CHUNKS, "--subset", "train", "--metric")
    lines = (folder / "train.en").read_text().splitlines()
    row = next(number for number, line in enumerate(lines) if "w7" in line.split())
    ended = forked.run(relabel.main, folder, (*arguments, "faulty", "--out", "faulty"))
    assert ended.code == 2
    assert f"--metric faulty: gives nan for row {row}, no number in [0.0, 1.0]" in ended.err
    assert f"source: {lines[row]!r}" in ended.err
    text = forked.run(relabel.main, folder, (*arguments, "immodest", "--out", "immodest")).err
    assert "--metric immodest: gives 100.0 for row 0" in text


REFUSED: dict[str, tuple[list[str], str]] = {
    "no policy": (["bin", "--metric", "bleu"], "--path is required"),
    "no metric": (["bin", "--path", "model/checkpoint_best.pt"], "--metric is required"),
    "unknown metric": ([*POLICY, "--metric", "blue"], "unknown metric 'blue'; known: "),
    "no checkpoint": ([*POLICY, "--metric", "bleu", "--path", "no.pt"], "--path no.pt: no such"),
    "no such checkpoint": (
        [*POLICY, "--metric", "bleu", "--path", "bin/dict.en.txt"],
        "--path bin/dict.en.txt: can't be loaded",
    ),
    "no data": (["nowhere", *POLICY[1:], "--metric", "bleu"], "nowhere: no such folder"),
    "no languages": (["model", *POLICY[1:], "--metric", "bleu"], "do not tell the languages"),
    "no dictionary": (
        ["model", *POLICY[1:], "--metric", "bleu", "-s", "en", "-t", "de"],
        "model/dict.en.txt is missing",
    ),
    "no split": ([*POLICY, "--metric", "bleu", "--subset", "test"], "--subset test: bin has no"),
    "split twice": ([*POLICY, "--metric", "bleu", "--subset", "valid,valid"], "--subset"),
    "relabelled": (["greedy", *POLICY[1:], "--metric", "bleu"], "greedy is relabelled already"),
    "no encoder": ([*POLICY, "--metric", "mlbertscore:model=nowhere"], "nowhere"),
    "no samples": ([*POLICY, "--metric", "bleu", "--samples", "0"], "--samples 0: must be"),
    "too many samples": (
        [*POLICY, "--metric", "bleu", "--samples", "1000000000"],
        "--samples 1000000000: must be at most 1,000,000",
    ),
    "too many tokens": (
        [*POLICY, "--metric", "bleu", "--method", "completions", "--best-tokens", "20000"],
        "--best-tokens 20000: must be at most 10,000",
    ),
    "no length": ([*POLICY, "--metric", "bleu", "--max-len-a", "nan"], "--max-len-a nan: must lie"),
    "endless": ([*POLICY, "--metric", "bleu", "--max-len-a", "inf"], "--max-len-a inf: must lie"),
    "no heat": (
        [*POLICY, "--metric", "bleu", "--samples", "1", "--temperature", "0"],
        "--temperature 0.0: must be greater",
    ),
    "cold too": (
        [*POLICY, "--metric", "bleu", "--samples", "2", "--temperature", "1,x"],
        "--temperature 1,x: expected numbers",
    ),
    "idle heat": (
        [*POLICY, "--metric", "bleu", "--method", "completions", "--temperature", "1"],
        "--temperature: has no effect without --samples",
    ),
    "samples of nothing": (
        [*POLICY, "--metric", "bleu", "--method", "samples"],
        "--method samples: needs --samples",
    ),
    "greedy samples": (
        [*POLICY, "--metric", "bleu", "--method", "greedy", "--samples", "2"],
        "--samples: not with --method greedy",
    ),
    "idle rounds": (
        [*POLICY, "--metric", "bleu", "--rounds", "2"],
        "--rounds: has no effect without --method completions or search",
    ),
    "no rounds": (
        [*POLICY, "--metric", "bleu", "--method", "completions", "--rounds", "-1"],
        "--rounds -1: must not be negative",
    ),
    "idle seed": ([*POLICY, "--metric", "bleu", "--seed", "3"], "--seed: has no effect without"),
    "half a shard": ([*POLICY, "--metric", "bleu", "--shard", "0"], "belong together"),
    "shard too far": (
        [*POLICY, "--metric", "bleu", "--shard", "2", "--num-shards", "2"],
        "--shard 2: must lie in 0 … 1",
    ),
    "merge with more": (["bin", "--merge", "--metric", "bleu"], "--metric: not with --merge"),
    "merge of nothing": (["bin", "--merge"], "nothing was relabelled here yet"),
    "bad overrides": (
        [*POLICY, "--metric", "bleu", "--model-overrides", "a=1"],
        "--model-overrides a=1: expected a dictionary",
    ),
    "no rows": ([*POLICY, "--metric", "bleu", "--chunk-rows", "0"], "--chunk-rows 0: must be"),
    "no batch": ([*POLICY, "--metric", "bleu", "--batch-size", "0"], "--batch-size 0: must be"),
    "own data": ([*POLICY, "--metric", "bleu", "--out", "bin"], "must not be the folder"),
    "no user folder": (
        [*POLICY, "--metric", "bleu", "--user-dir", "nowhere"],
        "--user-dir nowhere: there is no such folder",
    ),
    "no bpe model": (
        [*POLICY, "--metric", "bleu", "--bpe", "sentencepiece", "--sentencepiece-model", "no.spm"],
        "no.spm",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_before_anything_is_written(
    folder: Path, greedy: Path, case: str
) -> None:
    arguments, message = REFUSED[case]
    out = [] if "--out" in arguments else ["--out", "refused"]
    assert message in complaint(folder, *arguments, *out)
    assert not list((folder / "refused").rglob("*.*"))


def test_another_vocabulary_than_the_policys_is_refused(folder: Path) -> None:
    shutil.copytree(folder / "bin", folder / "wider")
    for language in ("en", "de"):
        with (folder / "wider" / f"dict.{language}.txt").open("a") as dictionary:
            dictionary.writelines(f"more{number} 1\n" for number in range(8))
    arguments = ("wider", *POLICY[1:], "--metric", "bleu", "--out", "refused")
    text = complaint(folder, *arguments)
    assert "--path model/checkpoint_best.pt: its encoder has a vocabulary of 32 types" in text
    assert "but the dictionary of the data has 40" in text


def test_an_output_folder_with_other_dictionaries_is_refused(folder: Path) -> None:
    (folder / "foreign dictionary").mkdir()
    (folder / "foreign dictionary" / "dict.de.txt").write_text("etwas 1\n")
    arguments = (*POLICY, "--metric", "bleu", "--out", "foreign dictionary")
    assert "dict.de.txt differs from bin/dict.de.txt" in complaint(folder, *arguments)


def test_data_without_scores_in_the_output_folder_are_not_overwritten(folder: Path) -> None:
    occupied = folder / "occupied"
    shutil.copytree(folder / "bin", occupied)
    before = content(occupied)
    text = complaint(folder, *POLICY, "--metric", "bleu", "--out", "occupied")
    assert "--out: would overwrite occupied/train.en-de.en.bin" in text
    assert content(occupied) == before


def test_references_that_do_not_match_the_sources_are_refused(folder: Path) -> None:
    shutil.copytree(folder / "bin", folder / "uneven")
    for ending in ("bin", "idx"):
        shutil.copy(
            folder / "uneven" / f"train.en-de.de.{ending}",
            folder / "uneven" / f"valid.en-de.de.{ending}",
        )
    arguments = ("uneven", *POLICY[1:], "--metric", "bleu", "--out", "refused")
    text: Any = complaint(folder, *arguments)
    assert "valid.en-de.en has 21 rows" in text
    assert "valid.en-de.de has 90" in text


def test_a_policy_without_numbers_is_refused_with_the_row(folder: Path) -> None:
    state = torch.load(folder / "model" / "checkpoint_best.pt", weights_only=False)
    state["model"]["encoder.layers.0.fc1.weight"].fill_(float("inf"))
    torch.save(state, folder / "infinite.pt")
    for method in ((), ("--method", "completions")):
        arguments = [
            *("bin", "--path", "infinite.pt", "--cpu", "--metric", "bleu", *method),
            *("--out", f"infinite-{len(method)}", "--subset", "valid"),
        ]
        ended = forked.run(relabel.main, folder, arguments)
        assert ended.code == 2
        last = ended.err.splitlines()[-1]  # behind the progress
        assert re.search(r"error: row \d+: the network's policy holds NaN after \[\]$", last), last


@pytest.mark.parametrize(
    ("change", "what"),
    [
        (lambda arrays: arrays.pop("scores"), "scores"),
        (lambda arrays: arrays["scores"].__setitem__(3, np.nan), "score 3 is nan"),
        (lambda arrays: arrays.update(scores=arrays["scores"][:-1]), "are not those of its"),
    ],
)
def test_a_chunk_without_its_scores_is_named(
    folder: Path, change: Callable[[dict[str, Any]], object], what: str
) -> None:
    out = "scoreless-" + what.replace(" ", "-")
    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid", "--num-shards", "1")
    relabelled(folder, *arguments, "--shard", "0", "--out", out)
    chunk = next((folder / out).rglob("chunk-00000001.npz"))
    with np.load(chunk) as opened:
        arrays = dict(opened)
    change(arrays)
    np.savez(chunk, **arrays)
    said = complaint(folder, "bin", "--subset", "valid", "--merge", "--out", out)
    assert f"{chunk.name} is damaged (" in said
    assert what in said
    assert chunk.exists()
