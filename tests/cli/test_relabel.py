"""fairseq-mcts-relabel on a tiny corpus and policy, by forks of this process (see forked.py)."""

import json
import logging
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import sentencepiece
import torch
from fairseq.data import Dictionary
from sacrebleu.metrics import BLEU

from fairseq_mcts.register import register

register()

from fairseq_cli import generate, preprocess, train, validate  # noqa: E402

from fairseq_mcts.cli import relabel  # noqa: E402
from fairseq_mcts.data.scored_folder import SplitNames, open_scored_split  # noqa: E402
from fairseq_mcts.metrics import Metric, build_metric, register_metric  # noqa: E402
from tests.cli import forked  # noqa: E402
from tests.cli.forked import KILLED, Ended  # noqa: E402

REPOSITORY = Path(__file__).parents[2]
ROWS = {"train": 90, "valid": 21}
POLICY = ("bin", "--path", "model/checkpoint_best.pt", "--cpu", "--max-len-b", "12")
CHUNKS = ("--chunk-rows", "8")  # 12 chunks of train, 3 of valid


@register_metric("letters")
class Letters(Metric):
    """A metric that compares with the source and depends on both texts in a simple way."""

    privileged = False

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [letters(one, two) for one, two in zip(hypotheses, others, strict=True)]

    def signature(self) -> str:
        return "letters"


@register_metric("faulty")
class Faulty(Letters):
    """No number for texts with a certain word."""

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [float("nan") if "w7" in other.split() else 0.5 for other in others]


@register_metric("immodest")
class Immodest(Letters):
    """Scores beyond what it says that they can be."""

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [100.0 for _ in hypotheses]


def letters(hypothesis: str, source: str) -> float:
    return len(hypothesis) / (len(hypothesis) + len(source) + 1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Holds a corpus in `bin` and a policy in `model`: words are translated one by one."""
    folder = tmp_path_factory.mktemp("relabel")
    dice = random.Random(1)
    for split, count in ROWS.items():
        sentences = [[dice.randrange(12) for _ in range(dice.randint(3, 9))] for _ in range(count)]
        for language, letter in (("en", "w"), ("de", "u")):
            lines = (" ".join(f"{letter}{n}" for n in sentence) for sentence in sentences)
            (folder / f"{split}.{language}").write_text("\n".join(lines) + "\n")
    succeed(
        partial(logged, preprocess.cli_main),
        folder,
        *("--source-lang", "en", "--target-lang", "de", "--joined-dictionary"),
        *("--trainpref", "train", "--validpref", "valid", "--destdir", "bin"),
    )
    succeed(partial(logged, train.cli_main), folder, "bin", *training("model"), "--max-epoch", "12")
    return folder


def training(save_dir: str, task: str = "translation_mcts") -> list[str]:
    return [
        *("--task", task, "--arch", "multiquery_transformer_tiny", "--share-all-embeddings"),
        *("--encoder-layers", "1", "--decoder-layers", "1", "--encoder-embed-dim", "32"),
        *("--decoder-embed-dim", "32", "--criterion", "label_smoothed_cross_entropy"),
        *("--optimizer", "adam", "--lr", "0.01", "--max-tokens", "200", "--save-dir", save_dir),
        *("--cpu", "--log-format", "simple", "--seed", "7", "--no-epoch-checkpoints"),
    ]


def logged(command: Callable[[], object]) -> None:
    """fairseq's commands print what they have to say as a log."""
    layout = "| %(name)s | %(message)s"
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=layout, force=True)
    command()


def succeed(command: Callable[[], object], folder: Path, *arguments: str) -> Ended:
    ended = forked.run(command, folder, arguments)
    assert ended.code == 0, ended.err[-3000:] + ended.out[-3000:]
    return ended


def relabelled(folder: Path, *arguments: str) -> Ended:
    return succeed(relabel.main, folder, *arguments)


def complaint(folder: Path, *arguments: str) -> str:
    """What a run says that must fail, in one line and without a traceback."""
    ended = forked.run(relabel.main, folder, arguments)
    assert ended.code == 2, ended.err
    assert ended.err.startswith("fairseq-mcts-relabel: error: "), ended.err
    assert ended.err.count("\n") == 1
    return ended.err


def content(out: Path) -> dict[str, bytes]:
    files = (path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}


@pytest.fixture(scope="module")
def greedy(folder: Path) -> Path:
    """The result of an undisturbed run, which every other one must equal."""
    ended = relabelled(folder, *POLICY, *CHUNKS, "--metric", "bleu", "--out", "greedy")
    (folder / "greedy.txt").write_text(ended.out)
    (folder / "greedy.err").write_text(ended.err)
    return folder / "greedy"


def test_rows_are_sources_greedy_translations_references_and_scores(
    folder: Path, greedy: Path
) -> None:
    dictionary = Dictionary.load(str(greedy / "dict.de.txt"))
    bleu = BLEU(effective_order=True, force=True)
    for split, rows in ROWS.items():
        opened = open_scored_split(SplitNames(greedy, split, "en", "de"))
        texts = {
            name: [dictionary.string(row) for row in getattr(opened, name)]
            for name in ("sources", "samples", "references")
        }
        assert texts["sources"] == (folder / f"{split}.en").read_text().splitlines()
        assert texts["references"] == (folder / f"{split}.de").read_text().splitlines()
        expected = [
            min(bleu.sentence_score(sample, [reference]).score / 100, 1)
            for sample, reference in zip(texts["samples"], texts["references"], strict=True)
        ]
        assert opened.scores.tolist() == np.array(expected, np.float32).tolist()
        assert len(set(expected)) > rows / 4  # the policy is neither perfect nor hopeless

        generated = succeed(
            partial(logged, generate.cli_main),
            folder,
            *(*POLICY, "--task", "translation", "--beam", "1", "--gen-subset", split),
        ).out
        hypotheses = dict(re.findall(r"^D-(\d+)\t.*\t(.*)$", generated, flags=re.MULTILINE))
        assert [hypotheses[str(row)] for row in range(rows)] == texts["samples"]


def test_the_record_and_the_summary_tell_what_was_made(folder: Path, greedy: Path) -> None:
    record = json.loads((greedy / "train.en-de.relabel.json").read_text())
    scores = np.load(greedy / "train.en-de.score.npy")
    assert record["rows"] == 90
    assert record["metric"]["signature"] == build_metric("bleu").sentence_signature()
    assert record["metric"]["privileged"] is True
    assert record["metric"]["range"] == [0.0, 1.0]
    assert record["origin"] == {"data": "bin", "policy": ["model/checkpoint_best.pt"]}
    assert record["decoding"] == {"method": "greedy", "max_len_a": 0.0, "max_len_b": 12}
    assert record["scores"]["mean"] == pytest.approx(scores.mean(), rel=1e-5)
    assert sum(record["scores"]["histogram"]["counts"]) == 90
    assert record["counts"]["empty_samples"] == 0

    report = (folder / "greedy.txt").read_text()
    assert "train: 90 rows of 90 sources (greedy)" in report
    assert f"mean {scores.mean():.4f}" in report
    assert "####" in report
    progress = (folder / "greedy.err").read_text()
    assert re.search(r"^train: 90/90 rows \(100\.0%\), [\d.]+ rows/s, took", progress, re.MULTILINE)


def test_only_the_result_is_left_and_a_second_run_finds_nothing_to_do(
    folder: Path, greedy: Path
) -> None:
    before = content(greedy)
    splits = [f"{split}.en-de" for split in ROWS]
    endings = ["en.bin", "en.idx", "de.bin", "de.idx", "relabel.json", "score.npy"]
    endings += ["reference.de.bin", "reference.de.idx"]
    expected = {f"{split}.{ending}" for split in splits for ending in endings}
    assert before.keys() == expected | {"dict.en.txt", "dict.de.txt"}

    again = relabelled(folder, *POLICY, *CHUNKS, "--metric", "bleu", "--out", "greedy")
    assert "nothing to do" in again.out
    assert relabelled(folder, "bin", "--out", "greedy", "--merge").out == again.out
    assert content(greedy) == before


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


@pytest.mark.slow
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

        assert forked.run(relabel.main, folder, arguments, kill_when=is_time).code == KILLED
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


def test_a_kill_at_any_rename_changes_nothing(folder: Path, greedy: Path) -> None:
    """Files change by renames alone: a run is killed at each of them, right before or after."""
    arguments = (*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid")
    whole = {name: data for name, data in content(greedy).items() if "train" not in name}
    renames = 1 + 2 + 3 + 8  # settings, dictionaries, chunks, results
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


def test_sampling_is_seeded_and_independent_of_batches(folder: Path) -> None:
    def sampled(out: str, seed: str, *more: str) -> dict[str, bytes]:
        arguments = (*POLICY, *CHUNKS, "--subset", "valid", "--metric", "letters")
        sampling = ("--samples", "3", "--temperature", "0.8", "--seed", seed)
        report = relabelled(folder, *arguments, *sampling, "--out", out, *more).out
        assert "63 rows of 21 sources (3 samples a source at temperature 0.8)" in report
        return content(folder / out)

    first = sampled("seed1", "1")
    assert sampled("again", "1", "--batch-size", "1") == first
    assert sampled("seed2", "2")["valid.en-de.de.bin"] != first["valid.en-de.de.bin"]

    opened = open_scored_split(SplitNames(folder / "seed1", "valid", "en", "de"))
    dictionary = Dictionary.load(str(folder / "seed1" / "dict.de.txt"))
    sources = [dictionary.string(row) for row in opened.sources]
    samples = [dictionary.string(row) for row in opened.samples]
    lines = (folder / "valid.en").read_text().splitlines()
    assert sources == [line for line in lines for _ in range(3)]
    assert len(set(samples)) > 40  # not three times the same
    # this metric compares with the source
    expected = list(map(letters, samples, sources))
    assert opened.scores.tolist() == np.array(expected, np.float32).tolist()
    assert opened.record["metric"]["privileged"] is False


def test_metrics_see_words_and_not_subwords(folder: Path) -> None:
    """The same policy under a dictionary of subwords, which no text may show."""
    shutil.copytree(folder / "bin", folder / "subwords")
    for language in ("en", "de"):
        path = folder / "subwords" / f"dict.{language}.txt"
        path.write_text(re.sub(r"^([uw])(\d+) ", r"\g<1>\2@@ ", path.read_text(), flags=re.M))
    arguments = ["subwords", *POLICY[1:], *CHUNKS, "--subset", "valid", "--metric", "letters"]
    arguments += ["--out", "joined"]
    assert "give --bpe" in complaint(folder, *arguments)
    arguments += ["--post-process", "subword_nmt"]
    other = complaint(folder, *arguments)
    assert f"was trained with {(folder / 'bin' / 'dict.en.txt').resolve()}" in other
    arguments += ["--model-overrides", "{'data': 'elsewhere'}"]
    relabelled(folder, *arguments)
    assert_scores_are_of_joined_words(folder, folder / "joined")


def assert_scores_are_of_joined_words(folder: Path, out: Path) -> None:
    opened = open_scored_split(SplitNames(out, "valid", "en", "de"))
    dictionary = Dictionary.load(str(folder / "bin" / "dict.de.txt"))
    texts = [
        [dictionary.string(row).replace(" ", "") for row in rows]
        for rows in (opened.samples, opened.sources)
    ]
    expected = list(map(letters, *texts))
    assert opened.scores.tolist() == np.array(expected, np.float32).tolist()


def test_fairseqs_subword_models_and_their_options_serve(folder: Path) -> None:
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "train.en"),
        model_prefix=str(folder / "pieces"),
        vocab_size=20,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    arguments = [*POLICY, *CHUNKS, "--subset", "valid", "--metric", "letters", "--out", "pieced"]
    arguments += ["--bpe", "sentencepiece", "--sentencepiece-model", "pieces.model"]
    relabelled(folder, *arguments)
    assert_scores_are_of_joined_words(folder, folder / "pieced")
    record = json.loads((folder / "pieced" / "valid.en-de.relabel.json").read_text())
    assert record["text"]["bpe"]["name"] == "sentencepiece"
    assert record["text"]["bpe"]["sentencepiece_model"] == "pieces.model"


@pytest.mark.slow
def test_fairseq_trains_validates_and_generates_on_the_result(folder: Path, greedy: Path) -> None:
    # fairseq's own task reads pairs of source and sample
    log = succeed(
        partial(logged, train.cli_main),
        folder,
        *("greedy", *training("plain", "translation"), "--max-epoch", "1"),
    ).out
    assert "greedy train en-de 90 examples" in log
    # ours reads scores too, and judges its translations by the reference, not by the sample
    judging = ("--eval-bleu", "--eval-bleu-args", '{"beam": 1, "max_len_b": 12}')
    log = succeed(
        partial(logged, train.cli_main),
        folder,
        *(
            "greedy",
            *training("scored"),
            "--max-epoch",
            "40",
            "--validate-interval",
            "40",
            *judging,
        ),
    ).out
    found = re.search(r"\| valid \|.* nll_loss ([\d.]+) .* bleu ([\d.]+)", log)
    assert found, log
    assert re.search(r"\| train \| epoch 001 .* num_updates 12 ", log)

    arguments = ("greedy", "--task", "translation_mcts", "--cpu", "--max-tokens", "500")
    model = ("--path", "scored/checkpoint_last.pt")
    log = succeed(
        partial(logged, validate.cli_main), folder, *arguments, *model, "--valid-subset", "valid"
    ).out
    assert f"nll_loss {found[1]} " in log
    generated = succeed(
        partial(logged, generate.cli_main),
        folder,
        *(*arguments, *model, "--gen-subset", "valid", "--beam", "1", "--max-len-b", "12"),
        *("--scoring", "sacrebleu"),
    ).out
    targets = dict(re.findall(r"^T-(\d+)\t(.*)$", generated, flags=re.MULTILINE))
    references = (folder / "valid.de").read_text().splitlines()
    assert [targets[str(row)] for row in range(21)] == references
    bleu = re.search(r"BLEU = ([\d.]+)", generated)
    assert bleu
    assert float(bleu[1]) == float(found[2]) > 0  # what training reported


def test_long_sources_are_refused_or_left_out(folder: Path) -> None:
    arguments = [*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid", "--out", "short"]
    arguments += ["--model-overrides", "{'max_source_positions': 8}"]
    lengths = [len(line.split()) + 1 for line in (folder / "valid.en").read_text().splitlines()]
    long = [row for row, length in enumerate(lengths) if length > 8]
    text = complaint(folder, *arguments)
    assert f"{len(long)} sources are longer than the policy's 8 positions" in text
    assert f"row {long[0]} with {lengths[long[0]]} tokens" in text

    report = relabelled(folder, *arguments, "--skip-too-long").out
    assert f"source too long: {len(long)};" in report
    opened = open_scored_split(SplitNames(folder / "short", "valid", "en", "de"))
    assert [len(row) for row in opened.sources] == [one for one in lengths if one <= 8]


def test_samples_leave_room_for_the_eos_that_values_are_learned_after(folder: Path) -> None:
    arguments = [*POLICY, *CHUNKS, "--metric", "bleu", "--subset", "valid", "--out", "tight"]
    relabelled(folder, *arguments, "--model-overrides", "{'max_target_positions': 6}")
    opened = open_scored_split(SplitNames(folder / "tight", "valid", "en", "de"))
    # eos y1 y2 y3 y4 eos are 6 positions
    assert max(len(row) for row in opened.samples) == 5


@pytest.mark.parametrize(
    "changed, message",
    [
        (("--metric", "chrf"), 'metric.name was "bleu", is now "chrf"'),
        (("--max-len-b", "11"), "decoding.max_len_b was 12, is now 11"),
        (("--samples", "2"), 'decoding.method was "greedy", is now "sampling"'),
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
    "no heat": (
        [*POLICY, "--metric", "bleu", "--samples", "1", "--temperature", "0"],
        "--temperature 0.0: must be greater",
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
    assert "its vocabulary is not that of the data, whose dictionaries have" in complaint(
        folder, *arguments
    )


def test_an_output_folder_with_other_dictionaries_is_refused(folder: Path) -> None:
    (folder / "foreign dictionary").mkdir()
    (folder / "foreign dictionary" / "dict.de.txt").write_text("etwas 1\n")
    arguments = (*POLICY, "--metric", "bleu", "--out", "foreign dictionary")
    assert "dict.de.txt differs from bin/dict.de.txt" in complaint(folder, *arguments)


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
