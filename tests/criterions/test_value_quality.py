"""The measures of a value against their definitions."""

import itertools

import numpy as np
import pytest
import torch

from fairseq_mcts.criterions import value_quality


@pytest.fixture(params=range(4))
def pair(request: pytest.FixtureRequest) -> tuple[torch.Tensor, torch.Tensor]:
    generator = torch.Generator().manual_seed(request.param)
    scores = torch.rand(60, generator=generator)
    values = (scores + torch.rand(60, generator=generator)).mul(5).round() / 5  # with ties
    return values, scores


def test_pearson_is_numpys(pair: tuple[torch.Tensor, torch.Tensor]) -> None:
    values, scores = pair
    expected = np.corrcoef(values.numpy(), scores.numpy())[0, 1]
    assert value_quality.pearson(values, scores) == pytest.approx(expected, abs=1e-6)


def test_kendall_counts_pairs(
    pair: tuple[torch.Tensor, torch.Tensor], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(value_quality, "_KENDALL_BLOCK", 7)  # several blocks
    values, scores = pair
    agree, untied_values, untied_scores = 0, 0, 0
    for (v, s), (w, t) in itertools.combinations(zip(*pair, strict=True), 2):
        agree += int(torch.sign(v - w) * torch.sign(s - t))
        untied_values += int(v != w)
        untied_scores += int(s != t)
    expected = agree / (untied_values * untied_scores) ** 0.5
    assert value_quality.kendall(values, scores) == pytest.approx(expected)


def test_pearson_within_sees_only_samples_of_one_source() -> None:
    sources = torch.tensor([7.0, 7.0, 3.0, 3.0, 3.0, 5.0])
    scores = torch.tensor([0.8, 0.9, 0.1, 0.2, 0.3, 0.5])
    between = torch.tensor([0.85, 0.85, 0.2, 0.2, 0.2, 0.5])  # knows sources, not samples
    assert value_quality.pearson(between, scores) > 0.9
    assert value_quality.pearson_within(between, scores, sources) == pytest.approx(0.0)
    # within the sources turned round, with any offsets
    turned = -scores + torch.tensor([5.0, 5.0, 1.0, 1.0, 1.0, 9.0])
    assert value_quality.pearson_within(turned, scores, sources) == pytest.approx(-1.0)
    rest = torch.tensor([0.8, 0.9, 0.1, 0.3, 0.2, 0.0])
    centred = [[0.05, -0.05, 0.1, 0.0, -0.1], [0.05, -0.05, 0.1, -0.1, 0.0]]
    expected = np.corrcoef(*centred)[0, 1]
    assert value_quality.pearson_within(rest, scores, sources) == pytest.approx(expected, abs=1e-5)


def test_samples_differ_if_one_source_has_two_scores() -> None:
    scores = torch.tensor([0.1, 0.1, 0.2])
    assert not value_quality.has_differing_samples(scores, torch.tensor([1.0, 1.0, 2.0]))
    assert value_quality.has_differing_samples(scores, torch.tensor([1.0, 2.0, 2.0]))


def test_constant_values_correlate_with_nothing() -> None:
    scores = torch.rand(10)
    assert value_quality.pearson(torch.ones(10), scores) == 0.0
    assert value_quality.kendall(torch.ones(10), scores) == 0.0


def test_perfect_values() -> None:
    scores = torch.rand(30)
    assert value_quality.mean_absolute_error(scores, scores) == 0.0
    assert value_quality.calibration_error(scores, scores) == 0.0
    assert value_quality.kendall(scores, scores) == pytest.approx(1.0)


def test_calibration_sees_a_shift_but_no_noise() -> None:
    values = torch.tensor([0.2, 0.2, 0.8, 0.8])
    assert value_quality.calibration_error(
        values, torch.tensor([0.1, 0.3, 0.9, 0.7]), bins=2
    ) == pytest.approx(0.0, abs=1e-6)
    assert value_quality.calibration_error(
        values, torch.tensor([0.3, 0.3, 0.9, 0.9]), bins=2
    ) == pytest.approx(0.1)


def test_error_by_position() -> None:
    relative = torch.tensor([0.0, 0.1, 0.3, 0.5, 0.7, 0.99])
    values = torch.tensor([0.1, 0.3, 0.3, 0.4, 0.5, 0.6])
    found = value_quality.error_by_position(values, torch.zeros(6), relative)
    assert found == pytest.approx([0.2, 0.3, 0.4, 0.5, 0.6])


def test_error_of_the_mean() -> None:
    assert value_quality.error_of_the_mean(torch.tensor([0.0, 1.0, 0.5])) == pytest.approx(1 / 3)


def test_the_best_of_each_source_by_the_definition() -> None:
    dice = torch.Generator().manual_seed(1)
    sources = torch.randint(0, 7, (60,), generator=dice)
    keys = torch.randint(0, 9, (60,), generator=dice) / 9  # with ties
    scores = torch.rand(60, generator=dice)
    expected = []
    for source in sorted(set(sources.tolist())):
        own = [place for place in range(60) if sources[place] == source]
        best = max(own, key=lambda place: (float(keys[place]), -place))
        expected.append((best, float(scores[own].mean())))
    found = value_quality.best_of_sources(keys, sources)
    assert found.tolist() == [best for best, _ in expected]
    gain = sum(float(scores[best]) - mean for best, mean in expected) / len(expected)
    assert value_quality.gain_of_the_best(keys, scores, sources) == pytest.approx(gain, abs=1e-6)
