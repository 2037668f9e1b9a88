"""The demo's encoder: a real model folder, learnt from the corpus it is given."""

import random

import pytest
import torch
from safetensors.torch import load_file

from examples.demo import encoder
from examples.demo.encoder import Corrupter, EncoderTraining, Texts, contrastive_loss, train_encoder
from fairseq_mcts.metrics import build_metric

SMALL = EncoderTraining(width=48, heads=2, steps=120, batch_size=16, learning_rate=3e-3)


@pytest.mark.slow
def test_learns_to_tell_translations_from_other_and_corrupted_ones(tmp_path, toy_pairs) -> None:
    train_encoder(toy_pairs.sources[100:], toy_pairs.targets[100:], tmp_path, SMALL)
    metric = build_metric("mlbertscore", {"model": str(tmp_path)})
    sources, targets = toy_pairs.sources[:100], toy_pairs.targets[:100]
    right = metric.score(targets, sources)
    shuffled = metric.score(targets[1:] + targets[:1], sources)
    rng = random.Random(5)
    corrupter = Corrupter(targets, rng)
    corrupted = [corrupter.corrupt(target) for target in targets]
    changed = [i for i in range(100) if corrupted[i] != targets[i]]
    wrong = metric.score([corrupted[i] for i in changed], [sources[i] for i in changed])
    wins = sum(right[i] > score for i, score in zip(changed, wrong, strict=True)) / len(changed)
    assert sum(right) / 100 > sum(shuffled) / 100 + 0.2
    assert wins > 0.85


def test_same_seed_same_weights(tmp_path, toy_pairs) -> None:
    weights = []
    for run, seed in enumerate((3, 3, 4)):
        folder = tmp_path / str(run)
        training = EncoderTraining(width=16, heads=2, steps=3, batch_size=8, seed=seed)
        train_encoder(toy_pairs.sources[:60], toy_pairs.targets[:60], folder, training)
        weights.append(load_file(folder / "model.safetensors"))
    assert all(torch.equal(weights[0][key], weights[1][key]) for key in weights[0])
    assert not all(torch.equal(weights[0][key], weights[2][key]) for key in weights[0])


def test_loss_falls_with_right_order_and_rises_with_corrupted_copies() -> None:
    torch.manual_seed(0)
    vectors = torch.nn.functional.normalize(torch.randn(4, 3, 8), dim=-1)
    mask = torch.ones(4, 3, dtype=torch.bool)
    texts = Texts(vectors, mask)
    others = Texts(torch.nn.functional.normalize(torch.randn(4, 3, 8), dim=-1), mask)
    turned = Texts(vectors.roll(1, dims=0), mask)
    right = contrastive_loss(texts, texts, others)
    assert right < 0.01
    assert contrastive_loss(texts, turned, others) > 1
    assert contrastive_loss(texts, texts, texts) > right + 0.3  # copies as good as the target


def test_command_refuses_unequal_files(tmp_path, capsys) -> None:
    (tmp_path / "a").write_text("x\ny\n", encoding="utf-8")
    (tmp_path / "b").write_text("x\n", encoding="utf-8")
    arguments = ["--source", str(tmp_path / "a"), "--target", str(tmp_path / "b")]
    with pytest.raises(SystemExit):
        encoder.main([*arguments, "--out", str(tmp_path / "out")])
    error = capsys.readouterr().err
    assert "has 2 lines" in error and "has 1" in error


def test_too_few_pairs_are_refused(tmp_path) -> None:
    with pytest.raises(ValueError, match="2 sentence pairs are too few"):
        train_encoder(["a", "b", ""], ["c", "d", "e"], tmp_path, SMALL)
