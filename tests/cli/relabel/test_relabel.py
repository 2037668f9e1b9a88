"""What fairseq-mcts-relabel makes, and that fairseq reads it."""

import json
import re
import shutil
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from fairseq.data import Dictionary
from sacrebleu.metrics import BLEU

from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.data.scored_folder import SplitNames, open_scored_split
from fairseq_mcts.metrics import build_metric
from tests.cli.relabel.runs import (
    CHUNKS,
    POLICY,
    ROWS,
    complaint,
    content,
    generate,
    letters,
    logged,
    relabelled,
    succeed,
    train,
    training,
    validate,
)


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


def test_a_mix_with_the_policys_likelihood(folder: Path, greedy: Path) -> None:
    scores = {}
    for metric in ("likelihood", "mix:bleu=0.75,likelihood=0.25"):
        out = metric.partition(":")[0]
        relabelled(folder, *POLICY, *CHUNKS, "--subset", "valid", "--metric", metric, "--out", out)
        split = SplitNames(folder / out, "valid", "en", "de")
        scores[out] = np.array(open_scored_split(split).scores)
    bleu = np.array(open_scored_split(SplitNames(greedy, "valid", "en", "de")).scores)
    assert ((scores["likelihood"] > 0) & (scores["likelihood"] <= 1)).all()
    assert len(set(scores["likelihood"].tolist())) > ROWS["valid"] / 4
    expected = 0.75 * bleu + 0.25 * scores["likelihood"]
    np.testing.assert_allclose(scores["mix"], expected, atol=1e-6)


def test_the_record_and_the_summary_tell_what_was_made(folder: Path, greedy: Path) -> None:
    record = json.loads((greedy / "train.en-de.relabel.json").read_text())
    scores = np.load(greedy / "train.en-de.score.npy")
    assert record["rows"] == 90
    assert record["metric"]["signature"] == build_metric("bleu").sentence_signature()
    assert record["metric"]["privileged"] is True
    assert record["metric"]["range"] == [0.0, 1.0]
    no_text = {"post_process": None, "bpe": {"name": None}, "tokenizer": {"name": None}}
    assert record["origin"] == {
        "data": "bin",
        "policy": ["model/checkpoint_best.pt"],
        "text": no_text,
    }
    assert record["decoding"] == {"method": "greedy", "max_len_a": 0.0, "max_len_b": 12}
    assert record["scores"]["mean"] == pytest.approx(scores.mean(), rel=1e-5)
    assert sum(record["scores"]["histogram"]["counts"]) == 90
    assert record["counts"]["empty_samples"] == 0

    report = (folder / "greedy.txt").read_text()
    assert "train: 90 rows of 90 sources (greedy)" in report
    assert f"mean {scores.mean():.4f}" in report
    assert "####" in report
    progress = (folder / "greedy.err").read_text()
    line = r"^train: 90/90 rows \(100\.0%\) \[\d+:\d+<00:00, *[\d.]+ rows/s\]$"
    assert re.search(line, progress, re.MULTILINE)


def test_only_the_result_is_left_and_a_second_run_finds_nothing_to_do(
    folder: Path, greedy: Path
) -> None:
    before = content(greedy)
    splits = [f"{split}.en-de" for split in ROWS]
    endings = ["en.bin", "en.idx", "de.bin", "de.idx", "relabel.json", "score.npy"]
    endings += ["rows.npy"]
    endings += ["reference.de.bin", "reference.de.idx"]
    expected = {f"{split}.{ending}" for split in splits for ending in endings}
    assert before.keys() == expected | {"dict.en.txt", "dict.de.txt"}

    again = relabelled(folder, *POLICY, *CHUNKS, "--metric", "bleu", "--out", "greedy")
    assert "nothing to do" in again.out
    assert relabelled(folder, "bin", "--out", "greedy", "--merge").out == again.out
    assert content(greedy) == before


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
    # by content: at another place it is the same, trained again it is another
    model = folder / "pieces.model"
    assert record["text"]["bpe"]["sentencepiece_model"] == digest_of_files([model])
    model.rename(folder / "moved.model")
    arguments[-1] = "moved.model"
    assert "nothing to do" in relabelled(folder, *arguments).out


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
        *("greedy", *training("scored"), "--max-epoch", "1", *judging),
        *("--finetune-from-model", "model/checkpoint_best.pt"),
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
