"""What can be swept, and what is tried unless values are given."""

from fairseq_mcts.decoding.caution import parse_value_read
from fairseq_mcts.tuning.sweepable import sweepable


def test_values_to_try() -> None:
    found = sweepable()
    assert found["sr-without-replacement"] == ["no", "yes"]
    assert found["lenpen"] == []  # of fairseq: the user says what
    assert [parse_value_read(one) for one in found["value-read"]] == [0.0, 0.5, 1.0]
