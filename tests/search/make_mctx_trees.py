"""Have mctx search the trees of `test_against_mctx.py`, and write down what it finds:

    pip install mctx jax
    python -m tests.search.make_mctx_trees

The policy is `mctx.gumbel_muzero_policy` in float64 with its own defaults. It draws its noise by
`jax.random.gumbel`, which is made to hand out this package's. A finished sentence is an absorbing
state: whatever follows has its value, so visits and Q above it are those of one that is visited
again and again.
"""

from __future__ import annotations

from functools import partial
from importlib.metadata import version
from typing import Any
from unittest import mock

import jax
import jax.numpy as jnp
import mctx
import numpy as np

from fairseq_mcts.search import make_decoder
from fairseq_mcts.search.random_numbers import gumbel
from tests.search.mctx_trees import FILE, STEPS, Case, Found, next_row, write

SENTENCES = 50  # a case
SENTENCES_OF_WIDE = 12  # a case in which nodes have many children
ACTIONS = make_decoder("mcts").options.actions  # unless a case has its own
NEVER = -1e30  # the logit of a token that is not allowed


def make_case(index: int, simulations: int, considered: int, **options: Any) -> Case:
    return Case(
        name=f"{simulations} simulations, {considered} considered"
        + "".join(f", {name} {value:g}" for name, value in options.items()),
        vocab=3 + index % 8,
        eos=index % 3,
        max_len=3 + index % 5,
        policy=("flat", "peaked")[index % 2],
        options={"simulations": simulations, "gumbel_actions": considered, **options},
        seeds=tuple(1000 * index + sentence for sentence in range(SENTENCES)),
    )


def make_wide_case(index: int, simulations: int, vocab: int, **options: Any) -> Case:
    """With more next tokens than the 16 that the root considers by default."""
    return Case(
        name=f"{vocab} tokens, {simulations} simulations"
        + "".join(f", {name} {value:g}" for name, value in options.items()),
        vocab=vocab,
        eos=index % 3,
        max_len=3 + index % 3,
        policy=("flat", "peaked")[index % 2],
        options={"simulations": simulations, "gumbel_actions": 16, **options},
        seeds=tuple(1000 * index + sentence for sentence in range(SENTENCES_OF_WIDE)),
    )


CASES = [
    make_case(index, *counts, **options)
    for index, (counts, options) in enumerate(
        [
            ((1, 4), {"gumbel_scale": 1.0}),
            ((2, 16), {}),
            ((2, 16), {"gumbel_scale": 1.0}),
            ((5, 2), {"gumbel_scale": 0.5}),
            ((8, 4), {}),
            ((16, 16), {"gumbel_scale": 1.0}),
            ((16, 1), {"gumbel_scale": 1.0}),
            ((25, 7), {"c_scale": 1.0}),
            ((32, 8), {"gumbel_scale": 1.0}),
            ((50, 16), {}),
            ((50, 3), {"c_visit": 5.0}),
            ((64, 16), {"gumbel_scale": 1.0, "c_scale": 0.5}),
            ((100, 6), {"gumbel_scale": 1.0}),
            ((150, 16), {}),
        ]
    )
]
CASES += [
    make_wide_case(len(CASES) + index, *sizes, **options)
    for index, (sizes, options) in enumerate(
        [
            ((50, 20), {"c_scale": 0.05}),
            ((50, 20), {"c_scale": 1.0}),
            ((50, 40), {"c_scale": 0.05, "gumbel_scale": 1.0}),
            ((100, 32), {"c_scale": 1.0}),
            ((100, 40), {"c_scale": 1.0, "gumbel_scale": 1.0}),
            ((100, 24), {"c_scale": 0.05, "actions": 24}),
            ((300, 20), {"c_scale": 0.05}),
            ((300, 40), {"c_scale": 0.05}),
            ((300, 40), {"c_scale": 1.0}),
        ]
    )
]


def only_best(logits: np.ndarray, count: int) -> np.ndarray:
    """Logits [..., V], of which so many are allowed; of equal ones the lower token."""
    ranks = np.argsort(np.argsort(-logits, axis=-1, kind="stable"), axis=-1)
    return np.where(ranks < count, logits, NEVER)


class MctxSearch:
    """mctx on all sentences of a case; B sentences, R rows a table, V tokens."""

    def __init__(self, case: Case) -> None:
        self.case = case
        tables = [case.table(sentence) for sentence in range(len(case.seeds))]
        logits = np.stack([logits for logits, _ in tables])  # [B, R, V]
        self.logits = jnp.asarray(only_best(logits, case.options.get("actions", ACTIONS)))
        self.values = jnp.asarray(np.stack([values for _, values in tables]))  # [B, R]
        self.policy = jax.jit(self._policy)

    def _output(self, row: Any, length: Any, finished: Any) -> tuple[Any, Any]:  # [B] each
        """Logits [B, V] and values [B]."""
        sentences = jnp.arange(len(row))
        at_end = jnp.where(jnp.arange(self.case.vocab) == self.case.eos, 0.0, NEVER)  # [V]
        logits = jnp.where(
            (length == self.case.max_len)[:, None], at_end, self.logits[sentences, row]
        )
        return jnp.where(finished[:, None], 0.0, logits), self.values[sentences, row]

    def _recurrent(self, params: Any, key: Any, action: Any, state: Any) -> tuple[Any, Any]:
        row, length, finished = state
        row = jnp.where(finished, row, next_row(row, action))
        length = jnp.where(finished, length, length + 1)
        finished = finished | (action == self.case.eos)
        logits, values = self._output(row, length, finished)
        output = mctx.RecurrentFnOutput(
            reward=jnp.zeros_like(values),
            discount=jnp.ones_like(values),
            prior_logits=logits,
            value=values,
        )
        return output, (row, length, finished)

    def _policy(self, state: Any, noise: Any) -> tuple[Any, Any, Any]:
        """Chosen tokens [B], visits and Q of the root's children [B, V]."""
        options = self.case.options
        logits, values = self._output(*state)
        sigma = {
            name: options[ours]
            for name, ours in (("value_scale", "c_scale"), ("maxvisit_init", "c_visit"))
            if ours in options
        }
        with mock.patch.object(jax.random, "gumbel", lambda key, shape, dtype: noise):
            output = mctx.gumbel_muzero_policy(
                (),
                jax.random.PRNGKey(0),
                mctx.RootFnOutput(prior_logits=logits, value=values, embedding=state),
                self._recurrent,
                num_simulations=options["simulations"],
                max_num_considered_actions=options["gumbel_actions"],
                gumbel_scale=options.get("gumbel_scale", 0.0),
                qtransform=partial(mctx.qtransform_completed_by_mix_value, **sigma),
            )
        summary = output.search_tree.summary()
        return output.action, summary.visit_counts, summary.qvalues

    def find(self) -> list[list[Found]]:
        """[B][step] the searches for the first output tokens."""
        case = self.case
        count = len(case.seeds)
        rows, finished = np.zeros(count, np.int64), np.zeros(count, bool)
        found: list[list[Found]] = [[] for _ in range(count)]
        for length in range(STEPS):
            noise = [[gumbel(seed, t, length) for t in range(case.vocab)] for seed in case.seeds]
            state = (jnp.asarray(rows), jnp.full(count, length), jnp.asarray(finished))
            tokens, visits, values = map(np.asarray, self.policy(state, jnp.asarray(noise)))
            for sentence in np.flatnonzero(~finished):
                children = {
                    int(token): (int(visits[sentence, token]), float(values[sentence, token]))
                    for token in np.flatnonzero(visits[sentence])
                }
                found[sentence].append(Found(int(tokens[sentence]), children))
            rows = np.where(finished, rows, next_row(rows, tokens))
            finished |= tokens == case.eos
        return found


def main() -> None:
    jax.config.update("jax_enable_x64", True)
    found = []
    for case in CASES:
        found.append(MctxSearch(case).find())
        print(f"{case.name}: {sum(map(len, found[-1]))} trees", flush=True)
    write(CASES, found, {name: version(name) for name in ("mctx", "jax")})
    print(f"{FILE} ({FILE.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
