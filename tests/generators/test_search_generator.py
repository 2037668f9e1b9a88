"""On trained models: the network path is the pure algorithm, and fairseq's own where both meet."""

from typing import Any

import numpy as np
import pytest
import torch
from sacrebleu.metrics import BLEU

from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.search import Hypothesis
from tests.generators.harness import DECODERS, SEED, Setup, load
from tests.generators.trained import SEEN, UNSEEN, Trained

pytestmark = pytest.mark.slow

MAX_LEN = 24
SENTENCES = (0, 3, 11, 17, UNSEEN, UNSEEN + 2)  # of both kinds, and of different lengths
TOLERANCE = 1e-4
BEYOND_THE_PAPER = ("mcts_gumbel", "mcts_cautious", "sr_without_replacement", "sr_mix", "mbr")


@pytest.fixture(scope="module")
def dual(trained: Trained) -> Setup:
    """This project's model with both heads."""
    return load(trained, trained.dual)


@pytest.fixture(scope="module")
def plain(trained: Trained) -> Setup:
    """An ordinary fairseq transformer, its value from the other model (--value-path)."""
    return load(trained, trained.plain, values=[trained.dual])


@pytest.fixture(params=["dual", "plain"])
def setup(request: pytest.FixtureRequest) -> Setup:
    chosen: Setup = request.getfixturevalue(request.param)
    return chosen


def test_policies_are_trained_and_values_differ(setup: Setup) -> None:
    """What follows would prove little on flat policies and constant values."""
    found = setup.generate(search="mcts", mcts_simulations=8, max_len_b=MAX_LEN)
    text = TextDecoder(setup.task.target_dictionary, post_process="sentencepiece").decode
    dataset = setup.task.dataset("test")
    best = setup.generate(search="beam", max_len_b=MAX_LEN)
    hypotheses = [text(best[one][0]["tokens"]) for one in range(len(dataset))]
    references = [text(dataset[one]["target"]) for one in range(len(dataset))]
    assert BLEU().corpus_score(hypotheses, [references]).score > 25
    assert np.std([one["value"] for [one] in found.values()]) > 0.02


@pytest.mark.parametrize("name", DECODERS)
def test_network_path_equals_full_forward_passes(setup: Setup, name: str) -> None:
    options = DECODERS[name]
    truth = setup.slowly(SENTENCES, MAX_LEN, **options)
    found = setup.generate(SENTENCES, max_len_b=MAX_LEN, nbest=2, **options)
    for sentence, expected in zip(SENTENCES, truth, strict=True):
        assert_same(found[sentence], expected)


def assert_same(found: list[dict[str, Any]], expected: list[Hypothesis]) -> None:
    assert [tuple(one["tokens"].tolist()) for one in found] == [one.tokens for one in expected]
    for one, other in zip(found, expected, strict=True):
        assert one["visits"] == other.visits
        assert one["evaluations"] == other.evaluations
        positional = one["positional_scores"].numpy()
        np.testing.assert_allclose(positional, other.positional_logprobs, atol=TOLERANCE)
        assert one["score"] == pytest.approx(other.logprob / len(other.tokens), abs=TOLERANCE)
        assert one["weight"] == pytest.approx(other.weight, rel=1e-3)
        said = [number for number in (one["value"], one["metric"]) if number is not None]
        meant = [number for number in (other.value, other.utility) if number is not None]
        assert said == pytest.approx(meant, abs=TOLERANCE)


@pytest.mark.parametrize("name", DECODERS)
def test_output_does_not_depend_on_the_batch_to_the_last_bit(setup: Setup, name: str) -> None:
    is_beyond_the_paper = name in BEYOND_THE_PAPER
    sentences = range(64) if is_beyond_the_paper else range(0, UNSEEN + SEEN, 9)
    together = setup.generate(sentences, 64, max_len_b=MAX_LEN, nbest=2, **DECODERS[name])
    for batch_size in (1, 7):
        apart = setup.generate(sentences, batch_size, max_len_b=MAX_LEN, nbest=2, **DECODERS[name])
        assert_identical(apart, together)


def assert_identical(found: dict[int, Any], expected: dict[int, Any]) -> None:
    assert found.keys() == expected.keys()
    for sentence, hypotheses in expected.items():
        for one, other in zip(found[sentence], hypotheses, strict=True):
            assert one["tokens"].equal(other["tokens"])
            assert one["positional_scores"].equal(other["positional_scores"])
            for key in ("score", "value", "metric", "visits", "search_score", "evaluations"):
                assert one[key] == other[key], key
            assert one["weight"] == other["weight"]


def tokens(hypotheses: list[dict[str, Any]]) -> list[list[int]]:
    return [one["tokens"].tolist() for one in hypotheses]


@pytest.mark.parametrize("beam", [1, 4])
@pytest.mark.parametrize("limits", [{}, {"min_len": 9, "unkpen": -2.0}])
def test_vgbs_without_value_is_fairseqs_beam_search(
    setup: Setup, beam: int, limits: dict[str, Any]
) -> None:
    ours = setup.generate(
        search="vgbs", vgbs_beam=beam, vgbs_alpha=0.0, nbest=beam, max_len_b=MAX_LEN, **limits
    )
    theirs = setup.generate(search="beam", beam=beam, lenpen=1, max_len_b=MAX_LEN, **limits)
    assert len(ours) == len(theirs) == UNSEEN + SEEN
    for sentence, expected in theirs.items():
        assert tokens(ours[sentence]) == tokens(expected), sentence
        for one, other in zip(ours[sentence], expected, strict=True):
            assert one["score"] == pytest.approx(float(other["score"]), abs=TOLERANCE)
            torch.testing.assert_close(
                one["positional_scores"].float(),
                other["positional_scores"],
                atol=TOLERANCE,
                rtol=0,
            )


def test_vgbs_keeps_a_forced_prefix_as_fairseqs_beam_search_does(setup: Setup) -> None:
    forced = {"prefix_size": 3, "max_len_b": MAX_LEN}
    ours = setup.generate(search="vgbs", vgbs_beam=4, vgbs_alpha=0.0, nbest=4, **forced)
    theirs = setup.generate(search="beam", beam=4, **forced)
    for sentence, expected in theirs.items():
        assert tokens(ours[sentence]) == tokens(expected), sentence


@pytest.mark.parametrize("leaf", ["value", "rollout"])
def test_mcts_with_one_simulation_is_greedy(setup: Setup, leaf: str) -> None:
    options = {"mcts_leaf": "rollout", **DECODERS["mcts_rollout"]} if leaf == "rollout" else {}
    ours = setup.generate(**{"search": "mcts", **options, "mcts_simulations": 1}, max_len_b=MAX_LEN)
    greedy = setup.generate(search="beam", beam=1, max_len_b=MAX_LEN)
    for sentence, expected in greedy.items():
        assert tokens(ours[sentence]) == tokens(expected), sentence


def test_one_sample_is_the_first_of_many(dual: Setup) -> None:
    """Also of other numbers of samples: what a sample is depends on its number alone."""
    one, few, many = (
        dual.generate(search="sr", sr_samples=count, nbest=count, max_len_b=MAX_LEN)
        for count in (1, 3, 12)
    )
    for sentence, [sample] in one.items():
        assert sample["tokens"].tolist() in tokens(few[sentence])
        assert {tuple(one) for one in tokens(few[sentence])} <= {
            tuple(one) for one in tokens(many[sentence])
        }


def test_seed_decides_the_samples(dual: Setup) -> None:
    options = {"search": "sr", "sr_samples": 1, "max_len_b": MAX_LEN}
    first, again = dual.generate(range(9), **options), dual.generate(range(9), **options)
    assert_identical(again, first)
    generator = dual.generator(seed=SEED + 1, **options)
    dataset = dual.task.dataset("test")
    sample = dataset.collater([dataset[one] for one in range(9)])
    others = dual.task.inference_step(generator, dual.models, sample)
    assert [tokens(one) for one in others] != [tokens(first[one]) for one in sample["id"].tolist()]


def test_ensembles_average_policies_and_values(trained: Trained) -> None:
    both = load(trained, trained.plain, trained.dual, values=[trained.dual])
    for name in ("mcts_mean", "vgbs", "sr_value"):
        truth = both.slowly(SENTENCES[:3], MAX_LEN, **DECODERS[name])
        found = both.generate(SENTENCES[:3], max_len_b=MAX_LEN, nbest=2, **DECODERS[name])
        for sentence, expected in zip(SENTENCES[:3], truth, strict=True):
            assert_same(found[sentence], expected)


def test_a_generator_sees_that_its_model_was_trained_on(trained: Trained) -> None:
    """As in --eval-search: one generator, while the weights change."""
    setup = load(trained, trained.dual)
    dataset = setup.task.dataset("test")
    sample = dataset.collater([dataset[one] for one in SENTENCES])
    old = setup.generator(search="mcts", mcts_simulations=4, max_len_b=MAX_LEN)
    setup.task.inference_step(old, setup.models, sample)
    with torch.no_grad():
        for parameter in setup.models[0].decoder.parameters():
            # as fairseq's optimizers do it, past torch's count of versions
            parameter.data.add_(0.05 * torch.randn_like(parameter))
    new = setup.generator(search="mcts", mcts_simulations=4, max_len_b=MAX_LEN)
    again, fresh = (
        setup.task.inference_step(generator, setup.models, sample) for generator in (old, new)
    )
    for [one], [other] in zip(again, fresh, strict=True):
        assert torch.equal(one["positional_scores"], other["positional_scores"])


KEPT = {
    "mcts": {"search": "mcts", "mcts_simulations": 4},
    "vgbs": {"search": "vgbs", "vgbs_beam": 3},
}


@pytest.mark.parametrize("name", KEPT)
def test_models_made_for_inference_are_brought_into_order_once(name: str, trained: Trained) -> None:
    """fairseq refuses to train them from then on; no batch may leave traces in the next."""
    setup = load(trained, trained.dual)
    dataset = setup.task.dataset("test")
    parts = (SENTENCES[:2], SENTENCES, SENTENCES[1:3])  # what is kept has to grow, too
    batches = [dataset.collater([dataset[one] for one in part]) for part in parts]
    options = {**KEPT[name], "max_len_b": MAX_LEN}
    every_time, once = setup.generator(**options), setup.generator(**options)
    expected = [setup.task.inference_step(every_time, setup.models, one) for one in batches]
    assert every_time.kept_members is None
    for model in setup.models:
        model.make_generation_fast_()
    kept = []
    for batch, others in zip(batches, expected, strict=True):
        for [one], [two] in zip(
            setup.task.inference_step(once, setup.models, batch), others, strict=True
        ):
            assert torch.equal(one["tokens"], two["tokens"])
            assert torch.equal(one["positional_scores"], two["positional_scores"])
        kept.append(once.kept_members)
    assert kept[0] is kept[1] is kept[2]

    # other weights in the same model
    state = {key: weight * 1.01 for key, weight in setup.models[0].state_dict().items()}
    setup.models[0].load_state_dict(state)
    fresh = setup.generator(**options)
    again, first = (
        setup.task.inference_step(generator, setup.models, batches[0])
        for generator in (once, fresh)
    )
    for [one], [two] in zip(again, first, strict=True):
        assert torch.equal(one["positional_scores"], two["positional_scores"])


def test_a_batch_that_fails_leaves_nothing_to_the_next(
    trained: Trained, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory that is full while something is kept: once more without it, then smaller batches."""
    setup = load(trained, trained.dual)
    for model in setup.models:
        model.make_generation_fast_()
    dataset = setup.task.dataset("test")
    few, many = (
        dataset.collater([dataset[one] for one in part]) for part in (SENTENCES[:1], SENTENCES)
    )
    generator = setup.generator(search="mcts", mcts_simulations=4, max_len_b=MAX_LEN)
    expected = setup.task.inference_step(generator, setup.models, many)
    generator = setup.generator(search="mcts", mcts_simulations=4, max_len_b=MAX_LEN)
    setup.task.inference_step(generator, setup.models, few)
    sizes: list[int] = []
    begin = NetworkEvaluator.begin

    def failing(evaluator: NetworkEvaluator, sources: Any, *others: Any) -> None:
        sizes.append(len(sources))
        if len(sizes) <= 2:
            raise torch.cuda.OutOfMemoryError("no more")
        begin(evaluator, sources, *others)

    monkeypatch.setattr(NetworkEvaluator, "begin", failing)
    found = setup.task.inference_step(generator, setup.models, many)
    everyone = len(SENTENCES)
    assert sizes[:3] == [everyone, everyone, everyone // 2]
    for [one], [two] in zip(found, expected, strict=True):
        assert torch.equal(one["tokens"], two["tokens"])

    sizes.clear()
    generator = setup.generator(search="mcts", mcts_simulations=4, max_len_b=MAX_LEN)
    monkeypatch.setattr(NetworkEvaluator, "begin", begin)
    setup.task.inference_step(generator, setup.models, few)
    monkeypatch.setattr(NetworkEvaluator, "evaluate", lambda *given: 1 / 0)
    with pytest.raises(ZeroDivisionError):
        setup.task.inference_step(generator, setup.models, few)
    assert generator.kept_members is None
