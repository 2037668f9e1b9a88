"""What the tree walk of MCTS costs per sentence and simulation, beside mctx on the same machine.

    pip install mctx jax
    python benchmarks/tree_cost.py [--json FILE]

Both sides build the tree of one output token: the same batch, simulations, actions and pUCT
constant, with a model that is a look-up in one table of random policies and values, so that
selecting, expanding and backing up is all there is to do. There is no end of sentence within
reach: every simulation opens a new node, and nothing comes from memory.

- "walk": this package's select and backup alone, i.e. its compiled `mcts_kernels.advance`.
- "tree": all its work on a fresh tree (creating the search, walking, building the requests for the
  network, storing the answers), without the time of the evaluator.
- "decode": the same over whole sentences, where later tokens find most prefixes evaluated already.
- "mctx": `mctx.muzero_policy`, jitted, after warm-up; it does the walk and the storing in one.

This package uses one thread; jax chooses its own number.
The sides take turns, and each figure is the median of several runs. On a machine with other work,
`--clock cpu` counts the processor's time instead of the wall clock's.
"""

from __future__ import annotations

import argparse
import json
import platform
import statistics
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_mcts.search import Run, make_decoder, mcts_kernels
from fairseq_mcts.search.constraints import Constraints, make_constraints
from fairseq_mcts.search.driver import Search, drive
from fairseq_mcts.search.evaluator import Answers, Question, Requests
from fairseq_mcts.search.tree import Tree

Clock = Callable[[], float]
CLOCKS: dict[str, Clock] = {"wall": time.perf_counter, "cpu": time.process_time}

EOS = 0
C_PUCT = 3.0
TABLE_SIZE = 4096  # rows of the table that both models look answers up in
SENTENCE_LENGTH = 20  # of the "decode" column
BAR = 10.0  # times cheaper than mctx, demanded at batch 32 with 50 simulations


@dataclass(frozen=True)
class Model:
    """A table of policies and values; which row answers depends on the prefix by a hash."""

    logprobs: np.ndarray  # [K, A] sorted, best first
    values: np.ndarray  # [K]

    @staticmethod
    def random(actions: int, seed: int = 0) -> Model:
        rng = np.random.default_rng(seed)
        policies = rng.dirichlet(np.full(actions, 0.3), TABLE_SIZE)
        # nothing is so improbable that its logarithm overflows float32 in jax
        logprobs = np.log(np.maximum(-np.sort(-policies, axis=1), 1e-9))
        return Model(logprobs, rng.random(TABLE_SIZE))


def first_rows(sentences: np.ndarray) -> np.ndarray:
    """The table's row for the empty prefix of each sentence: no two sentences are alike."""
    return sentences.astype(np.int64) * 97 % TABLE_SIZE


class TableEvaluator:
    """An `Evaluator` whose every answer is a row of the table."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.row_of_slot = np.zeros(0, np.int64)  # [N]

    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        count, actions = len(requests), self.model.logprobs.shape[1]
        if len(self.row_of_slot) < tree.capacity:
            self.row_of_slot = np.resize(self.row_of_slot, tree.capacity)
        parents = np.maximum(requests.parents, 0)
        rows = np.where(
            requests.depths == 0,
            first_rows(requests.sentences),
            (self.row_of_slot[parents] * 31 + requests.tokens + 7) % TABLE_SIZE,
        )
        self.row_of_slot[requests.slots] = rows
        alone = requests.only_token == EOS  # at the length limit
        logprobs = self.model.logprobs[rows]
        logprobs[alone, 0] = 0.0
        tokens = np.tile(np.arange(1, actions + 1, dtype=np.int32), (count, 1))
        tokens[alone, 0] = EOS
        return Answers(
            num_actions=np.where(requests.finished, 0, np.where(alone, 1, actions)).astype(
                np.int32
            ),
            action_tokens=tokens,
            action_logprobs=logprobs,
            weights=np.exp(logprobs),
            values=self.model.values[rows],
            drawn_tokens=np.zeros(0, np.int32),
            drawn_logprobs=np.zeros(0, np.float64),
        )


class TimedEvaluator(TableEvaluator):
    """Knows how long it took, so that this can be left out."""

    def __init__(self, model: Model, clock: Clock) -> None:
        super().__init__(model)
        self.clock = clock
        self.seconds = 0.0

    def evaluate(self, tree: Tree, requests: Requests, question: Question) -> Answers:
        begun = self.clock()
        answers = super().evaluate(tree, requests, question)
        self.seconds += self.clock() - begun
        return answers


def new_search(batch: int, simulations: int, actions: int, max_len: int, **rules: Any) -> Search:
    constraints: Constraints = make_constraints(batch, eos=EOS, max_len=max_len)
    given = {"simulations": simulations, "actions": actions, "c_puct": C_PUCT, **rules}
    return make_decoder("mcts", given).search(Run(constraints))


@contextmanager
def timed_walk(clock: Clock) -> Iterator[list[float]]:
    """The durations of all calls of the compiled walk meanwhile."""
    durations: list[float] = []
    walk = mcts_kernels.advance

    def timed(*arguments: Any) -> int:
        begun = clock()
        count = walk(*arguments)
        durations.append(clock() - begun)
        return count

    mcts_kernels.advance = timed
    try:
        yield durations
    finally:
        mcts_kernels.advance = walk


def walk_seconds(
    model: Model, batch: int, simulations: int, actions: int, clock: Clock, **rules: Any
) -> float:
    """The part of `tree_seconds` that selects and backs up."""
    with timed_walk(clock) as durations:
        tree_seconds(model, batch, simulations, actions, clock, **rules)
    return sum(durations)


def tree_seconds(
    model: Model, batch: int, simulations: int, actions: int, clock: Clock, **rules: Any
) -> float:
    """Search time of one output token's fresh tree for `batch` sentences; `rules` are options of
    the decoder."""
    evaluator = TableEvaluator(model)
    begun = clock()
    search = new_search(batch, simulations, actions, max_len=simulations + 2, **rules)
    seconds = clock() - begun
    evaluated = 0
    while evaluated < 1 + simulations:  # the root, then one new node a simulation
        begun = clock()
        requests, _ = search.advance()
        seconds += clock() - begun
        if not search.question.policy_only:  # those are read of nodes that are evaluated already
            evaluated += 1
            if len(requests) != batch:
                raise AssertionError("a simulation needed no evaluation: not what is measured")
        answers = evaluator.evaluate(search.tree, requests, search.question)
        begun = clock()
        search.receive_answers(requests, answers)
        seconds += clock() - begun
    return seconds


def decode_seconds(model: Model, batch: int, simulations: int, actions: int, clock: Clock) -> float:
    """Search time per output token over whole sentences; the final EOS is not counted as one."""
    evaluator = TimedEvaluator(model, clock)
    search = new_search(batch, simulations, actions, max_len=SENTENCE_LENGTH)
    begun = clock()
    drive(search, evaluator)
    return (clock() - begun - evaluator.seconds) / SENTENCE_LENGTH


def mctx_policy(model: Model, batch: int, simulations: int) -> Callable[[], None]:
    """A call that searches one token for `batch` sentences with mctx; compiled at its first."""
    import jax
    import jax.numpy as jnp
    import mctx

    logits_table = jnp.asarray(model.logprobs, jnp.float32)  # [K, A]
    value_table = jnp.asarray(model.values, jnp.float32)  # [K]

    def recurrent(params: Any, key: Any, action: Any, rows: Any) -> tuple[Any, Any]:
        rows = (rows * 31 + action + 8) % TABLE_SIZE  # [B]
        nothing = jnp.zeros_like(value_table[rows])
        output = mctx.RecurrentFnOutput(
            reward=nothing,
            discount=nothing + 1.0,
            prior_logits=logits_table[rows],
            value=value_table[rows],
        )
        return output, rows

    @jax.jit
    def search(key: Any, rows: Any) -> Any:
        root = mctx.RootFnOutput(
            prior_logits=logits_table[rows], value=value_table[rows], embedding=rows
        )
        return mctx.muzero_policy(
            (),
            key,
            root,
            recurrent,
            num_simulations=simulations,
            dirichlet_fraction=0.0,
            # values lie in [0, 1] already; a constant c: so the trees are as deep as ours
            qtransform=partial(mctx.qtransform_by_min_max, min_value=0.0, max_value=1.0),
            pb_c_init=C_PUCT,
            pb_c_base=1e9,
        ).action_weights

    key = jax.random.PRNGKey(0)
    rows = jnp.asarray(first_rows(np.arange(batch)), jnp.int32)
    return lambda: search(key, rows).block_until_ready()


def seconds_of(call: Callable[[], Any], clock: Clock) -> float:
    begun = clock()
    call()
    return clock() - begun


@dataclass(frozen=True)
class Row:
    """Microseconds per sentence and simulation."""

    batch: int
    simulations: int
    walk: float
    tree: float
    decode: float
    mctx: float


def measure(
    model: Model, batch: int, simulations: int, actions: int, *, repeats: int, clock: Clock
) -> Row:
    search = mctx_policy(model, batch, simulations)
    shape = (model, batch, simulations, actions, clock)
    sides: dict[str, Callable[[], float]] = {
        "walk": lambda: walk_seconds(*shape),
        "mctx": lambda: seconds_of(search, clock),
        "tree": lambda: tree_seconds(*shape),
        "decode": lambda: decode_seconds(*shape),
    }
    for side in sides.values():  # the first time compiles
        side()
    times: dict[str, list[float]] = {name: [] for name in sides}
    for _ in range(repeats):
        for name, side in sides.items():
            times[name].append(side())
    each = 1e6 / (batch * simulations)
    medians = {name: statistics.median(measured) * each for name, measured in times.items()}
    return Row(batch, simulations, **medians)


def machine() -> dict[str, str]:
    cpu = platform.processor() or platform.machine()
    cpuinfo = Path("/proc/cpuinfo")
    if cpuinfo.exists():
        names = [x for x in cpuinfo.read_text().splitlines() if x.startswith("model name")]
        cpu = f"{len(names)} × {names[0].split(':', 1)[1].strip()}" if names else cpu
    packages = ("numpy", "numba", "jax", "mctx")
    return {
        "cpu": cpu,
        "system": platform.platform(),
        "python": platform.python_version(),
        **{name: version(name) for name in packages},
    }


def print_table(rows: Sequence[Row], facts: dict[str, str], actions: int, clock: str) -> None:
    print(" · ".join(f"{name} {fact}" for name, fact in facts.items()))
    print(f"µs per sentence and simulation, {actions} actions, {clock} time, medians")
    print(
        f"{'batch':>6} {'simulations':>12} {'walk':>9} {'tree':>9} {'decode':>9} {'mctx':>9} "
        f"{'mctx/walk':>10} {'mctx/tree':>10} {'mctx/decode':>12}"
    )
    for row in rows:
        print(
            f"{row.batch:>6} {row.simulations:>12} {row.walk:>9.2f} {row.tree:>9.2f} "
            f"{row.decode:>9.2f} {row.mctx:>9.2f} {row.mctx / row.walk:>9.1f}x "
            f"{row.mctx / row.tree:>9.1f}x {row.mctx / row.decode:>11.1f}x"
        )
    for row in rows:
        if (row.batch, row.simulations) == (32, 50):
            ratio = row.mctx / row.walk
            print(
                f"select + backup at batch 32 with 50 simulations: {ratio:.1f} times cheaper than "
                f"mctx (bar: {BAR:.0f}, {'met' if ratio >= BAR else 'NOT met'})"
            )


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", maxsplit=1)[0])
    parser.add_argument("--batches", type=int, nargs="+", default=[1, 32, 128])
    parser.add_argument("--simulations", type=int, nargs="+", default=[50, 300])
    parser.add_argument("--actions", type=int, default=20)
    parser.add_argument("--repeats", type=int, default=7)
    parser.add_argument("--clock", choices=sorted(CLOCKS), default="wall")
    parser.add_argument("--json", type=Path, help="also write the figures to this file")
    return parser.parse_args()


def main() -> None:
    arguments = parse_arguments()
    try:
        facts = machine()
    except ModuleNotFoundError as missing:
        sys.exit(f"{missing}: this benchmark compares with mctx; pip install mctx jax")
    model = Model.random(arguments.actions)
    rows = [
        measure(
            model,
            batch,
            simulations,
            arguments.actions,
            repeats=arguments.repeats,
            clock=CLOCKS[arguments.clock],
        )
        for simulations in arguments.simulations
        for batch in arguments.batches
    ]
    print_table(rows, facts, arguments.actions, arguments.clock)
    if arguments.json:
        report = {
            "machine": facts,
            "actions": arguments.actions,
            "clock": arguments.clock,
            "microseconds": [asdict(row) for row in rows],
        }
        arguments.json.write_text(json.dumps(report, indent=2) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
