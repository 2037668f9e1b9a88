"""Numbers and files that no decoder can use are refused by name, before anything is allocated."""

import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.generators.harness import Setup, load, run_generate
from tests.generators.trained import Trained

MCTS = {"search": "mcts", "mcts_simulations": 4}
BILLION = 10**9


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


@pytest.mark.parametrize("search", [MCTS, {}], ids=["mcts", "fairseq's beam"])
@pytest.mark.parametrize(
    ("option", "given"),
    [
        ("max_len_a", math.inf),
        ("max_len_a", math.nan),
        ("max_len_a", 1e308),
        ("nbest", 0),
        ("nbest", -1),
        ("min_len", -1),
        ("unkpen", math.nan),
        ("unkpen", math.inf),
        ("no_repeat_ngram_size", -1),
        ("prefix_size", -1),  # would take all but the last token of each reference
        ("beam", 0),
        ("lenpen", math.nan),
        ("lenpen", 1e308),
        ("sampling_topp", math.nan),
        ("diverse_beam_strength", math.nan),
        ("diversity_rate", math.inf),
        ("lm_weight", math.nan),
        ("temperature", math.nan),
        ("temperature", 0.0),
    ],
)
def test_fairseqs_own(setup: Setup, search: dict[str, Any], option: str, given: float) -> None:
    expected = re.escape(f"--{option.replace('_', '-')} {given}: must")
    with pytest.raises(ValueError, match=f"^{expected}"):
        setup.generator(**search, **{option: given})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({**MCTS, "search_memory": math.nan}, "--search-memory nan: must be a number"),
        ({**MCTS, "search_memory": 1e308}, r"--search-memory 1e\+308: must be a number"),
        ({"sampling": True, "sampling_topk": BILLION}, f"--sampling-topk {BILLION}: the dict"),
        ({"search": "mcts", "search_budget": BILLION}, "--search-budget: must be at most"),
        ({"search": "vgbs", "search_budget": BILLION}, "--search-budget: must be at most"),
        ({"search": "mcts", "mcts_simulations": BILLION}, "--mcts-simulations: must be at most"),
        ({"search": "mcts", "mcts_simulations": 2**40}, "--mcts-simulations: must be at most"),
        ({**MCTS, "mcts_actions": BILLION}, "--mcts-actions: must be at most"),
        ({**MCTS, "mcts_leaves": BILLION}, "--mcts-leaves: must be at most"),
        ({**MCTS, "mcts_prefetch": BILLION}, "--mcts-prefetch: must be at most"),
        ({"search": "sr", "sr_samples": BILLION}, "--sr-samples: must be at most"),
        ({"search": "vgbs", "vgbs_beam": 10**5}, "--vgbs-beam: must be at most 10,000"),
        (
            {"search": "sr", "sr_samples": 10**5, "sr_without_replacement": True},
            "--sr-samples: must be at most 10,000: 100000 .without replacement",
        ),
    ],
)
def test_the_searches_own(setup: Setup, options: dict[str, Any], complaint: str) -> None:
    with pytest.raises(ValueError, match=f"^{complaint}"):
        setup.generator(**options)


def test_lengths_that_leave_fairseqs_beam_no_room_are_named(setup: Setup) -> None:
    with pytest.raises(ValueError, match=r"^--min-len 9: exceeds .* --max-len-b 5 and the model's"):
        setup.generate([0], min_len=9, max_len_b=5)


def test_many_simulations_take_no_memory_before_they_are_made(setup: Setup) -> None:
    """A million of them; 0.001 MiB do not hold the first few dozen."""
    options = {"search": "mcts", "mcts_simulations": 10**6, "search_memory": 0.001}
    with pytest.raises(ValueError, match=r"^sentence 0: --search-memory is too little"):
        setup.generate([0], **options)


def test_more_actions_than_tokens_are_all_tokens_and_take_no_more_room(setup: Setup) -> None:
    """A million of them for each of the first prefixes would be gigabytes."""
    every = len(setup.task.target_dictionary)
    few = {"search": "mcts", "mcts_simulations": 4, "max_len_b": 3}
    expected = setup.generate([0, 1], **few, mcts_actions=every)
    generator = setup.generator(**few, mcts_actions=10**6)
    found = generator.translate(setup.sources([0, 1]))
    assert [list(one[0].tokens) for one in found] == [
        expected[number][0]["tokens"].tolist() for number in (0, 1)
    ]
    assert generator.statistics.peak_bytes < 2**24


@pytest.mark.parametrize("share", [0.0, 0.005, 0.5, 0.99])
@pytest.mark.parametrize("option", ["--path", "--value-path"])
def test_half_a_checkpoint_is_named(
    trained: Trained, tmp_path: Path, option: str, share: float
) -> None:
    content = trained.dual.read_bytes()
    path = tmp_path / "half.pt"
    path.write_bytes(content[: int(share * len(content))])
    with pytest.raises(ValueError, match=f"{path}: is no whole checkpoint"):
        run_generate(trained, "--search", "mcts", option, str(path), results=tmp_path)


def test_n_best_are_all_that_the_tree_has_met(
    setup: Setup, trained: Trained, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    options = {"search": "mcts", "mcts_simulations": 30, "max_len_b": 10}
    found = setup.generate(range(20), **options, nbest=50)
    best = setup.generate(range(20), **options)
    counts = [len(several) for several in found.values()]
    assert max(counts) > 5
    for number, several in found.items():
        assert several[0]["tokens"].tolist() == best[number][0]["tokens"].tolist()
        others = [one["value"] for one in several[1:]]
        assert others == sorted(others, reverse=True)
        assert len({tuple(one["tokens"].tolist()) for one in several}) == len(several)
    caplog.set_level("INFO")
    flags = ("--search", "mcts", "--mcts-simulations", "5", "--max-len-b", "8", "--nbest", "50")
    run_generate(trained, *flags, results=tmp_path)
    assert "--nbest 50: 95 of 95 sentences have fewer hypotheses, one of them " in caplog.text


def test_a_full_disk_under_the_hypotheses_is_named(setup: Setup) -> None:
    options = {**MCTS, "search_json": "/dev/full", "search_post_process": "sentencepiece"}
    with pytest.raises(ValueError, match=r"^--search-json /dev/full: can't write there: .*space"):
        setup.generate(range(2), **options)
