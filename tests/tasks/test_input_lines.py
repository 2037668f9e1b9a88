"""Which of the lines that fairseq-interactive has read the rows of a batch are."""

import torch

from fairseq_mcts.tasks.input_lines import InputLines

PAD, EOS = 1, 2


def test_rows_have_the_numbers_of_their_lines() -> None:
    lines = InputLines()
    lines.read(5)
    lines.read(4)
    # the symbol <pad> in a line is a token like others, wherever it stands
    given = [[4, 5, EOS], [4, PAD, 5, EOS], [PAD, 7, EOS], [4, 5, EOS]]
    lines.dataset = [{"source": torch.tensor(one)} for one in given]
    on_the_left = [[PAD] * (5 - len(one)) + one for one in given]
    on_the_right = [one + [PAD] * (5 - len(one)) for one in given]
    for batch in (on_the_left, on_the_right):
        found = lines.numbers(torch.tensor(batch), PAD)
        assert found == [(5, 8), (6,), (7,), (5, 8)]
