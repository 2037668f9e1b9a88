"""Standard deviations of values, for who records a search: against full passes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

from fairseq_mcts.decoding.deviations import Deviations
from fairseq_mcts.decoding.member import make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.search import Hypothesis, Run, TreeSnapshot, make_decoder, run_decoder
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.recording import BeamProposal
from tests.decoding.networks import BATCH, VOCABULARY, FullForward, dual_head, sources
from tests.decoding.test_caution import COMMON, SEARCHES

Prefix = tuple[int, tuple[int, ...]]  # sentence and tokens


class Recorder:
    """Reads the deviation of everything that it is told of."""

    def __init__(self) -> None:
        self.deviations = Deviations()
        self.found: dict[Prefix, float] = {}

    def wants(self, sentence: int) -> bool:
        return True

    def see_tree(self, tree: TreeSnapshot) -> None:
        prefixes: list[tuple[int, ...]] = []
        for token, parent in zip(tree.tokens.tolist(), tree.parents.tolist(), strict=True):
            prefixes.append((*prefixes[parent], token) if parent >= 0 else tree.prefix)
        self._note(tree.sentence, prefixes, tree.slots)

    def see_beam(self, sentence: int, proposals: Sequence[BeamProposal]) -> None:
        slots = np.array([one.slot for one in proposals], np.int32)
        self._note(sentence, [one.tokens for one in proposals], slots)

    def _note(self, sentence: int, prefixes: list[tuple[int, ...]], slots: Any) -> None:
        read = self.deviations.read(slots).tolist()
        for tokens, deviation in zip(prefixes, read, strict=True):
            self.found[sentence, tokens] = deviation

    def see_samples(self, sentence: int, samples: Sequence[Hypothesis]) -> None:
        raise AssertionError("no samples are drawn here")

    see_ranking = see_samples


def search(
    values: Sequence[Any], options: dict[str, Any], recorder: Recorder | None
) -> list[list[Hypothesis]]:
    given = dict(options)
    members = make_members(values[:1], values, VOCABULARY, with_variance=recorder is not None)
    deviations = None if recorder is None else recorder.deviations
    evaluator = NetworkEvaluator(members, VOCABULARY, deviations=deviations)
    evaluator.begin(sources(BATCH))
    decoder = make_decoder(given.pop("search"), given)
    constraints = make_constraints(len(BATCH.src_lengths), **COMMON)
    run = Run(constraints, recorder=recorder, highest_value=evaluator.highest_value)
    return run_decoder(decoder, run, evaluator).hypotheses


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("name", ["mcts", "vgbs"])
def test_deviations_are_those_of_the_mixture(name: str, count: int) -> None:
    values = [dual_head(), dual_head(seed=4)][:count]
    recorder = Recorder()
    found = search(values, SEARCHES[name], recorder)
    assert found == search(values, SEARCHES[name], None)  # tokens, values and both counts
    prefixes = list(recorder.found)[:60]
    assert len(prefixes) == 60
    sentences, tokens = map(list, zip(*prefixes, strict=True))
    means, lowered = (
        FullForward(values[:1], values, BATCH, caution)(sentences, tokens)[1]
        for caution in (0.0, 1.0)
    )
    read = [recorder.found[one] for one in prefixes]
    np.testing.assert_allclose(read, means - lowered, atol=2e-4)
    assert np.ptp(read) > 1e-4


def test_members_without_variances_tell_nothing() -> None:
    deviations = Deviations()
    model = dual_head()
    evaluator = NetworkEvaluator(
        make_members([model], [model], VOCABULARY), VOCABULARY, deviations=deviations
    )
    evaluator.begin(sources(BATCH))
    constraints = make_constraints(len(BATCH.src_lengths), **COMMON)
    run_decoder(make_decoder("mcts", {"simulations": 3}), Run(constraints), evaluator)
    assert np.isnan(deviations.read(np.arange(40, dtype=np.int32))).all()


def test_slots_of_any_order_and_none() -> None:
    deviations = Deviations()
    for slots, numbers in (([5, 1], [0.5, 0.1]), ([9], [0.9]), ([5], [0.6]), ([], [])):
        deviations.write(np.array(slots, np.int32), np.array(numbers, np.float32))
    read = deviations.read(np.array([1, 5, 9, 2, -1, 10_000], np.int32))
    np.testing.assert_allclose(read, [0.1, 0.6, 0.9, *[np.nan] * 3], rtol=1e-6)
