"""The benchmarks that read checkpoints and binarised data, on those of a random network."""

from pathlib import Path
from typing import Any

import against_greedy
import dtype
import exact_reuse
import leaves
import pytest
import relabelling
import torch
import trained as trained_models
import without_memory
from torch import nn

import tests.generators.vowels  # noqa: F401 - registers the metric
from fairseq_mcts.register import register

FEW = ("--sentences", "2", "--check", "1", "--budget", "3", "--max-len", "5")


@pytest.fixture(scope="module")
def saved(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, str]:
    """A folder of data and a dual-head network's checkpoint."""
    register()
    folder = tmp_path_factory.mktemp("exact-reuse")
    relabelling.write_corpus(folder, "tiny", rows=3, seed=1)
    checkpoint = folder / "checkpoint.pt"
    family = "dual_head_multiquery_transformer"
    relabelling.write_checkpoint(folder, "tiny", 1, checkpoint, family)
    return str(folder), str(checkpoint)


@pytest.fixture
def trained(saved: tuple[str, str]) -> tuple[str, ...]:
    """The options that name them."""
    data, checkpoint = saved
    return ("--path", checkpoint, "--data", data, "--subset", "train")


def test_a_trained_model_is_compared_with_its_greedy(
    trained: tuple[str, ...], capsys: pytest.CaptureFixture[str]
) -> None:
    size = ("--size", "tiny", "--repeats", "1", "--sentences", "2", "--simulations", "3")
    report = against_greedy.main((*size, *trained))
    assert [one.parts["greedy s"] > 0 for one in report.comparisons] == [True, True]
    with pytest.raises(SystemExit):
        against_greedy.main((*size, *trained[:2]))
    assert "--path and --data: give both or neither" in capsys.readouterr().err


def test_reuse_is_exact_for_all_decoders(trained: tuple[str, ...]) -> None:
    report = exact_reuse.main((*trained, *FEW, "--metric", "vowels"))
    names = [one.compared.partition(":")[0] for one in report.comparisons]
    assert names == [
        *("V-MCTS (privileged)", "V-MCTS (unprivileged)"),
        *("VGBS (α=0.5, beam 2)", "VGBS (α=0.9, beam 2)"),
        *("S+R (τ=0.25)", "S+R (τ=0.75)", "MCTS+Roll (unprivileged)"),
    ]
    for one in report.comparisons:
        assert one.outputs_equal is True, one.compared
        assert one.parts["of these in float64 only"] == 0
        assert 0 < one.parts["made"] < one.parts["charged"]


def test_reuse_of_another_search_is_noticed(
    trained: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    like = without_memory.like

    def with_another_budget(kind: type, options: object) -> object:
        changed = like(kind, options)
        name = "beam" if hasattr(changed, "beam") else "simulations"
        return kind(**{**vars(changed), name: 1 + getattr(changed, name)})

    monkeypatch.setattr(without_memory, "like", with_another_budget)
    report = exact_reuse.main((*trained, *FEW))
    assert len(report.comparisons) == 4  # without a metric
    assert {one.verdict for one in report.comparisons} == {"NOT met: outputs differ"}


def test_memory_that_gives_wrong_answers_is_noticed(
    trained: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    ask = without_memory.Sentence.ask

    def with_another_value(
        sentence: without_memory.Sentence, number: int, prefix: tuple[int, ...]
    ) -> tuple[list[float], float]:
        logprobs, value = ask(sentence, number, prefix)
        return logprobs, value if len(prefix) < 2 else -value

    monkeypatch.setattr(without_memory.Sentence, "ask", with_another_value)
    report = exact_reuse.main((*trained, *FEW, "--budget", "12"))
    assert "NOT met: outputs differ" in {one.verdict for one in report.comparisons}


def test_rounding_is_told_from_errors(
    trained: tuple[str, ...], monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    translate = without_memory.translate

    def wrong_in_float32(
        sentence: without_memory.Sentence, options: Any, rules: Any, seed: int
    ) -> without_memory.Translation:
        right = translate(sentence, options, rules, seed)
        if next(sentence.policy.parameters()).dtype == torch.float64:
            return right
        return without_memory.Translation(right.tokens, right.charged + 1)

    monkeypatch.setattr(without_memory, "translate", wrong_in_float32)
    report = exact_reuse.main((*trained, *FEW, "--only", "V-MCTS"))
    for one in report.comparisons:
        assert one.outputs_equal is True
        assert one.parts["of these in float64 only"] == one.parts["equal"] == 1
    assert capsys.readouterr().out.count("without, in torch.float32") == 2


SEARCHED = ("--size", "tiny", "--repeats", "1", "--simulations", "3", "--subset", "train")


def test_leaves_on_a_saved_model(saved: tuple[str, str]) -> None:
    data, checkpoint = saved
    few = ("--simulations", "12", "--sentences", "2")
    report = leaves.main((data, "--path", checkpoint, *SEARCHED, *few))
    assert [point["leaves"] for point in report.series] == list(leaves.LEAVES)
    calls = [point["network_calls"] for point in report.series]
    assert calls[-1] < calls[0]


def test_dtype_on_a_saved_model(saved: tuple[str, str]) -> None:
    data, checkpoint = saved
    report = dtype.main((data, "--path", checkpoint, *SEARCHED, "--sentences", "3"))
    assert len(report.series) == 3  # products of three shapes
    [compared] = report.comparisons
    assert compared.figure == compared.parts["float32 seconds"] / compared.parts["int8 seconds"]
    for name in ("share unchanged", "share equal with batches of 7"):
        assert 0.0 <= compared.parts[name] <= 1.0


def test_searches_really_multiply_in_int8(saved: tuple[str, str]) -> None:
    data, checkpoint = saved
    loaded = trained_models.load(Path(checkpoint), Path(data), "train", 3)
    translator = leaves.Translator(loaded)
    exact, _, _ = translator.decode(1, 3)
    with dtype.int8_steppers():
        rounded, _, _ = translator.decode(1, 3)
    again, _, _ = translator.decode(1, 3)
    values = [[one["value"] for one in found] for found in (exact, rounded, again)]
    assert values[0] == values[2] != values[1]


def test_int8_products_are_near_those_of_float32() -> None:
    torch.manual_seed(1)
    layer = nn.Linear(32, 64)
    x = torch.randn(5, 32)
    with torch.no_grad():
        expected = layer(x)
        found = dtype.int8_linear(layer)(x)
    error = float((found - expected).abs().max())
    assert 0.0 < error < 0.05 * float(expected.abs().max())


@pytest.mark.slow
def test_two_shards_write_what_one_process_does() -> None:
    report = relabelling.main(("--size", "tiny", "--sentences", "6", "--chunk-rows", "2"))
    [compared] = report.comparisons
    assert compared.outputs_equal is True
    assert compared.figure == compared.parts["one s"] / compared.parts["two s"]


def test_other_files_are_noticed(tmp_path: Path) -> None:
    for name, text in (("one", "a"), ("two", "a"), ("three", "b")):
        (tmp_path / name).mkdir()
        (tmp_path / name / "train.en-de.score").write_text(text)
        (tmp_path / name / "log.txt").write_text(name)  # differs always
    one, two, three = (relabelling.content(tmp_path / name) for name in ("one", "two", "three"))
    assert one == two != three
