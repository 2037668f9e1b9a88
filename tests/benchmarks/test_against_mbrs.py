"""The comparison with mbrs, on a few sentences; left out where the package is not installed."""

from pathlib import Path

import pytest

from tests.conftest import ParallelTexts


@pytest.mark.slow
def test_both_choose_the_same(tmp_path: Path, toy_encoder: Path, toy_pairs: ParallelTexts) -> None:
    pytest.importorskip("mbrs")
    import against_mbrs

    references = tmp_path / "references"
    references.write_text("\n".join(toy_pairs.targets[:5]), encoding="utf-8")
    report = against_mbrs.main(
        (
            *("--references", str(references), "--encoder", str(toy_encoder), "--layer", "3"),
            *("--sentences", "3", "--samples", "6", "--deviation", "0.2", "--repeats", "1"),
        )
    )
    names = [one.compared for one in report.comparisons]
    assert [name.removesuffix(": ours / mbrs") for name in names] == [
        *("chrF", "BLEU", "chrF, aggregated", "BLEU, aggregated", "BERTScore"),
    ]
    assert all(one.parts["ours s"] > 0 and one.parts["mbrs s"] > 0 for one in report.comparisons)
    assert all(one.parts["same choices"] >= 2 for one in report.comparisons)


def test_our_side_needs_no_package() -> None:
    """So that it does not rot where the other test is left out."""
    import against_mbrs

    from fairseq_mcts.metrics import build_metric

    candidates = [["ein Hund", "ein Hund", "die Katze"], ["das Haus", "das Haus", "ein Haus"]]
    for aggregated in (False, True):
        chosen = against_mbrs.choose(build_metric("chrf"), candidates, aggregated)
        assert chosen == ["ein Hund", "das Haus"]
