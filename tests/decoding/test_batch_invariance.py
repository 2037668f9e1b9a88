"""What the network says of a prefix is the same to the last bit in every batch."""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

from fairseq_mcts.decoding.member import make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.evaluator import Answers, Question
from fairseq_mcts.search.tree import NO_NODE, NO_TOKEN, Tree, allocate, new_tree
from tests.decoding.networks import (
    VOCABULARY,
    dual_head,
    fairseq_transformer,
    policy_with_comparing_value,
    sharpen,
)
from tests.models.toys import DUAL, EOS, SOURCE_WORDS, TARGET_WORDS, make_model

SENTENCES = 40
QUESTION = Question(actions=TARGET_WORDS, temperature=0.9, as_priors=True, value=True)


def random_sources() -> list[torch.Tensor]:
    dice = torch.Generator().manual_seed(1)
    lengths = torch.randint(0, 30, (SENTENCES,), generator=dice).tolist()
    words = [torch.randint(4, SOURCE_WORDS, (length,), generator=dice) for length in lengths]
    return [torch.cat([one, torch.tensor([EOS])]) for one in words]


def grow(sentences: list[int], steps: int) -> tuple[Tree, list[np.ndarray]]:
    """One chain of random tokens per sentence; a sentence's own are the same in every batch."""
    tree = new_tree(len(sentences) * (steps + 1), 1)
    levels = []
    slots = [int(allocate(tree, row, NO_NODE, 0, NO_TOKEN, 0.0)) for row in range(len(sentences))]
    levels.append(np.array(slots, np.int32))
    chains = [np.random.default_rng(one).integers(4, TARGET_WORDS, steps) for one in sentences]
    for step in range(steps):
        slots = [
            int(allocate(tree, row, slot, 0, int(chains[row][step]), 0.0))
            for row, slot in enumerate(slots)
        ]
        levels.append(np.array(slots, np.int32))
    return tree, levels


def evaluate(models: tuple[Any, Any], sentences: list[int], steps: int = 26) -> list[Answers]:
    """Answers for every prefix of the chains, level by level."""
    policy, value = models
    sources = random_sources()
    evaluator = NetworkEvaluator(make_members([policy], [value], VOCABULARY), VOCABULARY)
    evaluator.begin([sources[one] for one in sentences])
    tree, levels = grow(sentences, steps)
    constraints = make_constraints(len(sentences), eos=EOS, max_len=steps + 1, forbidden=(0, 1))
    return [
        evaluator.evaluate(tree, constraints.requests(tree, slots), QUESTION) for slots in levels
    ]


def wide(kind: str) -> dict[str, Any]:
    """The sizes of the paper's layers, or fairseq's own; one of them."""
    sizes = {"layers": 1, "embed_dim": 512, "ffn_embed_dim": 3072 if kind == "dual" else 2048}
    sizes["attention_heads"] = 16 if kind == "dual" else 8
    if kind == "dual":
        sizes["head_dim"] = 128
    return {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in sizes.items()}


MODELS: dict[str, Callable[[], tuple[Any, Any]]] = {
    "multiquery": lambda: (dual_head(), None),
    "multiquery_of_one_head": lambda: (sharpen(make_model(DUAL, decoder_attention_heads=1)), None),
    "multiquery_wide": lambda: (sharpen(make_model(DUAL, **wide("dual"))), None),
    "comparing_value": lambda: (policy_with_comparing_value(dual_head()), None),
    "fairseq": lambda: (fairseq_transformer(), dual_head()),
    "fairseq_wide": lambda: (fairseq_transformer(**wide("fairseq")), dual_head()),
}


@pytest.fixture(scope="module", params=MODELS)
def models(request: pytest.FixtureRequest) -> tuple[Any, Any]:
    policy, value = MODELS[request.param]()
    return policy, value or policy


def test_rows_do_not_notice_their_neighbours(models: tuple[Any, Any]) -> None:
    everyone = list(range(SENTENCES))
    together = evaluate(models, everyone)
    for size in (1, 2, 3, 5, 7, 16):
        part = everyone[SENTENCES - 2 * size :][:size]
        for alone, all_of_them in zip(evaluate(models, part), together, strict=True):
            for name in ("action_tokens", "action_logprobs", "weights", "values"):
                np.testing.assert_array_equal(
                    getattr(alone, name), getattr(all_of_them, name)[part], err_msg=name
                )


def test_several_rows_of_one_sentence_read_its_source_as_one_does(models: tuple[Any, Any]) -> None:
    """Rows of a sentence attend to its source together; it must not matter how many they are."""
    policy, value = models
    sources = random_sources()[:6]
    answers = []
    for children in (1, 2, 9, 33):
        evaluator = NetworkEvaluator(make_members([policy], [value], VOCABULARY), VOCABULARY)
        evaluator.begin(sources)
        tree = new_tree(300, 1)
        constraints = make_constraints(len(sources), eos=EOS, max_len=9, forbidden=(0, 1))
        roots = [int(allocate(tree, row, NO_NODE, 0, NO_TOKEN, 0.0)) for row in range(len(sources))]
        evaluator.evaluate(tree, constraints.requests(tree, np.array(roots, np.int32)), QUESTION)
        first = [int(allocate(tree, row, root, 0, 7, 0.0)) for row, root in enumerate(roots)]
        others = [
            int(allocate(tree, row, root, 0, token, 0.0))
            for row, root in enumerate(roots)
            for token in range(8, 7 + children)
        ]
        slots = np.array(first + others, np.int32)
        answer = evaluator.evaluate(tree, constraints.requests(tree, slots), QUESTION)
        answers.append((answer.action_logprobs[: len(first)], answer.values[: len(first)]))
    for other in answers[1:]:
        for one, two in zip(answers[0], other, strict=True):
            np.testing.assert_array_equal(one, two)
