"""What a translation is said to have lost."""

from __future__ import annotations

import pytest

from fairseq_mcts.report.watch import Losses, find_losses, length_ratio


@pytest.mark.parametrize(
    ("source", "hypothesis", "reference", "losses"),
    [
        ("Anna sees 3 dogs.", "Anna sieht 3 Hunde.", "Anna sieht 3 Hunde.", ((), (), ())),
        (
            "Anna sees 3 dogs.",
            "Sie sieht dogs.",
            "Anna sieht 3 Hunde.",
            (("dogs",), ("3",), ("Anna",)),
        ),
        # the reference writes the number as a word, so nobody has lost it
        ("He has 3 dogs.", "Er hat drei Hunde.", "Er hat drei Hunde.", ((), (), ())),
        ("It cost 1,000 euros.", "Es kostete 1.000 Euro.", "Es kostete 1.000 Euro.", ((), (), ())),
        # without a reference
        ("Today Anna sees dogs.", "Heute sieht er Hunde.", None, ((), (), ("Anna",))),
        ("Anna sees dogs.", "Anna sieht dogs.", None, (("dogs",), (), ())),
        ("", "", "", ((), (), ())),
    ],
)
def test_losses(
    source: str, hypothesis: str, reference: str | None, losses: tuple[tuple[str, ...], ...]
) -> None:
    assert find_losses(source, hypothesis, reference) == Losses(*losses)


def test_length_ratio() -> None:
    assert length_ratio("ein Haus", "a big house, really") == 0.5
    assert length_ratio("ein Haus", "…") is None
