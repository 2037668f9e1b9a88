"""The benchmarks of searches by a metric's encoder, on random networks."""

from pathlib import Path

import metric_arithmetic
import pytest
import relabelling
import rollouts

from fairseq_mcts.register import register
from tests.toy_encoder import save_toy_encoder

FEW = ("--repeats", "1", "--sentences", "3", "--budget", "4", "--max-len", "6", "--subset", "train")


@pytest.fixture(scope="module")
def given(tmp_path_factory: pytest.TempPathFactory) -> tuple[str, ...]:
    """Data, a policy and an encoder."""
    register()
    folder = tmp_path_factory.mktemp("metric-searches")
    relabelling.write_corpus(folder, "tiny", rows=3, seed=1)
    relabelling.write_checkpoint(folder, "tiny", 1, folder / "policy.pt")
    words = [" ".join(f"w{number}" for number in range(50))]
    save_toy_encoder(Path(folder / "encoder"), words)
    path, encoder = str(folder / "policy.pt"), str(folder / "encoder")
    return (str(folder), "--path", path, "--encoder", encoder, *FEW)


def test_shares_of_the_time(given: tuple[str, ...]) -> None:
    report = rollouts.main(given)
    assert [one.compared.partition(",")[0].partition(":")[0] for one in report.comparisons] == [
        *("MCTS+Roll", "MCTS+Roll", "S+R", "S+R"),
    ]
    for one in report.comparisons:
        parts = one.parts
        assert 0 < parts["products s"] < parts["encoder s"] < parts["metric s"] < parts["all s"]
        assert 0 < one.figure < 1


def test_other_arithmetic_ranks_and_the_exact_one_chooses(given: tuple[str, ...]) -> None:
    report = metric_arithmetic.main(given)
    speed, share = report.comparisons[:2]
    assert speed.figure == speed.parts["exact s"] / speed.parts["ranking s"]
    assert 0.0 <= share.figure <= 1.0


def test_all_candidates_scored_exactly_change_no_choice(given: tuple[str, ...]) -> None:
    report = metric_arithmetic.main((*given, "--best", "99"))
    assert {one.figure for one in report.comparisons[1::2]} == {1.0}
