"""The metrics as fairseq scorers, from the command line's flags to fairseq-generate's result."""

import re
from pathlib import Path

import pytest
import torch
from fairseq import options, scoring, tasks
from fairseq.data import Dictionary
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import generate

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.system_output import read_system
from fairseq_mcts.scoring import scorers
from fairseq_mcts.scoring.sources import SourceFeed
from tests.console import Fairseq


def in_subwords(line: str) -> str:
    """Long words in two pieces."""
    return re.sub(r"(\w{4})(?=\w)", r"\1@@ ", line)


@pytest.fixture(scope="module")
def model_folder(tmp_path_factory, toy_pairs) -> Path:
    """Raw data of 24 sentences in subwords and a transformer that was never trained."""
    folder = tmp_path_factory.mktemp("model")
    for language, texts in (("en", toy_pairs.sources), ("de", toy_pairs.targets)):
        lines = [in_subwords(text) for text in texts[:24]]
        (folder / f"test.en-de.{language}").write_text("\n".join(lines) + "\n", encoding="utf-8")
        dictionary = Dictionary()
        for line in lines:
            dictionary.encode_line(line)
        dictionary.finalize(padding_factor=1)
        dictionary.save(str(folder / f"dict.{language}.txt"))
    arguments = [str(folder), "--task", "translation", "-s", "en", "-t", "de"]
    arguments += ["--arch", "transformer", "--encoder-layers", "1", "--decoder-layers", "1"]
    arguments += ["--encoder-embed-dim", "16", "--decoder-embed-dim", "16"]
    arguments += ["--encoder-ffn-embed-dim", "16", "--decoder-ffn-embed-dim", "16"]
    arguments += ["--encoder-attention-heads", "2", "--decoder-attention-heads", "2"]
    arguments += ["--dataset-impl", "raw", "--optimizer", "adam", "--max-update", "1"]
    parsed = options.parse_args_and_arch(options.get_training_parser(), arguments)
    cfg = convert_namespace_to_omegaconf(parsed)
    torch.manual_seed(2)
    model = tasks.setup_task(cfg.task).build_model(cfg.model)
    history = {"criterion_name": "x", "optimizer_name": "x", "lr_scheduler_state": {}}
    state = {
        "args": None,
        "cfg": cfg,
        "model": model.state_dict(),
        "optimizer_history": [{**history, "num_updates": 0}],
        "extra_state": {"train_iterator": {"epoch": 1, "iterations_in_epoch": 0}},
        "last_optimizer_state": {},
    }
    torch.save(state, folder / "model.pt")
    return folder


def generate_options(folder: Path, results: Path, task: str) -> list[str]:
    arguments = [str(folder), "--path", str(folder / "model.pt"), "--task", task, "-s", "en"]
    arguments += ["-t", "de", "--dataset-impl", "raw", "--batch-size", "8", "--beam", "2", "--cpu"]
    return [*arguments, "--max-len-b", "8", "--results-path", str(results)]


@pytest.mark.slow
def test_generate_with_mlbertscore_sees_each_sentences_source(
    model_folder, tmp_path, toy_encoder
) -> None:
    Fairseq(tmp_path).run(
        *("generate", *generate_options(model_folder, tmp_path, "translation_mcts")),
        *("--scoring", "mlbertscore", "--scorer-model", str(toy_encoder), "--scorer-layer", "2"),
        *("--post-process", "subword_nmt", "--search-post-process", "subword_nmt"),
    )
    text = (tmp_path / "generate-test.txt").read_text(encoding="utf-8")
    output = read_system(tmp_path / "generate-test.txt")
    # Batches are sorted by length, so that sentences are not scored in their order.
    order = [int(number) for number in re.findall(r"^S-(\d+)", text, re.MULTILINE)]
    assert sorted(order) == list(range(24)) != order
    assert "@@" not in "".join(output.sources)
    metric = build_metric("mlbertscore:layer=2", {"model": str(toy_encoder)})
    expected = metric.format(metric.corpus_score(output.hypotheses, output.sources))
    assert f"mlbertscore = {expected} | {metric.signature()}" in text
    # What the score would be if sentences got the sources of others.
    for others in (output.sources[1:] + output.sources[:1], output.references):
        assert metric.format(metric.corpus_score(output.hypotheses, others)) != expected


@pytest.mark.slow
def test_generate_with_chrf_and_without_announced_sources(
    model_folder, tmp_path, toy_encoder, monkeypatch
) -> None:
    # The checkpoint is our own; loading those of others safely is tested elsewhere.
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")

    def run_generate(*flags: str):
        arguments = [*generate_options(model_folder, tmp_path, "translation"), *flags]
        return generate.main(
            options.parse_args_and_arch(options.get_generation_parser(), arguments)
        )

    scorer = run_generate("--scoring", "mcts_chrf", "--scorer-options", "word_order=2")
    output = read_system(tmp_path / "generate-test.txt")
    metric = build_metric("chrf:word_order=2")
    expected = 100 * metric.corpus_score(output.hypotheses, output.references)
    assert scorer.score() == pytest.approx(expected)
    assert "nw:2" in scorer.result_string()
    with pytest.raises(RuntimeError, match=r"announced none .* --task translation_mcts"):
        run_generate("--scoring", "mlbertscore", "--scorer-model", str(toy_encoder))


def build_scorer(*flags: str):
    parser = options.get_generation_parser()
    parsed = options.parse_args_and_arch(parser, ["data", "--path", "x", *flags])
    return scoring.build_scorer(convert_namespace_to_omegaconf(parsed).scoring, Dictionary())


def test_bleu_and_bertscore_take_their_flags(toy_pairs, toy_encoder) -> None:
    references, hypotheses = toy_pairs.targets[:20], toy_pairs.targets[10:30]
    bleu = build_scorer("--scoring", "mcts_bleu", "--scorer-options", "tokenize=char")
    bertscore = build_scorer(
        *("--scoring", "mcts_bertscore", "--scorer-model", str(toy_encoder)),
        *("--scorer-batch-size", "3", "--scorer-device", "cpu", "--scorer-options", "idf=yes"),
    )
    for scorer in (bleu, bertscore):
        for reference, hypothesis in zip(references, hypotheses, strict=True):
            scorer.add_string(reference, hypothesis)
    assert bleu.score() == pytest.approx(
        100 * build_metric("bleu:tokenize=char").corpus_score(hypotheses, references)
    )
    assert "tok:char" in bleu.result_string()
    assert bertscore.metric.config.batch_size == 3 and bertscore.metric.config.device == "cpu"
    metric = build_metric("bertscore:idf=yes", {"model": str(toy_encoder)})
    assert bertscore.score() == pytest.approx(metric.corpus_score(hypotheses, references), abs=1e-6)
    with pytest.raises(ValueError, match="order=2"):
        bleu.score(order=2)


def test_any_registered_metric_by_name() -> None:
    scorer = build_scorer("--scoring", "mcts_metric", "--scorer-metric", "chrf")
    assert isinstance(scorer, scorers.NamedMetricScorer)
    scorer.add_string("ja", "ja")
    assert scorer.score() == 100.0
    with pytest.raises(ValueError, match="unknown metric 'blue'"):
        build_scorer("--scoring", "mcts_metric", "--scorer-metric", "blue")
    with pytest.raises(ValueError, match="give options by --scorer-options"):
        build_scorer("--scoring", "mcts_metric", "--scorer-metric", "bleu:tokenize=char")


def test_feed_gives_each_batch_its_own_sources() -> None:
    feed = SourceFeed()
    feed.announce(["left over", "from before"])
    feed.open()
    with pytest.raises(RuntimeError, match="fairseq-mcts-score"):
        feed.take()
    feed.announce(["a", "b"])
    assert feed.take() == "a"
    feed.announce(["c"])  # a batch without references took nothing of the last one
    assert feed.take() == "c"
