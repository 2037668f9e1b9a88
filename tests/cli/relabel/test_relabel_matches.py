"""fairseq-mcts-relabel keeps the matches of tokens that a metric tells: resumable, or left out."""

import json
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from fairseq.data import Dictionary

from examples.common.join_scored import link_split
from fairseq_mcts.cli import relabel
from fairseq_mcts.data.scored_folder import ScoredSplit, SplitNames, open_scored_split
from fairseq_mcts.data.similarities import similarities_of
from fairseq_mcts.metrics import register_metric
from fairseq_mcts.metrics.base import FloatArray, IntArray, PairMatches
from tests.cli.relabel import forked
from tests.cli.relabel.forked import KILLED
from tests.cli.relabel.runs import CHUNKS, POLICY, Letters, complaint, content, relabelled

MATCHED = (*POLICY, *CHUNKS, "--subset", "valid", "--metric", "numerals", "--samples", "2")


@register_metric("numerals")
class Numerals(Letters):
    """Words match if their numbers do: u3 and w3."""

    matches_tokens = True

    def token_matches(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[PairMatches]:
        return [_matches(*pair) for pair in zip(hypotheses, others, strict=True)]


def numeral_matches(words: Sequence[str], others: Sequence[str]) -> FloatArray:
    """[T, S]"""
    same = [[1.0 if one[1:] == other[1:] else -0.25 for other in others] for one in words]
    return np.array(same).reshape(len(words), len(others))


def _matches(*texts: str) -> PairMatches:
    """Pieces are single letters."""
    pieces = [[word for word in text.split() for _ in word] for text in texts]
    return PairMatches(numeral_matches(*pieces), *map(_letters, texts))


def _letters(text: str) -> IntArray:
    places = [place for place, letter in enumerate(text) if not letter.isspace()]
    return np.array([(place, place + 1) for place in places], np.int64).reshape(-1, 2)


@pytest.fixture(scope="module")
def matched(folder: Path) -> Path:
    """The result of an undisturbed run."""
    report = relabelled(folder, *MATCHED, "--out", "matched").out
    assert "matches of tokens: in 42 rows" in report
    return folder / "matched"


def opened(out: Path) -> ScoredSplit:
    return open_scored_split(SplitNames(out, "valid", "en", "de"))


def test_tokens_have_the_matches_that_the_metric_tells(matched: Path) -> None:
    split = opened(matched)
    assert split.record["similarities"] is True
    assert split.record["counts"]["rows_with_matches"] == len(split.scores) == 42
    assert split.similarities is not None
    dictionary = Dictionary.load(str(matched / "dict.de.txt"))
    for row in range(len(split.scores)):
        source, sample = (
            dictionary.string(one[row]).split() for one in (split.sources, split.samples)
        )
        expected = np.full((len(sample) + 1, len(source) + 1), np.nan)  # of eos, too
        expected[:-1, :-1] = numeral_matches(sample, source)
        found = similarities_of(split.similarities[row]).numpy()
        np.testing.assert_allclose(found, expected.ravel(), atol=1e-6)


def test_killed_they_are_the_same(folder: Path, matched: Path) -> None:
    options = (*MATCHED, "--out", "matched and killed")

    def has_begun() -> bool:
        return bool(list((folder / "matched and killed").rglob("chunk-*.npz")))

    assert forked.run(relabel.main, folder, options, kill_when=has_begun).code == KILLED
    relabelled(folder, *options)
    ours = content(folder / "matched and killed")
    assert ours == content(matched)
    assert "valid.en-de.similarities.bin" in ours


def test_by_shards_they_are_the_same(folder: Path, matched: Path) -> None:
    for shard in ("1/2", "0/2"):
        relabelled(folder, *MATCHED, "--out", "matched in shards", "--shard", shard)
    relabelled(folder, "bin", "--subset", "valid", "--out", "matched in shards", "--merge")
    assert content(folder / "matched in shards") == content(matched)


def test_they_can_be_left_out(folder: Path, matched: Path) -> None:
    relabelled(folder, *MATCHED, "--no-matches", "--out", "unmatched")
    ours, theirs = content(folder / "unmatched"), content(matched)
    assert {name for name in theirs if ".similarities." in name} == theirs.keys() - ours.keys()
    for name in ours.keys() - {"valid.en-de.relabel.json"}:
        assert ours[name] == theirs[name]
    assert "similarities" not in json.loads(ours["valid.en-de.relabel.json"])
    assert opened(folder / "unmatched").similarities is None
    for options, out, change in (
        (MATCHED, "unmatched", "similarities was null, is now true"),
        ((*MATCHED, "--no-matches"), "matched", "similarities was true, is now null"),
    ):
        assert change in complaint(folder, *options, "--out", out)
    letters = [*MATCHED, "--no-matches", "--out", "none"]
    letters[letters.index("numerals")] = "letters"
    assert "--no-matches: --metric letters can't tell any" in complaint(folder, *letters)


def test_joined_folders_carry_them(folder: Path, matched: Path) -> None:
    out = folder / "joined with matches"
    out.mkdir()
    for name in ("train", "train1"):
        link_split(matched, "valid", out, name)
        joined = open_scored_split(SplitNames(out, name, "en", "de"))
        assert joined.similarities is not None
    relabelled(folder, *MATCHED, "--no-matches", "--out", "unmatched-too")
    link_split(folder / "unmatched-too", "valid", out, "train")
    assert not list(out.glob("train.en-de.similarities.*"))
    assert list(out.glob("train1.en-de.similarities.*"))
