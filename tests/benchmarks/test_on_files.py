"""The benchmarks that read checkpoints and binarised data, on those of a random network."""

from pathlib import Path

import exact_reuse
import pytest
import relabelling

import tests.generators.vowels  # noqa: F401 - registers the metric
from fairseq_mcts.register import register

FEW = ("--sentences", "2", "--check", "1", "--budget", "3", "--max-len", "5")


@pytest.fixture(scope="module")
def trained(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """The options that name a dual-head network and its data."""
    register()
    folder = tmp_path_factory.mktemp("exact-reuse")
    relabelling.write_corpus(folder, "tiny", rows=2, seed=1)
    checkpoint = folder / "checkpoint.pt"
    family = "dual_head_multiquery_transformer"
    relabelling.write_checkpoint(folder, "tiny", 1, checkpoint, family)
    return ("--path", str(checkpoint), "--data", str(folder), "--subset", "train")


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
        assert 0 < one.parts["made"] < one.parts["charged"]


def test_reuse_of_another_search_is_noticed(
    trained: tuple[str, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    like = exact_reuse.like

    def with_another_budget(kind: type, options: object) -> object:
        changed = like(kind, options)
        name = "beam" if hasattr(changed, "beam") else "simulations"
        return kind(**{**vars(changed), name: 1 + getattr(changed, name)})

    monkeypatch.setattr(exact_reuse, "like", with_another_budget)
    report = exact_reuse.main((*trained, *FEW))
    assert len(report.comparisons) == 4  # without a metric
    assert {one.verdict for one in report.comparisons} == {"NOT met: outputs differ"}


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
