"""Each benchmark at a toy size: it runs, and what it calls equal can come out unequal."""

from pathlib import Path

import against_ctranslate2
import against_greedy
import against_listing
import beam_by_evaluator
import gpu
import growth
import gumbel_root
import joining
import listing_mcts
import listing_sampling
import listing_states
import multiquery
import networks
import numpy as np
import overhead
import prefetch
import products
import pytest
import torch

TOY = ("--size", "tiny", "--repeats", "1")
FEW = (*TOY, "--sentences", "3")
SEARCH = (*FEW, "--simulations", "4")


def test_overhead_replays_the_very_same_network() -> None:
    report = overhead.main(SEARCH)
    assert [one.outputs_equal for one in report.comparisons] == [True, True]
    for one in report.comparisons:
        assert one.parts["rows"] > one.parts["calls"] > 0
        assert one.figure == one.parts["search s"] / one.parts["network s"]


def test_the_rules_at_the_root_are_timed_each() -> None:
    report = gumbel_root.main(SEARCH)
    assert len(report.comparisons) == 2 * 3 * (len(gumbel_root.RULES) - 1)
    for one in report.comparisons:
        parts = one.parts
        if one.compared.endswith("whole"):
            assert 0 < parts["made / charged"] <= 1
        else:
            added = parts["walk µs"] - parts["of pUCT µs"]
            assert one.figure == pytest.approx(1 + added / parts["all of pUCT µs"])


def test_overhead_sees_another_value() -> None:
    values = [np.array([0.25, 0.5]), np.array([0.75])]
    assert overhead.same_values(values, [one.copy() for one in values])
    assert not overhead.same_values(values, [values[0], np.array([0.7501])])
    assert not overhead.same_values(values, values[:1])


def test_listing_gives_the_same_translations() -> None:
    report = against_listing.main((*SEARCH, "--rollout-simulations", "2"))
    names = [one.compared.partition(" (")[0] for one in report.comparisons]
    # beams and samples in two ways each
    assert names == ["V-MCTS"] * 2 + ["VGBS"] * 4 + ["S+RV"] * 4 + ["MCTS+Roll"]
    for one in report.comparisons:
        assert one.outputs_equal is True, one.compared
        assert one.parts["rows rival"] > one.parts["rows here"]
        assert one.parts["rows rival"] > one.parts["rows in vain"] >= 0


# an error in each of the listing's searches: another choice, another beam, another sample
ERRORS = {
    "V-MCTS": (
        listing_mcts.TokenSearch,
        "chosen",
        lambda search: np.ones(len(search.rows), np.int64),
    ),
    "VGBS": (
        listing_states.RowsInDictionary,
        "values",
        lambda rows, tokens: torch.zeros(len(tokens)),
    ),
    "S+RV": (listing_sampling, "uniform", lambda seed, sample, position: 0.5),
}


@pytest.mark.parametrize("search", ERRORS)
def test_a_listing_with_an_error_is_noticed(search: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(*ERRORS[search])
    report = against_listing.main((*SEARCH, "--only", search))
    listed = [one for one in report.comparisons if "by the listing" in one.compared]
    assert len(listed) == 2
    assert {one.verdict for one in listed} == {"NOT met: outputs differ"}


def test_against_greedy() -> None:
    report = against_greedy.main(SEARCH)
    assert all(0 < one.parts["made / charged"] < 1 for one in report.comparisons)


def test_prefetching_saves_calls_and_changes_nothing() -> None:
    report = prefetch.main(SEARCH)
    assert len(report.comparisons) == 4
    for one in report.comparisons:
        assert one.outputs_equal is True
        assert one.parts["calls with / without"] < 1 <= one.parts["rows with / without"]


def test_joining_fills_calls_and_changes_nothing() -> None:
    report = joining.main((*SEARCH, "--sentences", "70"))
    ratios = [one for one in report.comparisons if one.outputs_equal is not None]
    assert len(ratios) == 4
    for one in ratios:
        assert one.outputs_equal is True
        assert one.parts["fill, joined"] > one.parts["fill, batches"]


def test_beam_by_evaluator_gives_fairseqs_translations() -> None:
    report = beam_by_evaluator.main(FEW)
    assert [one.outputs_equal for one in report.comparisons] == [True, True]


def test_beam_by_evaluator_sees_other_lengths(monkeypatch: pytest.MonkeyPatch) -> None:
    shorter = networks.limits(max_len_b=networks.MIN_LENGTH)
    ours = networks.search_generator
    monkeypatch.setattr(
        networks,
        "search_generator",
        lambda model, options, **given: ours(model, options, shorter, **given),
    )
    report = beam_by_evaluator.main(FEW)
    assert {one.verdict for one in report.comparisons} == {"NOT met: outputs differ"}


def test_ctranslate2_gives_the_same_translations() -> None:
    pytest.importorskip("ctranslate2", reason="a dependency of this benchmark alone")
    report = against_ctranslate2.main(FEW)
    assert report.comparisons[0].outputs_equal is True


def test_products_are_a_part_of_beam_search() -> None:
    report = products.main(FEW)
    assert {point["layer"] for point in report.series} == set(products.layer_shapes("tiny"))
    for one in report.comparisons:
        assert 0 < one.parts["products s"] < one.parts["evaluator s"]


def test_multiquery_compares_networks_of_one_size(tmp_path: Path) -> None:
    grid = ("--rows", "4", "8", "--lengths", "2", "16", "--steps", "1")
    report = multiquery.main((*TOY, *grid, "--plot", str(tmp_path / "plot.png")))
    counts = report.settings["parameters of the decoders"].values()
    assert max(counts) / min(counts) < 1.001
    assert len(report.series) == 4
    for point in report.series:
        # four heads keep a key and a value each, here all share one of a quarter of the width
        assert point["multi-head cache MiB"] == 4 * point["multi-query cache MiB"]
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_growth_fits_lines(tmp_path: Path) -> None:
    sweeps = ("--simulations", "1", "3", "--length", "2", "4", "--sentences")
    larger = ("--vocabulary", "300", "500", "--corpus", "33", "65")
    report = growth.main((*TOY, *sweeps, *larger, "--plot", str(tmp_path / "plot.png")))
    assert [one.compared for one in report.comparisons] == [
        "cost over simulations: worst point / line",
        "cost over length: worst point / line",
        "cost over vocabulary: worst point / line",
        "memory over the number of sentences: most / least",
        "cost over corpus: worst point / line",
    ]
    assert {point["sweep"] for point in report.series} == {*growth.UNITS} - {"sentences"}
    assert (tmp_path / "plot.png").stat().st_size > 1000


def test_growth_notices_a_cliff() -> None:
    slope, offset, worst = growth.fit([1, 2, 3, 4], [3.0, 5.0, 7.0, 9.0])
    assert (slope, offset, worst) == pytest.approx((2.0, 1.0, 1.0))
    _, _, worst = growth.fit([1, 2, 3, 4, 5], [1.0, 2.0, 8.0, 4.0, 5.0])
    assert worst > growth.WORST_BAR
    with pytest.raises(ValueError, match="two points"):
        growth.fit([1], [1.0])


def test_the_table_for_gpus_on_a_cpu(tmp_path: Path) -> None:
    few = ("--size", "tiny", "--repeats", "1", "--simulations", "3", "--sentences", "3")
    path = tmp_path / "table.md"
    table = gpu.main((*few, "--device", "cpu", "--no-growth", "--table", str(path)))
    assert path.read_text(encoding="utf-8") == table
    for name in ("against beam", "overhead", "joining", "beam by the evaluator"):
        assert f"| {name} | tiny |" in table
    if not torch.cuda.is_available():
        with pytest.raises(SystemExit, match="sees no GPU here"):
            gpu.main(few)
