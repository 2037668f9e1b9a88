"""preprocess, train, resume, validate, generate, interactive and score with the plugin."""

import os
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch

pytestmark = pytest.mark.slow(seconds=100)

Options = Callable[[str], list[str]]


def lines_of(output: str, kind: str) -> dict[int, str]:
    """The texts of the `S-3 …`, `T-3 …` or `D-3 … …` lines by sentence number."""
    found = re.findall(rf"^{kind}-(\d+)\t(?:.*\t)?(.*)$", output, flags=re.MULTILINE)
    return {int(number): text for number, text in found}


def bleu_of(output: str) -> float:
    found = re.search(r"BLEU4 = ([\d.]+)", output)
    assert found, output
    return float(found.group(1))


@pytest.fixture(scope="module")
def checkpoints(fairseq: Any, training_options: Options) -> Path:
    """A trained model: its checkpoints and the log of its training."""
    schedule = ("--max-epoch", "100", "--save-interval", "50", "--validate-interval", "50")
    log = fairseq.run("train", *training_options("model"), *schedule)
    (fairseq.folder / "model" / "log").write_text(log, encoding="utf-8")
    return fairseq.folder / "model"


@pytest.fixture(scope="module")
def generated(fairseq: Any, checkpoints: Path) -> str:
    output: str = fairseq.run("generate", *decoding_options(checkpoints / "checkpoint_best.pt"))
    return output


def decoding_options(*paths: Path) -> list[str]:
    return ["bin", "--task", "translation_mcts", "--path", ":".join(map(str, paths)), "--cpu"]


def test_preprocess_binarises_every_split_with_one_dictionary(fairseq: Any) -> None:
    binarised = fairseq.folder / "bin"
    for split in ("train", "valid", "test"):
        for language in ("en", "de"):
            assert (binarised / f"{split}.en-de.{language}.bin").stat().st_size > 0
    assert (binarised / "dict.en.txt").read_text() == (binarised / "dict.de.txt").read_text()


def test_training_uses_every_sentence_and_lowers_the_loss(checkpoints: Path) -> None:
    log = (checkpoints / "log").read_text()
    losses = [float(loss) for loss in re.findall(r"\| valid \| epoch \d+ .*? loss ([\d.]+) ", log)]
    assert len(losses) == 2
    assert losses[1] < losses[0]
    # 300 sentences in 6 batches are 50 a batch on average; fairseq alone would drop the rest
    assert re.search(r"\| train \| epoch 001 .* bsz 50 ", log)


def test_resumed_training_goes_on_where_it_stopped(fairseq: Any, training_options: Options) -> None:
    fairseq.run("train", *training_options("resumed"), "--max-epoch", "1")
    log = fairseq.run("train", *training_options("resumed"), "--max-epoch", "2")

    assert "Loaded checkpoint resumed/checkpoint_last.pt (epoch 2 @ 6 updates)" in log
    state = torch.load(fairseq.folder / "resumed" / "checkpoint_last.pt", weights_only=False)
    assert state["optimizer_history"][-1]["num_updates"] == 12
    steps = {int(moments["step"]) for moments in state["last_optimizer_state"]["state"].values()}
    assert steps == {12}


def test_training_in_bf16_needs_no_tpu(fairseq: Any, training_options: Options) -> None:
    fairseq.run(
        "train", *training_options("bf16"), "--bf16", "--max-update", "2", "--disable-validation"
    )

    state = torch.load(fairseq.folder / "bf16" / "checkpoint_last.pt", weights_only=False)
    assert state["optimizer_history"][-1]["num_updates"] == 2
    weights = state["model"]["encoder.embed_tokens.weight"]  # saved in fp32, but of bf16 precision
    assert torch.equal(weights.bfloat16().float(), weights)


def test_validate_repeats_the_loss_that_training_reported(fairseq: Any, checkpoints: Path) -> None:
    output = fairseq.run(
        "validate",
        *decoding_options(checkpoints / "checkpoint_last.pt"),
        *("--valid-subset", "valid", "--max-tokens", "500"),
    )
    reported = re.findall(
        r"\| valid \|.* (loss [\d.]+) .*(nll_loss [\d.]+)", (checkpoints / "log").read_text()
    )
    assert re.findall(r"\| valid \|.* (loss [\d.]+) .*(nll_loss [\d.]+)", output) == reported[-1:]


def test_generate_translates_every_line_and_well(fairseq: Any, generated: str) -> None:
    sources = (fairseq.folder / "test.en").read_text().splitlines()
    assert lines_of(generated, "S") == dict(enumerate(sources))
    assert lines_of(generated, "D").keys() == set(range(len(sources)))
    assert bleu_of(generated) > 50


def test_generate_takes_ensembles_and_model_overrides(fairseq: Any, checkpoints: Path) -> None:
    output = fairseq.run(
        "generate",
        *decoding_options(checkpoints / "checkpoint50.pt", checkpoints / "checkpoint100.pt"),
        *("--model-overrides", "{'dropout': 0.3}", "--beam", "2", "--nbest", "2"),
    )
    assert len(re.findall(r"^D-", output, flags=re.MULTILINE)) == 2 * 41
    assert bleu_of(output) > 50


def test_generate_with_fairseqs_own_task_keeps_every_line_too(
    fairseq: Any, checkpoints: Path
) -> None:
    options = decoding_options(checkpoints / "checkpoint_best.pt")
    options[options.index("translation_mcts")] = "translation"
    output = fairseq.run("generate", *options, "--gen-subset", "valid", "--beam", "1")
    assert lines_of(output, "D").keys() == set(range(21))


def test_interactive_says_what_generate_says(
    fairseq: Any, checkpoints: Path, generated: str
) -> None:
    sources = (fairseq.folder / "test.en").read_text().splitlines()[:3]
    output = fairseq.run(
        "interactive",
        *decoding_options(checkpoints / "checkpoint_best.pt"),
        *("--buffer-size", "3", "--max-tokens", "500"),
        lines="\n".join(sources) + "\n",
    )
    expected = lines_of(generated, "D")
    assert lines_of(output, "D") == {number: expected[number] for number in range(3)}


def test_score_repeats_the_bleu_of_generate(fairseq: Any, generated: str) -> None:
    for kind in ("D", "T"):
        texts = lines_of(generated, kind)
        path = fairseq.folder / f"generated.{kind}"
        path.write_text("".join(texts[n] + "\n" for n in sorted(texts)), encoding="utf-8")
    output = fairseq.run("score", "--sys", "generated.D", "--ref", "generated.T")
    assert bleu_of(output) == bleu_of(generated)


def test_generate_refuses_a_checkpoint_with_foreign_objects(
    fairseq: Any, checkpoints: Path
) -> None:
    state = torch.load(checkpoints / "checkpoint_best.pt", weights_only=False)
    state["extra_state"]["callback"] = os.getcwd  # a function is what no checkpoint should hold
    torch.save(state, fairseq.folder / "foreign.pt")

    complaint = fairseq.fail("generate", *decoding_options(fairseq.folder / "foreign.pt"))

    assert "foreign.pt holds an object of posix.getcwd" in complaint
    assert "FAIRSEQ_MCTS_TRUSTED_CHECKPOINTS" in complaint
