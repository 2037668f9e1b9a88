"""A disk that is full when a search has ended: the option whose file has no room is named."""

import errno
from collections.abc import Callable
from pathlib import Path
from typing import Any, cast

import numpy as np
import pytest
from fairseq.data import Dictionary

from fairseq_mcts.generators import tree_recorder
from fairseq_mcts.generators.search_record import BatchRecord, SearchRecord
from fairseq_mcts.generators.tree_recorder import TreeRecorder, WatchedSentence
from fairseq_mcts.search import TreeSnapshot, make_decoder
from fairseq_mcts.search.results import Evaluations, Hypothesis

SENTENCE = WatchedSentence((0,), (4, 2))


def tree() -> TreeSnapshot:
    """A root and its one child."""
    floats = {"priors", "values", "own_values", "edge_values", "opened_values"}
    counts = {"visits", "edge_visits", "slots", "landings"}
    columns: dict[str, Any] = {name: np.array([0.5, 0.5]) for name in floats}
    columns |= {name: np.array([0, 1], np.int32) for name in counts}
    columns |= {"parents": np.array([-1, 0]), "tokens": np.array([-1, 4]), "chosen": np.array([1])}
    return TreeSnapshot(0, (), choice="visits", value_range=(0.0, 1.0), **columns)


@pytest.fixture
def dictionary() -> Dictionary:
    dictionary = Dictionary()
    dictionary.add_symbol("word")
    return dictionary


def test_the_search_record(dictionary: Dictionary) -> None:
    decoder = make_decoder("mcts", {"simulations": 1})
    record = SearchRecord(Path("/dev/full"), decoder, dictionary, dictionary, frozenset({0}))
    watcher = cast("BatchRecord", record.watch([SENTENCE]))
    watcher.see_tree(tree())
    best = Hypothesis((4, 2), -1.0, (-0.5, -0.5), None, -1.0, Evaluations(1, 1))
    with pytest.raises(ValueError, match=r"^--search-record /dev/full: can't write there: .*space"):
        record.write([SENTENCE], watcher, [[best]])


@pytest.mark.parametrize("writer", ["save_tree", "draw_tree"])
def test_search_trees(
    writer: str, dictionary: Dictionary, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(tree: Any, path: Path) -> Callable[..., None]:
        raise OSError(errno.ENOSPC, "No space left on device", str(path))

    recorder = TreeRecorder(tmp_path, dictionary, dictionary, sentences=frozenset({0}))
    recorder.watch([SENTENCE])
    recorder.keep(SENTENCE, tree())
    monkeypatch.setattr(tree_recorder, writer, full)
    with pytest.raises(ValueError, match=f"^--search-trees {tmp_path}: can't write there: .*space"):
        recorder.write()
