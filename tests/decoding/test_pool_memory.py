"""The pool stays close to what is in use, and what is in use is a prefix and one token's tree."""

from typing import Any

import pytest

from fairseq_mcts.decoding.member import make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.search import Run, make_decoder
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.driver import drive
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.tree import Tree
from tests.decoding.networks import BATCH, VOCABULARY, sharpen, sources
from tests.models.toys import DUAL, EOS, make_model
from tests.search.watching import num_live

LENGTH, SIMULATIONS = 60, 300


class Watcher:
    """An evaluator that counts the live prefixes at each call."""

    def __init__(self, evaluator: NetworkEvaluator) -> None:
        self._evaluator = evaluator
        self.most_live = 0

    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        self.most_live = max(self.most_live, num_live(tree))
        return self._evaluator.evaluate(tree, requests, question)


@pytest.mark.slow(seconds=60)
def test_pool_of_a_long_sentence_stays_below_twice_what_is_in_use() -> None:
    small = {f"{side}_layers": 1 for side in ("encoder", "decoder")}
    model = sharpen(make_model(DUAL, **small, decoder_ffn_embed_dim=32, value_buckets=20))
    members = make_members([model], [model], VOCABULARY)
    evaluator = NetworkEvaluator(members, VOCABULARY)
    evaluator.begin(sources(BATCH)[:1])
    constraints = make_constraints(1, eos=EOS, max_len=LENGTH, min_len=LENGTH, forbidden=(0, 1))
    search = make_decoder("mcts", {"simulations": SIMULATIONS}).search(Run(constraints))
    watcher = Watcher(evaluator)
    drive(search, watcher)

    [[hypothesis]] = search.results()
    assert len(hypothesis.tokens) == LENGTH + 1
    pool = members[0].stepper.pool  # type: ignore[attr-defined]
    tensors = (*pool.keys, *pool.values, members[0].unread._rows)
    held = sum(one.untyped_storage().nbytes() for one in tensors)
    live_bytes = watcher.most_live * evaluator.bytes_per_slot
    assert live_bytes < held < 2 * live_bytes
    # far fewer prefixes are alive at any time than were evaluated in all
    assert SIMULATIONS < watcher.most_live <= LENGTH + 2 + 2 * SIMULATIONS
    assert hypothesis.evaluations.made > 5 * watcher.most_live


@pytest.mark.parametrize("search", [{"search": "beam"}, {"search": "vgbs", "alpha": 0.5}])
def test_pool_of_a_beam_holds_little_more_than_its_proposals(search: dict[str, Any]) -> None:
    model = sharpen(make_model(DUAL, value_buckets=20))
    evaluator = NetworkEvaluator(make_members([model], [model], VOCABULARY), VOCABULARY)
    batch = sources(BATCH)
    evaluator.begin(batch)
    constraints = make_constraints(
        len(batch), eos=EOS, max_len=12, min_len=12, forbidden=VOCABULARY.forbidden
    )
    given = {"beam": 10, **search}
    beams = make_decoder(given.pop("search"), given).search(Run(constraints))
    watcher = Watcher(evaluator)
    drive(beams, watcher)
    # when it has grown, there is room for a quarter more, and for what a step might have kept
    assert beams.tree.capacity < 1.8 * watcher.most_live
