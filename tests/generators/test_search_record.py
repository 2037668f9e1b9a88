"""--search-record: what it holds of every decoder, and what is refused."""

from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.pictures.record_file import read_records
from tests.generators.harness import DECODERS, Setup, load, run_generate
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow

SENTENCES = (3, 20, 21)
MCTS = ("--search", "mcts", "--mcts-simulations", "6", "--max-len-b", "20")


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


@pytest.mark.parametrize("decoder", list(DECODERS))
def test_searches_of_every_decoder(decoder: str, setup: Setup, tmp_path: Path) -> None:
    """The record spells the translation, which it does not change."""
    options: dict[str, Any] = {**DECODERS[decoder], "max_len_b": 15}
    plain = setup.generate(SENTENCES, **options)
    path = tmp_path / "searches.jsonl.gz"
    found = setup.generate(
        SENTENCES,
        batch_size=2,
        search_record=str(path),
        search_record_sentences="20,21",
        **options,
    )
    records = read_records(path)
    assert records.keys() == {20, 21}
    symbols = setup.task.target_dictionary.symbols
    for number in SENTENCES:
        tokens = found[number][0]["tokens"].tolist()
        assert tokens == plain[number][0]["tokens"].tolist()
        if number not in records:
            continue
        record = records[number]
        pieces = [symbols[token] for token in tokens]
        assert record["output"] == pieces
        assert record["search"] == options["search"]
        if record["kind"] == "tree":
            chosen = [step["piece"][step["chosen"][0]] for step in record["steps"]]
            visits = [step["visits"][step["chosen"][0]] for step in record["steps"]]
            assert chosen[-1] == symbols[setup.task.target_dictionary.eos()]
            # MBR may take another of the sentences that the search has met
            if options["search"] == "mcts" or chosen == pieces:
                assert visits == list(found[number][0]["visits"])
                assert chosen == pieces
        else:
            assert [record["piece"][node] for node in record["chosen"]] == pieces
        if record["kind"] == "samples":  # scores of all, whatever --nbest is
            assert all(record["score"][end] is not None for end in record["samples"])


def test_a_file_of_fairseq_generate(trained: Trained, tmp_path: Path) -> None:
    path = tmp_path / "new" / "searches.jsonl"
    run_generate(
        trained, *MCTS, "--max-tokens", "400", "--search-record", str(path), results=tmp_path
    )
    assert read_records(path).keys() >= {0, 49}


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"search": "beam", "search_record": "x"}, "--search-record x: has no effect with"),
        (
            {"search": "mcts", "search_record_sentences": "1"},
            "--search-record-sentences 1: has no effect without --search-record",
        ),
        (
            {"search": "mcts", "search_record": "x", "search_record_sentences": "b"},
            "--search-record-sentences b: expected numbers",
        ),
        (
            {"search": "mcts", "search_record": "/proc/none/x"},
            "--search-record /proc/none/x: can't write there",
        ),
    ],
)
def test_refusals(
    options: dict[str, Any],
    complaint: str,
    setup: Setup,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ValueError, match=complaint):
        setup.generator(**options)
