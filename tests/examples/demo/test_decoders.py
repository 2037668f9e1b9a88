"""The decoders of the demo, and those that take part only if they are asked for."""

from pathlib import Path

import pytest

from examples.demo.__main__ import chosen
from examples.demo.decoders import DECODERS, EXTRA
from examples.demo.plan import Plan, Sizes


def test_names_are_distinct() -> None:
    names = [one.name for one in (*DECODERS, *EXTRA)]
    assert len(set(names)) == len(names)
    assert [one.name for one in chosen(["sr-mix", "beam"])] == ["beam", "sr-mix"]


@pytest.mark.parametrize(
    ("name", "metric", "distinct"),
    [
        ("sr-metric", "mlbertscore:model={}", False),
        ("sr-distinct", "mlbertscore:model={}", True),
        ("sr-mix", "mix:mlbertscore=0.7,mlbertscore.model={},likelihood=0.3", False),
    ],
)
def test_samples_and_what_ranks_them(name: str, metric: str, distinct: bool) -> None:
    [decoder] = chosen([name])
    plan = Plan(Path("work"), Sizes(), (decoder,), 1)
    command = plan.decode(decoder).command
    folder = plan.metric.removeprefix("mlbertscore:model=")
    assert command[command.index("--search-metric") + 1] == metric.format(folder)
    assert ("--sr-without-replacement" in command) == distinct
