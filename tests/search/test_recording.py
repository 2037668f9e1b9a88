"""What a recorder is told: the order of simulations, every beam, every sample."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

import pytest

from fairseq_mcts.search import Decoder, Hypothesis, TreeSnapshot
from fairseq_mcts.search.decoders.beam import BeamDecoder
from fairseq_mcts.search.recording import BeamProposal
from tests.search.compare import run
from tests.search.toy_models import ToyModel, ToyProblem

IDS = (3, 8, 5)


class Recorder:
    """Keeps what it is told, of all sentences but the first."""

    def __init__(self) -> None:
        self.trees: list[TreeSnapshot] = []
        self.beams: dict[int, list[Sequence[BeamProposal]]] = {}
        self.samples: dict[int, Sequence[Hypothesis]] = {}
        self.ranked: dict[int, Sequence[Hypothesis]] = {}

    def wants(self, sentence: int) -> bool:
        return sentence > 0

    def see_tree(self, tree: TreeSnapshot) -> None:
        self.trees.append(tree)

    def see_beam(self, sentence: int, proposals: Sequence[BeamProposal]) -> None:
        self.beams.setdefault(sentence, []).append(proposals)

    def see_samples(self, sentence: int, samples: Sequence[Hypothesis]) -> None:
        assert sentence not in self.samples
        self.samples[sentence] = samples

    def see_ranking(self, sentence: int, ranked: Sequence[Hypothesis]) -> None:
        assert sentence not in self.ranked
        self.ranked[sentence] = ranked


def decoded(seed: int, recorder: Recorder | None, **options: Any) -> list[list[Hypothesis]]:
    problem = ToyProblem(ToyModel(vocab=6, eos=2, seed=seed), sentence_ids=IDS, max_len=6)
    return run(problem, recorder=recorder, **options)[0]


MCTS = [
    {},
    {"leaves": 4},
    {"backup": "max", "choose": "value"},
    {"backup": "bellman"},
    {"root": "gumbel"},
    {"leaf": "rollout", "metric": lambda sentence, tokens: len(tokens) / (7 + sentence)},
    {"terminal": "metric", "metric": lambda sentence, tokens: len(tokens) / (7 + sentence)},
]


@pytest.mark.parametrize("options", MCTS)
def test_simulations_in_their_order(options: dict[str, Any]) -> None:
    recorder = Recorder()
    settings = {"search": "mcts", "simulations": 20, **options}
    found = decoded(1, recorder, **settings)
    assert found == decoded(1, None, **settings)
    assert {tree.sentence for tree in recorder.trees} == {1, 2}
    assert len(recorder.trees) == sum(len(found[sentence][0].tokens) for sentence in (1, 2))
    for tree in recorder.trees:
        landings, parents = tree.landings.tolist(), tree.parents.tolist()
        assert len(landings) == 21
        assert landings[0] == 0
        seen = {-1}
        visits = [0] * len(parents)
        for landing in landings:
            assert parents[landing] in seen  # nothing is opened before what is above it
            seen.add(landing)
            node = landing
            while node >= 0:
                visits[node] += 1
                node = parents[node]
        assert visits == tree.visits.tolist()


def test_the_mean_is_that_of_what_was_backed_up() -> None:
    recorder = Recorder()
    decoded(2, recorder, search="mcts", simulations=20)
    for tree in recorder.trees:
        values = [tree.opened_values[node] for node in tree.landings]
        assert tree.values[0] == pytest.approx(sum(values) / len(values))


@pytest.mark.parametrize("alpha", [0.0, 0.5, 1.0])
def test_beams_of_every_step(alpha: float) -> None:
    recorder = Recorder()
    settings = {"search": "vgbs", "beam": 3, "alpha": alpha, "n_best": 3}
    found = decoded(3, recorder, **settings)
    assert found == decoded(3, None, **settings)
    assert recorder.beams.keys() == {1, 2}
    for sentence, steps in recorder.beams.items():
        finished = [one for step in steps for one in step if one.finished]
        assert {one.tokens for one in finished} == {one.tokens for one in found[sentence]}
        scores = {one.tokens: one.score for one in found[sentence]}
        kept: set[tuple[int, ...]] = {()}
        for length, step in enumerate(steps, start=1):
            assert all(len(one.tokens) == length for one in step)
            assert all(one.tokens[:-1] in kept for one in step)
            assert [one.score for one in step] == sorted((one.score for one in step), reverse=True)
            kept = {one.tokens for one in step if one.rank is not None}
            ranks = [one.rank for one in step if one.rank is not None]
            assert ranks == list(range(len(ranks)))
        for one in finished:
            assert one.score == pytest.approx(scores[one.tokens])
            assert (one.value is None) == (alpha == 0.0)


def test_dropped_proposals_are_told_where_values_decide() -> None:
    recorder = Recorder()
    decoded(3, recorder, search="vgbs", beam=3, alpha=0.5)
    dropped = [
        one
        for steps in recorder.beams.values()
        for step in steps
        for one in step
        if one.rank is None and not one.finished
    ]
    assert dropped


@pytest.mark.parametrize("settings", [{"rank_by": "value"}, {"rank_by": "none"}])
def test_samples_as_they_were_drawn(settings: dict[str, Any]) -> None:
    recorder = Recorder()
    settings = {"search": "sr", "samples": 12, "n_best": 12, **settings}
    found = decoded(4, recorder, **settings)
    assert found == decoded(4, None, **settings)
    assert recorder.samples.keys() == {1, 2}
    for sentence, samples in recorder.samples.items():
        assert len(samples) == 12
        counts = Counter(sample.tokens for sample in samples)
        if settings["rank_by"] == "value":
            assert counts == {one.tokens: one.weight for one in found[sentence]}
            assert {one.tokens: one.value for one in samples} == {
                one.tokens: one.value for one in found[sentence]
            }
        else:
            assert list(samples) == found[sentence]


def test_samples_without_replacement() -> None:
    recorder = Recorder()
    found = decoded(4, recorder, search="sr", samples=6, without_replacement=True, n_best=6)
    for sentence, samples in recorder.samples.items():
        assert sorted(samples, key=lambda one: (-one.score, -one.logprob)) == found[sentence]


def test_the_ranking_of_all_that_was_compared() -> None:
    def alike(sentence: int, one: tuple[int, ...], other: tuple[int, ...]) -> float:
        return len(set(one) & set(other)) / (7 + sentence)

    recorder = Recorder()
    settings = {"search": "mbr", "samples": 12, "metric": alike}
    found = decoded(4, recorder, **settings)
    assert found == decoded(4, None, **settings)
    assert recorder.ranked.keys() == {1, 2}
    for sentence, ranked in recorder.ranked.items():
        assert list(ranked[:1]) == found[sentence]  # one is asked for, all are told
        drawn = {one.tokens for one in recorder.samples[sentence]}
        assert {one.tokens for one in ranked} == drawn
        assert len(drawn) > 1


def test_a_decoder_that_tells_nothing_is_refused() -> None:
    class Silent(BeamDecoder):
        records_search = False

    silent: Decoder[Any] = Silent(BeamDecoder.with_options({}).options)
    silent.name = "silent"  # type: ignore[misc]
    with pytest.raises(ValueError, match="recorder: search='silent' can't be recorded"):
        decoded(1, Recorder(), search=silent)
