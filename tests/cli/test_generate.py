"""fairseq-mcts-generate: what fairseq-generate prints, in the input's order, after any kill."""

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from functools import partial
from pathlib import Path

import pytest

from fairseq_mcts.cli import generate
from fairseq_mcts.cli.generate_input import TextLines
from fairseq_mcts.generators.joining import joined
from fairseq_mcts.work import locked
from tests.cli.relabel import forked
from tests.cli.relabel.forked import KILLED
from tests.console import REPOSITORY
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.faulty import NO_NUMBER
from tests.generators.harness import run_generate
from tests.generators.trained import SEEN, UNSEEN, Trained
from tests.work.ray_nodes import address  # noqa: F401 - a fixture

SENTENCES = UNSEEN + SEEN
MCTS = ("--search", "mcts", "--mcts-simulations", "5", "--max-len-b", "15")
ROLLOUT = (
    *("--search", "mcts", "--mcts-leaf", "rollout", "--mcts-simulations", "3", "--max-len-b", "12"),
    *("--search-metric", "vowels", "--search-post-process", "sentencepiece"),
)
TEXT = ("--post-process", "sentencepiece")


def arguments(models: Trained, out: Path, *more: str) -> list[str]:
    return [
        *(str(models.data), "--path", str(models.dual), "--cpu", *TEXT, "--out", str(out)),
        *("--chunk-sentences", "20", *more),
    ]


def blocks(output: str) -> dict[int, list[str]]:
    """The lines of each sentence, in the order of the output."""
    found: dict[int, list[str]] = {}
    for line, number in re.findall(r"^([A-Z]-(\d+)\t.*)$", output, re.MULTILINE):
        found.setdefault(int(number), []).append(line)
    return found


def content(out: Path) -> dict[str, bytes]:
    return {str(path.relative_to(out)): path.read_bytes() for path in out.rglob("*.*")}


def complaint(capsys: pytest.CaptureFixture[str], *given: str) -> str:
    """What a run says that must fail, in one line."""
    capsys.readouterr()
    with pytest.raises(SystemExit) as end:
        generate.main(given)
    assert end.value.code == 2
    [line] = [one for one in capsys.readouterr().err.splitlines() if "error:" in one]
    return line


@pytest.fixture(scope="module")
def whole(trained: Trained, tmp_path_factory: pytest.TempPathFactory) -> Path:  # noqa: F811
    """The output of an undisturbed run, with all files."""
    out = tmp_path_factory.mktemp("generate") / "whole"
    generate.main(arguments(trained, out, *MCTS, "--nbest", "2", "--plain-text", "--json-lines"))
    return out


WHOLE = (*MCTS, "--nbest", "2", "--plain-text", "--json-lines")


def test_lines_are_those_of_fairseq_generate_in_the_order_of_the_input(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
) -> None:
    expected = blocks(run_generate(trained, *MCTS, *TEXT, "--nbest", "2", results=tmp_path))
    found = blocks((whole / "generate-test.txt").read_text(encoding="utf-8"))
    assert list(found) == list(range(SENTENCES))
    assert found == expected


def test_a_metric_steers_as_in_fairseq_generate(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
) -> None:
    expected = run_generate(
        trained, *ROLLOUT, *TEXT, "--gen-subset", "valid", results=tmp_path / "plain"
    )
    generate.main(arguments(trained, tmp_path / "out", *ROLLOUT, "--gen-subset", "valid"))
    found = (tmp_path / "out" / "generate-valid.txt").read_text(encoding="utf-8")
    assert blocks(found) == blocks(expected)


def test_plain_text_and_json_say_the_same(whole: Path) -> None:
    lines = blocks((whole / "generate-test.txt").read_text(encoding="utf-8"))
    of_lines = [
        [line.split("\t")[2] for line in several if line.startswith("D-")]
        for several in lines.values()
    ]
    plain = (whole / "translations-test.txt").read_text(encoding="utf-8").splitlines()
    assert plain == [hypotheses[0] for hypotheses in of_lines]
    rows = (whole / "hypotheses-test.jsonl").read_text(encoding="utf-8").splitlines()
    parsed = [json.loads(row) for row in rows]
    assert [row["id"] for row in parsed] == list(range(SENTENCES))
    assert [[one["text"] for one in row["hypotheses"]] for row in parsed] == of_lines
    record = json.loads((whole / "generate-test.json").read_text(encoding="utf-8"))
    assert record["counts"]["sentences"] == SENTENCES
    for name in ("charged", "made"):
        assert record["counts"][name] == sum(row[name] for row in parsed)


@pytest.mark.slow
def test_kills_change_nothing(trained: Trained, whole: Path) -> None:  # noqa: F811
    """Killed after each new chunk, each time a little later, and then once more."""
    out = whole.parent / "killed"
    given = arguments(trained, out, *WHOLE)

    def finished() -> int:
        return len(list(out.rglob("chunk-*.npz")))

    for number in range(3):
        ended = forked.run(
            generate.main, whole.parent, given, kill_when=lambda most=number: finished() > most
        )
        if (out / "generate-test.json").exists():
            break  # it was quick: all chunks were there, and joined
        assert ended.code == KILLED
    ended = forked.run(generate.main, whole.parent, given)
    assert ended.code == 0, ended.err
    assert content(out) == content(whole)
    ended = forked.run(generate.main, whole.parent, given)
    assert "nothing to do" in ended.out


@pytest.mark.slow(seconds=60)
def test_two_workers_and_shards_give_the_same_bytes(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
) -> None:
    generate.main(arguments(trained, tmp_path / "workers", *WHOLE, "--workers", "2"))
    assert content(tmp_path / "workers") == content(whole)
    for shard in ("1/2", "0/2"):
        generate.main(arguments(trained, tmp_path / "shards", *WHOLE, "--shard", shard))
    # all is there: it is joined without loading anything
    generate.main(arguments(trained, tmp_path / "shards", *WHOLE, "--workers", "500"))
    assert content(tmp_path / "shards") == content(whole)


def test_sentences_join_small_batches_without_a_change(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
) -> None:
    generate.main(arguments(trained, tmp_path, *WHOLE, "--batch-size", "3"))
    assert content(tmp_path) == content(whole)


def test_batches_are_joined_some_at_a_time() -> None:
    assert joined([[3, 1], [2, 0], [4]]) == ([[3, 1, 2, 0, 4]], 2)
    assert joined([[one] for one in range(9)]) == ([[*range(8)], [8]], 1)
    assert joined([]) == ([], 1)


def test_a_damaged_chunk_is_made_again(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
) -> None:
    generate.main(arguments(trained, tmp_path, *WHOLE, "--shard", "0/1"))
    chunk = next(tmp_path.rglob("chunk-00000002.npz"))
    chunk.write_bytes(chunk.read_bytes()[:-200])
    generate.main(arguments(trained, tmp_path, *WHOLE))
    assert content(tmp_path) == content(whole)


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_lines_of_a_text_are_translated_like_those_of_a_split(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
    ending: str,
) -> None:
    text = (trained.folder / "subwords" / "test.en").read_bytes()
    path = tmp_path / f"news{ending}"
    path.write_bytes(gzip.compress(text) if ending else text)
    given = arguments(trained, tmp_path / "out", *WHOLE, "--input", str(path))
    generate.main(given)
    found = (tmp_path / "out" / "generate-news.txt").read_text(encoding="utf-8")
    expected = blocks((whole / "generate-test.txt").read_text(encoding="utf-8"))
    # a text has no targets
    assert blocks(found) == {
        number: [line for line in several if not line.startswith("T-")]
        for number, several in expected.items()
    }


@pytest.mark.parametrize("ending", ["", ".gz"])
def test_any_rows_of_a_text_are_found(tmp_path: Path, ending: str) -> None:
    class Task:
        """Whose tokens are the lines themselves."""

        def get_interactive_tokens_and_lengths(
            self, lines: list[str], encode: object
        ) -> tuple[list[str], list[int]]:
            return lines, [1] * len(lines)

        def build_dataset_for_inference(self, tokens: list[str], lengths: object) -> list[str]:
            return tokens

    text = "".join(f"line {number}\n" for number in range(23)).encode()
    path = tmp_path / f"news{ending}"
    path.write_bytes(gzip.compress(text) if ending else text)
    given = TextLines(Task(), path, str, 5)
    for begin, end in ((0, 5), (20, 23), (5, 7), (3, 14), (22, 23), (0, 23)):
        rows = given.rows(range(begin, end))
        assert rows.dataset == [f"line {number}" for number in range(begin, end)]
        assert rows.first_id == begin


def test_a_damaged_compressed_file_is_named(tmp_path: Path) -> None:
    path = tmp_path / "news.gz"
    path.write_bytes(gzip.compress(b"one\ntwo\n")[:12] + bytes(200))
    with pytest.raises(ValueError, match=f"^--input {path}: can't be read as text: "):
        TextLines(None, path, str, 5)


def test_sentences_that_are_too_long_are_named(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sources = (trained.folder / "subwords" / "test.en").read_text(encoding="utf-8").splitlines()
    path = tmp_path / "few"
    path.write_text("\n".join(sources[:23]) + "\n", encoding="utf-8")
    limit = ("--max-source-positions", "9", "--input", str(path), "--plain-text")
    lengths = [len(line.split()) + 1 for line in sources[:23]]
    long = [number for number, length in enumerate(lengths) if length > 9]
    given = arguments(trained, tmp_path / "out", *MCTS, *limit)
    told = complaint(capsys, *given)
    assert f"few: sentence {long[0]} has {lengths[long[0]]} tokens" in told
    assert "--skip-invalid-size-inputs-valid-test" in told
    generate.main([*given, "--skip-invalid-size-inputs-valid-test"])
    assert f"{long[0]} ({lengths[long[0]]} tokens)" in capsys.readouterr().out
    found = blocks((tmp_path / "out" / "generate-few.txt").read_text(encoding="utf-8"))
    assert list(found) == [number for number in range(23) if number not in long]
    plain = (tmp_path / "out" / "translations-few.txt").read_text(encoding="utf-8").split("\n")
    assert [number for number, line in enumerate(plain) if not line] == [*long, 23]
    record = json.loads((tmp_path / "out" / "generate-few.json").read_text(encoding="utf-8"))
    assert [one["id"] for one in record["left_out"]] == long
    generate.main([*arguments(trained, tmp_path / "cut", *MCTS, *limit), "--truncate-source"])
    found = blocks((tmp_path / "cut" / "generate-few.txt").read_text(encoding="utf-8"))
    assert list(found) == list(range(23))


def test_other_settings_are_refused(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    shutil.copytree(whole, out)
    told = complaint(capsys, *arguments(trained, out, *WHOLE, "--mcts-c-puct", "2"))
    assert "generate-test.json was made otherwise: decoding.mcts_c_puct was" in told
    told = complaint(capsys, *arguments(trained, out, *WHOLE, "--path", str(trained.plain)))
    assert "networks.path was" in told
    (out / "generate-test.json").unlink()
    told = complaint(capsys, *arguments(trained, out, *WHOLE))
    assert f"would overwrite {out / 'generate-test.txt'}" in told


def test_a_second_command_is_refused(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    with locked(tmp_path / "generate-chunks" / "test", tmp_path):
        told = complaint(capsys, *arguments(trained, tmp_path, *MCTS))
    assert f"{tmp_path}: another command is at work there: process " in told


def sizes(folder: Path) -> list[int]:
    """Of all chunks below a folder."""
    return sorted(path.stat().st_size for path in folder.rglob("chunk-*.npz"))


@pytest.mark.slow
def test_a_full_disk_is_named_and_the_same_command_goes_on(
    trained: Trained,  # noqa: F811
    whole: Path,
) -> None:
    """In the middle of a chunk, and while the output is joined."""
    out = whole.parent / "full"
    given = arguments(trained, out, *WHOLE)
    generate.main([*given, "--shard", "0/1"])
    chunks = sizes(out)
    shutil.rmtree(out)
    for room, finished in ((chunks[-1] - 1, range(len(chunks))), (chunks[-1], [len(chunks)])):
        ended = forked.run(partial(forked.with_little_room, generate.main, room), out.parent, given)
        assert ended.code == 2
        [line] = [one for one in ended.err.splitlines() if "error:" in one]
        assert "no room left to write" in line and "give the same command again" in line
        assert len(sizes(out)) in finished
        assert not list(out.rglob("*.part")) and not list(out.glob("generate-*.*"))
    ended = forked.run(generate.main, out.parent, given)
    assert ended.code == 0, ended.err
    assert content(out) == content(whole)


@pytest.mark.slow(seconds=60)
def test_a_ray_cluster_gives_the_same_bytes(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
    address: str,  # noqa: F811
) -> None:
    generate.main(arguments(trained, tmp_path, *WHOLE, "--engine", "ray", "--ray-address", address))
    assert content(tmp_path) == content(whole)


@pytest.mark.slow(seconds=60)
def test_shards_as_jobs_give_the_same_bytes(
    trained: Trained,  # noqa: F811
    whole: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """As docs/scale.md has it, by submitit's executor for this machine."""
    submitit = pytest.importorskip("submitit")
    monkeypatch.setenv("PYTHONPATH", str(REPOSITORY))
    given = arguments(trained, tmp_path / "out", *WHOLE)
    executor = submitit.AutoExecutor(folder=tmp_path / "logs", cluster="local")
    executor.update_parameters(timeout_min=30)
    jobs = [executor.submit(generate.main, [*given, "--shard", f"{one}/2"]) for one in range(2)]
    for job in jobs:
        job.result()
    generate.main(given)
    assert content(tmp_path / "out") == content(whole)


REFUSED = {
    "results": (["--results-path", "x"], "--results-path: not here; results go to --out"),
    "trees": ([*MCTS, "--search-trees", "x"], "--search-trees: not here"),
    "json": ([*MCTS, "--search-json", "x"], "--search-json: not here; give --json-lines"),
    "scoring": (["--scoring", "chrf"], "--scoring: not here"),
    "fairseq's shards": (["--num-shards", "2"], "give --shard I/N"),
    "no shard": (["--shard", "2"], "--shard 2: expected I/N"),
    "shard too far": (["--shard", "2/2"], "--shard 2: must lie in 0 … 1"),
    "no workers": (["--workers", "0"], "--workers 0: must be at least 1"),
    "no cluster": (["--ray-address", "x"], "--ray-address: has no effect without --engine ray"),
    "no file": (["--input", "nowhere"], "--input nowhere: no such file"),
    "no split": (["--gen-subset", "nothing"], "--gen-subset nothing: "),
    "no checkpoint": (["--path", "nowhere.pt"], "--path nowhere.pt: no such file"),
    "overrides": (["--model-overrides", "a=1"], "--model-overrides a=1: expected a dictionary"),
    "prefixes": (["--input", "x", "--prefix-size", "1"], "--prefix-size: lines of --input"),
    "no value": (["--search", "mcts", "--beam", "3"], "--beam 3: not with --search mcts"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_before_anything_is_written(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    case: str,
) -> None:
    given, message = REFUSED[case]
    assert message in complaint(capsys, *arguments(trained, tmp_path / "out", *given))
    assert not (tmp_path / "out").exists()


FAULTY = (
    *("--search", "mcts", "--mcts-leaf", "rollout", "--mcts-simulations", "3", "--max-len-b", "8"),
    *("--search-metric", "faulty-vowels", "--search-post-process", "sentencepiece"),
)


def test_a_run_that_stopped_at_a_sentence_goes_on_without_it(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    failing = [row for row, line in enumerate(trained.lines("test.en")) if NO_NUMBER in line]
    given = arguments(trained, tmp_path, *FAULTY, "--json-lines")
    with pytest.raises(SystemExit):
        generate.main(given)
    complaint = capsys.readouterr().err
    assert re.search(rf"error: sentence ({'|'.join(map(str, failing))}): --search-met", complaint)
    assert "--skip-failed goes on" in complaint
    kept = {path: path.stat().st_mtime_ns for path in tmp_path.rglob("chunk-*.npz")}
    generate.main([*given, "--skip-failed"])
    printed = capsys.readouterr().out
    record = json.loads((tmp_path / "generate-test.json").read_text())
    assert [one["id"] for one in record["failed"]] == failing
    for one in record["failed"]:
        assert f"  sentence {one['id']}: {one['why']}" in printed
    lines = (tmp_path / "generate-test.txt").read_text()
    assert [int(row) for row in re.findall(r"^F-(\d+)\t", lines, re.MULTILINE)] == failing
    hypotheses = (tmp_path / "hypotheses-test.jsonl").read_text().splitlines()
    found = [json.loads(line, parse_constant=pytest.fail) for line in hypotheses]
    assert [one["id"] for one in found if "failed" in one] == failing
    assert len(found) == SENTENCES
    assert len(kept) < len(range(0, SENTENCES, 20))  # the first run had come so far and no further


def test_a_locale_without_utf8_stops_nothing(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
) -> None:
    """Files are UTF-8 always; what the screen can't show is written as numbers."""
    english = {"LC_ALL": "C", "PYTHONCOERCECLOCALE": "0", "PYTHONPATH": str(REPOSITORY)}
    command = [sys.executable, "-m", "fairseq_mcts.cli.generate"]
    given = arguments(trained, tmp_path, "--beam", "1", "--max-len-b", "12", "--plain-text")
    for number, utf8 in enumerate(({"PYTHONUTF8": "0"}, {})):
        environment = {name: one for name, one in os.environ.items() if name != "PYTHONUTF8"}
        out = ["--out", str(tmp_path / f"out-{number}")]
        ended = subprocess.run(
            [*command, *given, *out],
            env={**environment, **english, **utf8},
            capture_output=True,
            check=False,
        )
        assert ended.returncode == 0, ended.stderr.decode()
        text = (tmp_path / f"out-{number}" / "translations-test.txt").read_text(encoding="utf-8")
        assert any(letter in text for letter in "äöüß")
        helped = subprocess.run(
            [*command, "--help"],
            env={**environment, **english, **utf8},
            capture_output=True,
            check=False,
        )
        assert helped.returncode == 0, helped.stderr.decode()
