"""A binarised data folder with scores: source x, sample ŷ, reference y and score(ŷ) in each row.

A source may have several rows, one after the other.

For a split and the languages s and t the folder holds

    SPLIT.s-t.s.bin/.idx            sources
    SPLIT.s-t.t.bin/.idx            samples; in the target's place, so that fairseq's own
                                    translation task reads the folder as pairs (x, ŷ)
    SPLIT.s-t.reference.t.bin/.idx  references, under a name that fairseq never looks for
    SPLIT.s-t.score.npy             float32 [N]; its presence tells that the split has scores
    SPLIT.s-t.rows.npy              [N] of ROW: which source a row is of, and what its score means.
                                    Folders of format 1 lack it: there each row is a source of its
                                    own, and its score counts for all prefixes of the sample
    SPLIT.s-t.similarities.bin/.idx [tokens of the sample · of the source] of each row: how similar
                                    they are (see data/similarities.py); only if the metric could
                                    tell
    SPLIT.s-t.relabel.json          how the split was made: metric, policy, decoding, figures
    dict.s.txt, dict.t.txt          the dictionaries

Sentences and scores are memory-mapped: opening a folder of millions of rows loads none of them.
"""

import json
import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt
from fairseq.data import data_utils, indexed_dataset

from fairseq_mcts.data.array_file import ArrayFileWriter
from fairseq_mcts.data.similarities import CODES
from fairseq_mcts.data.token_checks import check_sentences
from fairseq_mcts.data.token_file import TokenFileWriter, TokenRows

Scores = npt.NDArray[np.float32]
Rows = npt.NDArray[Any]  # of ROW

ROW = np.dtype(
    [
        ("source", np.int64),  # number of the source; those of a split ascend
        # The score is that of prefixes of at least so many tokens of y1 .. yn eos: 0 are all of
        # them, n + 1 is the finished sentence alone.
        ("first", np.int32),
        ("method", np.int8),  # how the sample was made: a place in the record's "methods"
    ]
)

_BLOCK = 2**20  # scores looked at together


class ScoredDataError(ValueError):
    """A data folder that lacks scores or holds ones that can't be trained on."""


class SplitNames:
    """The files of one split."""

    def __init__(self, folder: Path, split: str, source_lang: str, target_lang: str) -> None:
        self.folder = folder
        self.split = split
        self.source_lang = source_lang
        self.target_lang = target_lang
        self.pair = f"{split}.{source_lang}-{target_lang}"
        self.source = folder / f"{self.pair}.{source_lang}"
        self.sample = folder / f"{self.pair}.{target_lang}"
        self.reference = folder / f"{self.pair}.reference.{target_lang}"
        self.similarities = folder / f"{self.pair}.similarities"
        self.score = folder / f"{self.pair}.score.npy"
        self.rows = folder / f"{self.pair}.rows.npy"
        self.record = folder / f"{self.pair}.relabel.json"

    def within(self, folder: Path) -> "SplitNames":
        """The same split in another folder."""
        return SplitNames(folder, self.split, self.source_lang, self.target_lang)

    def parts(self) -> list["SplitNames"]:
        """This split and, as fairseq counts them, SPLIT1, SPLIT2, … as far as they exist."""
        parts = [self]
        while True:
            split = f"{self.split}{len(parts)}"
            part = SplitNames(self.folder, split, self.source_lang, self.target_lang)
            if not part.source.with_name(part.source.name + ".idx").is_file():
                return parts
            parts.append(part)

    def has_scores(self) -> bool:
        """Whether the split was relabelled, to its end."""
        return self.score.is_file()


@dataclass(frozen=True)
class ScoredSplit:
    """An open split; row i of each is about the same sentence."""

    sources: Any  # fairseq's indexed datasets
    samples: Any
    references: Any
    scores: Scores  # [N], memory-mapped
    rows: Rows | None  # [N], memory-mapped; None: of format 1
    similarities: Any  # fairseq's indexed dataset, of codes; None: not known of any token
    record: dict[str, Any]


def open_scored_split(names: SplitNames) -> ScoredSplit:
    """Opens and checks a split; what is wrong is named by file and row."""
    if not names.has_scores():
        raise ScoredDataError(
            f"{names.score} does not exist: the folder has no scores; make them with "
            "fairseq-mcts-relabel"
        )
    record = read_record(names)
    scores: Scores = _mapped(names.score)
    if scores.dtype != np.float32 or scores.ndim != 1:
        raise ScoredDataError(
            f"{names.score}: expected float32 [N], found {scores.dtype} {list(scores.shape)}"
        )
    opened = []
    for prefix in (names.source, names.sample, names.reference):
        opened.append(_sentences(prefix))
        if len(opened[-1]) != len(scores):
            raise ScoredDataError(
                f"{prefix}.idx has {len(opened[-1])} rows but {names.score} has {len(scores)}"
            )
    low, high = score_range(record)
    row = first_bad_score(scores, low, high)
    if row is not None:
        what = "no number" if math.isnan(scores[row]) else f"outside [{low}, {high}]"
        raise ScoredDataError(f"{names.score}: row {row} has score {scores[row]}: {what}")
    sources, samples, references = opened
    rows = _open_rows(names, np.asarray(samples.sizes), record)
    has_them = record.get("similarities")
    similarities = _open_similarities(names, sources, samples) if has_them else None
    return ScoredSplit(sources, samples, references, scores, rows, similarities, record)


def _sentences(prefix: Path) -> Any:
    if not indexed_dataset.dataset_exists(str(prefix), impl="mmap"):
        raise ScoredDataError(f"{prefix}.bin or .idx is missing")
    check_sentences(prefix, vocabulary=None)
    return data_utils.load_indexed_dataset(str(prefix), None, "mmap")


def _open_similarities(names: SplitNames, sources: Any, samples: Any) -> Any:
    opened = _sentences(names.similarities)  # codes are looked at as rows are read: they are many
    if not np.array_equal(opened.sizes, sources.sizes * samples.sizes):
        raise ScoredDataError(f"{names.similarities}.idx: its rows are of other sentences")
    return opened


def _mapped(path: Path) -> npt.NDArray[Any]:
    try:
        array: npt.NDArray[Any] = np.load(path, mmap_mode="r", allow_pickle=False)
    except (ValueError, EOFError) as error:
        raise ScoredDataError(f"{path}: is no whole file of numbers ({error})") from error
    return array


def _open_rows(
    names: SplitNames,
    sample_sizes: npt.NDArray[np.int32],  # [N], eos counted
    record: dict[str, Any],
) -> Rows | None:
    if not names.rows.is_file():
        return None
    rows: Rows = _mapped(names.rows)
    if rows.dtype != ROW or rows.shape != sample_sizes.shape:
        raise ScoredDataError(
            f"{names.rows}: expected {ROW} [{len(sample_sizes)}], found {rows.dtype} "
            f"{list(rows.shape)}"
        )
    methods = record.get("methods", ())
    source, first, method = rows["source"], rows["first"], rows["method"]
    for wrong, what in (
        (np.flatnonzero(source[1:] < source[:-1]) + 1, "its source stands before the last row's"),
        (np.flatnonzero((first < 0) | (first > sample_sizes)), "its first prefix is none"),
        (np.flatnonzero((method < 0) | (method >= len(methods))), "its method has no name"),
    ):
        if len(wrong):
            raise ScoredDataError(f"{names.rows}: row {wrong[0]} is {rows[wrong[0]]}: {what}")
    return rows


def read_record(names: SplitNames) -> dict[str, Any]:
    """What the JSON file says about how the split was made."""
    try:
        record = json.loads(names.record.read_text(encoding="utf-8"))
    except FileNotFoundError:
        raise ScoredDataError(f"{names.record} is missing: it tells the metric's range") from None
    except ValueError as error:
        raise ScoredDataError(f"{names.record}: no JSON: {error}") from error
    if not isinstance(record, dict) or not isinstance(record.get("metric"), dict):
        raise ScoredDataError(f"{names.record}: does not tell the metric")
    return record


def score_range(record: dict[str, Any]) -> tuple[float, float]:
    """The bounds of the metric's scores; null in the file is unbounded."""
    low, high = record["metric"].get("range", (None, None))
    return -math.inf if low is None else low, math.inf if high is None else high


def first_bad_score(scores: Scores, low: float, high: float) -> int | None:
    """The first row whose score is no number or lies outside [low, high]."""
    for begin in range(0, len(scores), _BLOCK):
        block = np.asarray(scores[begin : begin + _BLOCK])
        # float32 as the scores are: 0.9 is then not outside of [0, 0.9]
        good = (block >= np.float32(low)) & (block <= np.float32(high))
        if not good.all():
            return begin + int(np.argmin(good))
    return None


class ScoredRows(NamedTuple):
    """R rows of a scored split."""

    sources: TokenRows
    samples: TokenRows
    references: TokenRows
    scores: Scores  # [R]
    rows: Rows  # [R]
    similarities: TokenRows | None = None  # of codes


class ScoredSplitWriter:
    """Writes a split row by row; the number of rows must be known, their content must not."""

    def __init__(
        self,
        names: SplitNames,
        num_rows: int,
        *,
        source_vocabulary: int,
        target_vocabulary: int,
        with_similarities: bool = False,  # whether rows come with them
    ) -> None:
        self._names = names
        self._sources = TokenFileWriter(names.source, source_vocabulary)
        self.samples = TokenFileWriter(names.sample, target_vocabulary)
        self.references = TokenFileWriter(names.reference, target_vocabulary)
        self._sentences = (self._sources, self.samples, self.references)
        self._similarities: TokenFileWriter | None = None
        if with_similarities:
            self._similarities = TokenFileWriter(names.similarities, CODES)
        self._num_rows = num_rows
        self._scores = ArrayFileWriter(names.score, np.float32, num_rows)
        self._rows = ArrayFileWriter(names.rows, ROW, num_rows)

    @property
    def _token_files(self) -> tuple[TokenFileWriter, ...]:
        similarities = () if self._similarities is None else (self._similarities,)
        return (*self._sentences, *similarities)

    @property
    def paths(self) -> list[Path]:
        """All files, the one that makes the split a scored one last."""
        sentences = [path for writer in self._token_files for path in writer.paths]
        return [*sentences, self._names.rows, self._names.record, self._names.score]

    def add(self, rows: ScoredRows) -> None:
        """Appends rows."""
        self._scores.add(rows.scores)
        self._rows.add(rows.rows)
        for writer, sentences in zip(self._sentences, rows[:3], strict=True):
            writer.add(sentences)
        if self._similarities is not None:
            assert rows.similarities is not None
            self._similarities.add(rows.similarities)

    def scores(self) -> Scores:
        """[N] all of them, once all rows were added."""
        self._refuse_missing()
        self._scores.flush()
        return _mapped(self._names.score)

    def _refuse_missing(self) -> None:
        written, expected = self.samples.rows, self._num_rows
        if written != expected:
            raise ScoredDataError(f"{self._names.score}: {written} of {expected} rows were written")

    def finish(self, record: dict[str, Any]) -> None:
        """Completes all files."""
        self._refuse_missing()
        for sentences in self._token_files:
            sentences.finish()
        for column in (self._scores, self._rows):
            column.finish()
        text = json.dumps(record, indent=2, ensure_ascii=False, sort_keys=True, allow_nan=False)
        self._names.record.write_text(text + "\n", encoding="utf-8")
