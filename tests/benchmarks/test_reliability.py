"""The benchmarks of long runs and of other number types, at a toy size."""

import json

import precision
import pytest
import soak
import torch

from fairseq_mcts.search import decoder_names
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained


def test_every_decoder_is_soaked() -> None:
    assert {search for search, _ in soak.SEARCHES.values()} == set(decoder_names())


def test_a_short_soak(capsys: pytest.CaptureFixture[str]) -> None:
    assert soak.main(("--alone", "beam", "--sentences", "2000")) is None
    found = json.loads(capsys.readouterr().out.splitlines()[-1])
    assert found["MiB at the end"] > found["MiB after a tenth"] * 0.5 > 10
    assert found["sentences/s first tenth"] > 0 and found["sentences/s last tenth"] > 0


def test_a_leak_shows(monkeypatch: pytest.MonkeyPatch) -> None:
    """A decoder that keeps something of every batch does not pass for a flat one."""
    kept: list[torch.Tensor] = []

    class Leaking:
        def generate(self, models: object, sample: dict[str, dict[str, torch.Tensor]]) -> object:
            kept.append(torch.ones(3 * 2**20))  # 12 MiB
            return [None] * len(sample["net_input"]["src_tokens"])

    monkeypatch.setattr(soak, "make_generator", lambda name, model: Leaking())
    found = soak.soak("beam", 4000, seed=1)
    assert found["MiB at the end"] > found["MiB after a tenth"] + 100


def test_batches_are_all_different() -> None:
    dictionary = soak.networks.make_task("tiny").source_dictionary
    found = [tuple(row.tolist()) for rows in soak.batches(dictionary, 250, 1) for row in rows]
    assert len(found) == 250 and len(set(found)) > 240
    assert {len(row) - 1 for row in found} == set(range(soak.LENGTHS[0], soak.LENGTHS[1] + 1))


def test_the_first_difference() -> None:
    assert precision.first_difference([5, 6, 2], [5, 7, 6, 2]) == 1
    assert precision.first_difference([5, 2], [5, 6, 2]) == 1


@pytest.mark.slow
def test_types_are_compared_by_every_decoder(
    trained: Trained,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
) -> None:
    report = precision.main(
        (
            *(str(trained.data), "--path", str(trained.dual), "--sentences", "3"),
            *("--metric", "vowels"),
        )
    )
    said = capsys.readouterr().out
    kinds = [kind for kind in precision.TYPES if f"{kind}: left out" not in said]
    names = [(one["decoder"], one["type"]) for one in report.series]
    assert names == [(name, kind) for name in precision.DECODERS for kind in kinds]
    for one in report.series:
        assert 0 <= one["changed"] <= one["sentences"] == 3
        assert ("value: median gap" in one) == (one["changed"] > 0)
