"""Shards, several processes and kills at any moment: always the same bytes."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time
from functools import partial
from pathlib import Path

import pytest

from fairseq_mcts.cli import relabel
from tests.cli.relabel import forked
from tests.cli.relabel.forked import KILLED
from tests.cli.relabel.runs import (
    CHUNKS,
    POLICY,
    REPOSITORY,
    complaint,
    content,
    relabelled,
)
from tests.work.ray_nodes import address  # noqa: F401 - a fixture


def test_shards_in_any_order_give_the_same_bytes(folder: Path, greedy: Path) -> None:
    out = ("--out", "sharded")
    for shard in ("2", "0"):
        arguments = (*POLICY, *CHUNKS, *out, "--metric", "bleu", "--num-shards", "3")
        relabelled(folder, *arguments, "--shard", shard)
    missing = complaint(folder, "bin", *out, "--merge", "--num-shards", "3")
    assert "train.en-de: 4 of 12 chunks are missing (1, 4, 7, 10, of shard 1 of 3)" in missing
    # what is missing may be made with another number of shards, and another batch size
    arguments = (*POLICY, *CHUNKS, *out, "--metric", "bleu", "--num-shards", "1", "--shard", "0")
    relabelled(folder, *arguments, "--batch-size", "3")
    relabelled(folder, "bin", *out, "--merge")
    assert content(folder / "sharded") == content(greedy)


@pytest.mark.slow(seconds=60)
def test_two_processes_at_once_give_the_same_bytes(folder: Path, greedy: Path) -> None:
    """As a cluster starts them: fresh interpreters, at the same time, into a new folder."""
    program = "import sys; from fairseq_mcts.cli.relabel import main; sys.exit(main())"
    processes = [
        subprocess.Popen(
            [
                *(sys.executable, "-c", program, *POLICY, *CHUNKS, "--metric", "bleu"),
                *("--out", "pair", "--num-shards", "2", "--shard", shard),
            ],
            cwd=folder,
            stderr=subprocess.PIPE,
            text=True,
            env={**os.environ, "PYTHONPATH": str(REPOSITORY), "OMP_NUM_THREADS": "1"},
        )
        for shard in ("0", "1")
    ]
    for process in processes:
        _, err = process.communicate()
        assert process.returncode == 0, err
    relabelled(folder, "bin", "--out", "pair", "--merge")
    assert content(folder / "pair") == content(greedy)


@pytest.mark.slow(seconds=60)
def test_a_ray_cluster_gives_the_same_bytes(
    folder: Path,
    greedy: Path,
    address: str,  # noqa: F811
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(folder)  # Ray can't be used by a fork
    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--out", "cluster")
    relabel.main([*arguments, "--engine", "ray", "--ray-address", address])
    assert content(folder / "cluster") == content(greedy)


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_same_command_goes_on(folder: Path, greedy: Path) -> None:
    """In the middle of a chunk, and while chunks are merged."""
    arguments = (*POLICY, "--chunk-rows", "20", "--metric", "bleu", "--out", "full")
    out = folder / "full"
    relabelled(folder, *arguments, "--shard", "0/1")
    files = {path.name: path.stat().st_size for path in out.rglob("*") if path.is_file()}
    largest = max(size for name, size in files.items() if name.startswith("chunk-"))
    assert files["settings.json"] < largest - 1
    shutil.rmtree(out)
    few = partial(forked.with_little_room, relabel.main, largest - 1)
    ended = forked.run(few, folder, arguments)
    assert ended.code == 2
    assert "no room left to write" in ended.err and "give the same command again" in ended.err
    assert not list(out.rglob("*.part")) and not list(out.glob("*.npy"))
    relabelled(folder, *arguments, "--shard", "0/1")
    few = partial(forked.with_little_room, relabel.main, 1000)  # less than the index of 90 rows
    ended = forked.run(few, folder, arguments)
    assert ended.code == 2
    assert "no room left to write" in ended.err and "give the same command again" in ended.err
    assert not list(out.glob("*.npy"))
    relabelled(folder, *arguments)
    scores = "train.en-de.score.npy"
    assert (out / scores).read_bytes() == (greedy / scores).read_bytes()


@pytest.mark.slow
def test_kills_at_random_moments_change_nothing(folder: Path, greedy: Path) -> None:
    dice = random.Random(5)
    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--out", "killed")

    def finished() -> int:
        return len(list((folder / "killed").rglob("chunk-*.npz")))

    for _ in range(4):
        before = finished()

        def is_time(before: int = before) -> bool:
            if finished() <= before + 1:
                return False
            time.sleep(dice.uniform(0, 0.1))
            return True

        ended = forked.run(relabel.main, folder, arguments, kill_when=is_time)
        if list((folder / "killed").glob("*.score.npy")):
            break  # it was quick: all chunks were there, and their merging had begun
        assert ended.code == KILLED
        assert finished() >= before + 2  # nothing that was finished is lost
    relabelled(folder, *arguments)
    assert content(folder / "killed") == content(greedy)


def kill_at_rename(number: int, *, before: bool) -> None:
    """Makes this process kill itself at its n-th rename of a file."""
    rename = os.replace
    left = number

    def replace(source: Path, target: Path) -> None:
        nonlocal left
        left -= 1
        if left or not before:
            rename(source, target)
        if not left:
            os.kill(os.getpid(), signal.SIGKILL)

    os.replace = replace  # type: ignore[assignment]
    relabel.main()


@pytest.mark.slow
def test_a_kill_at_any_rename_changes_nothing(folder: Path, greedy: Path) -> None:
    """Files change by renames alone: a run is killed at each of them, right before or after."""
    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid")
    whole = {name: data for name, data in content(greedy).items() if "train" not in name}
    renames = 1 + 2 + 3 + 9  # settings, dictionaries, chunks, results
    for number in range(1, renames + 1):
        out = folder / f"rename-{number}"
        killer = partial(kill_at_rename, number, before=bool(number % 2))
        assert forked.run(killer, folder, (*arguments, "--out", out.name)).code == KILLED
        if number % 5 == 0:  # the next is killed too, before anything came of it
            again = partial(kill_at_rename, 1, before=True)
            assert forked.run(again, folder, (*arguments, "--out", out.name)).code == KILLED
        relabelled(folder, *arguments, "--out", out.name)
        assert content(out) == whole, number


def test_a_merge_killed_while_it_tidies_up_is_finished(folder: Path, greedy: Path) -> None:
    def kill_at_removal() -> None:
        def rmtree(path: Path, ignore_errors: bool) -> None:
            if path.name == "valid.en-de":
                (path / "settings.json").unlink()
                (path / "chunk-00000001.npz").unlink()
                os.kill(os.getpid(), signal.SIGKILL)

        shutil.rmtree = rmtree  # type: ignore[assignment]
        relabel.main()

    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid", "--out", "tidied")
    assert forked.run(kill_at_removal, folder, arguments).code == KILLED
    assert (folder / "tidied" / "relabel-chunks").is_dir()
    copy = shutil.copytree(folder / "tidied", folder / "tidied too")
    assert "nothing to do" in relabelled(folder, *arguments).out
    relabelled(folder, "bin", "--merge", "--subset", "valid", "--out", copy.name)
    for out in (folder / "tidied", copy):
        assert not (out / "relabel-chunks").exists()
        assert content(out).items() <= content(greedy).items()
