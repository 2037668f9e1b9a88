"""The dataset of samples with their scores, for the criterions `value` and `hybrid`."""

import logging
import math
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from fairseq.data import FairseqDataset, data_utils
from torch import Tensor

from fairseq_mcts.data.scored_folder import ScoredDataError, Scores
from fairseq_mcts.data.similarities import in_range, similarities_of
from fairseq_mcts.data.source_groups import SourceGroups

logger = logging.getLogger(__name__)

Indices = npt.NDArray[np.int64]
Sizes = npt.NDArray[np.int32]


class ScoredPairDataset(FairseqDataset):  # type: ignore[misc]
    """Sources x with their references and rows of sample ŷ = y1 .. yn eos and score(ŷ).

    An item is a source with all its rows, so that a batch keeps them together: its values can be
    compared, and its encoder runs once.

    The decoder is fed eos y1 .. yn eos, so that the value head also sees finished sentences. That
    is one token more than fairseq feeds: lengths here count n + 2 tokens of a sample. References
    go where sources go (the hybrid's second pathway encodes them), so they are limited and
    padded as sources are.
    """

    def __init__(
        self,
        sources: Any,  # of N rows, as all of these
        samples: Any,
        references: Any,
        scores: Scores,  # [N]
        *,
        pad: int,
        eos: int,
        groups: SourceGroups | None = None,  # None: each row is a source of its own
        first: Any = None,  # [N] see scored_folder.ROW; None: 0
        similarities: Any = None,  # of N rows, as codes
        rows_per_source: int | None = None,  # at most so many in a batch, others in each epoch
        left_pad_source: bool = True,
        shuffle: bool = True,
        pad_to_multiple: int = 1,
    ) -> None:
        lengths = [len(part) for part in (sources, samples, references, scores)]
        if len(set(lengths)) > 1:
            raise ScoredDataError(
                "sources, samples, references and scores differ in length: "
                + ", ".join(map(str, lengths))
            )
        self._sources = sources
        self._samples = samples
        self._references = references
        self._sentences = (sources, samples, references)
        self._scores = scores
        self._groups = SourceGroups.of(None, len(scores)) if groups is None else groups
        self._first = first
        self._similarities = similarities
        self._pad = pad
        self._eos = eos
        self._left_pad_source = left_pad_source
        self._shuffle = shuffle
        self._pad_to_multiple = pad_to_multiple
        self._rows_per_source = rows_per_source
        self._max_tokens: int | None = None  # of a batch
        self._seed = self._epoch = 1  # of the draw of rows

    def __len__(self) -> int:
        return len(self._groups)

    def __getitem__(self, index: int) -> dict[str, Any]:
        most = int(self._num_rows(index))
        rows = self._groups.drawn_rows(index, most, seed=self._seed, epoch=self._epoch)
        samples = [self._samples[row] for row in rows]
        for row, sample in zip(rows, samples, strict=True):
            if not len(sample) or sample[-1] != self._eos:
                raise ScoredDataError(f"row {row}: its sample does not end in eos")
        source = self._sources[rows[0]]
        item = {
            "id": index,
            "source": source,
            "target": self._references[rows[0]],
            "samples": samples,
            "scores": [float(self._scores[row]) for row in rows],
            "first": [0 if self._first is None else int(self._first[row]) for row in rows],
        }
        if self._similarities is not None:
            of_rows = zip(rows, samples, strict=True)
            item["similarities"] = [self._similarity(row, source, one) for row, one in of_rows]
        return item

    def _similarity(self, row: int, source: Tensor, sample: Tensor) -> Tensor:
        """float32 [T, S]; of a source that --truncate-source has cut, its eos is unknown."""
        codes = self._similarities[row].view(len(sample), -1)
        if not in_range(codes):
            raise ValueError(f"row {row}: its similarities are damaged: {codes.max()} is no code")
        found = similarities_of(codes)
        if found.size(1) > len(source):
            found = found[:, : len(source)].clone()
            found[:, -1] = math.nan
        return found

    def collater(self, samples: list[dict[str, Any]]) -> dict[str, Any]:
        """A batch of G sources, the longest first, and their B rows.

        It is fairseq's usual batch of sources and references, whoever reads it: `id` [G],
        `nsentences`, `ntokens`, `target` [G, R] = reference eos, and `net_input` with `src_tokens`
        [G, S], `src_lengths` [G] and `prev_output_tokens` [G, R] = eos reference.

        Beside it stands what values are learned from. `scored`: `source` [B] int64, the place in
        0 .. G - 1 of a row's source, those of a source one after the other; `score` [B] float64;
        `first` [B] int64, from how many tokens on the score is that of the prefix (see
        scored_folder.ROW); `prev_output_tokens` [B, T] = eos y1 .. yn eos, `target` [B, T] =
        y1 .. yn eos and padding (nothing follows the closing eos), `ntokens`, which counts
        y1 .. yn eos, and `reference`, whose `src_tokens` [G, R] and `src_lengths` [G] are as an
        encoder takes them. If the data has them, `similarities` [B, T, S], float32, are those of
        `prev_output_tokens` and the tokens of the row's source as they stand in `src_tokens`, NaN
        where they are not known.
        """
        if not samples:
            return {}
        items = sorted(samples, key=lambda item: -len(item["source"]))  # stable
        references = [item["target"] for item in items]
        read = self._encoder_input([item["source"] for item in items])
        return {
            "id": torch.tensor([item["id"] for item in items]),
            "nsentences": len(items),
            "ntokens": sum(map(len, references)),
            "net_input": {
                **read,
                "prev_output_tokens": self._padded([one.roll(1) for one in references]),
            },
            "target": self._padded(references),
            "scored": self._scored(items, references, read["src_tokens"]),
        }

    def _scored(
        self,
        items: list[dict[str, Any]],
        references: list[Tensor],
        sources: Tensor,  # [G, S]
    ) -> dict[str, Any]:
        samples = [sample for item in items for sample in item["samples"]]
        eos, none = samples[0].new_tensor([self._eos]), samples[0].new_tensor([self._pad])
        scores = [score for item in items for score in item["scores"]]
        places = [place for place, item in enumerate(items) for _ in item["samples"]]
        scored: dict[str, Any] = {
            "source": torch.tensor(places),
            # float64, because fairseq rounds all float32 of a batch under --fp16 and --bf16
            "score": torch.tensor(scores, dtype=torch.float64),
            "first": torch.tensor([first for item in items for first in item["first"]]),
            "prev_output_tokens": self._padded([torch.cat([eos, one]) for one in samples]),
            "target": self._padded([torch.cat([one, none]) for one in samples]),
            "ntokens": sum(map(len, samples)),
            "reference": self._encoder_input(references),
        }
        if self._similarities is not None:
            of_rows = [one for item in items for one in item["similarities"]]
            positions, widest = scored["prev_output_tokens"].size(1), sources.size(1)
            scored["similarities"] = self._padded_tables(of_rows, positions, widest)
        return scored

    def _padded_tables(self, tables: list[Tensor], positions: int, widest: int) -> Tensor:
        """[B, positions, widest] of tables [T, S]; NaN of start symbol and padding."""
        padded = torch.full((len(tables), positions, widest), math.nan)
        for row, table in zip(padded, tables, strict=True):
            tokens, width = table.shape
            begin = widest - width if self._left_pad_source else 0
            row[1 : 1 + tokens, begin : begin + width] = table
        return padded

    def _encoder_input(self, sentences: list[Tensor]) -> dict[str, Tensor]:
        return {
            "src_tokens": self._padded(sentences, left=self._left_pad_source),
            "src_lengths": torch.tensor([len(sentence) for sentence in sentences]),
        }

    def _padded(self, sentences: list[Tensor], *, left: bool = False) -> Tensor:
        """[B, longest], padded on the right unless said otherwise."""
        return data_utils.collate_tokens(
            sentences, self._pad, left_pad=left, pad_to_multiple=self._pad_to_multiple
        )

    # -- sizes: of a source's longest row, whichever rows are drawn --

    def _encoder_sizes(self, indices: Any) -> Any:
        rows = self._groups.first_rows[indices]
        return np.maximum(self._sources.sizes[rows], self._references.sizes[rows])

    def _decoder_sizes(self, indices: Any) -> Any:
        return self._longest_samples[indices] + 1  # the eos in front

    @cached_property
    def _longest_samples(self) -> Sizes:  # [G]
        return self._groups.greatest(np.asarray(self._samples.sizes))

    def _num_rows(self, indices: Any) -> Any:
        """How many rows of these sources a batch gets."""
        rows = self._groups.counts[indices]
        if self._rows_per_source is not None:
            rows = np.minimum(rows, self._rows_per_source)
        if self._max_tokens is not None and self._groups.has_several:
            rows = np.minimum(rows, np.maximum(1, self._max_tokens // self._decoder_sizes(indices)))
        return rows

    def num_tokens(self, index: int) -> int:
        """What the source with its rows counts for under --max-tokens."""
        return int(self.num_tokens_vec(np.array([index]))[0])

    def num_tokens_vec(self, indices: Indices) -> Sizes:
        """`num_tokens` of many sources."""
        of_rows = self._num_rows(indices) * self._decoder_sizes(indices)
        return np.maximum(self._encoder_sizes(indices), of_rows)

    def size(self, index: int) -> tuple[int, int]:
        """Positions that the source and its rows need of encoder and decoder."""
        return int(self._encoder_sizes(index)), int(self._decoder_sizes(index))

    # -- batches --

    def ordered_indices(self) -> Indices:
        """Sources by length, then by their longest sample; equals shuffled if asked for."""
        if self._shuffle:
            indices = np.random.permutation(len(self)).astype(np.int64)  # noqa: NPY002
        else:
            indices = np.arange(len(self), dtype=np.int64)
        for sizes in (self._longest_samples, self._sources.sizes[self._groups.first_rows]):
            indices = indices[np.argsort(sizes[indices], kind="stable")]
        return indices

    def batch_by_size(
        self,
        indices: Indices,
        max_tokens: int | None = None,
        max_sentences: int | None = None,
        required_batch_size_multiple: int = 1,
    ) -> Any:
        """fairseq's; sources that alone have too many rows for a batch get as many as fit."""
        wanted = self._num_rows(indices)
        self._max_tokens = max_tokens
        reduced = np.flatnonzero(self._num_rows(indices) < wanted)
        if len(reduced):
            logger.info(
                f"{len(reduced):,} of {len(indices):,} sources have more rows than --max-tokens "
                f"{max_tokens} allows: batches get as many as fit, others in each epoch"
            )
        return super().batch_by_size(
            indices,
            max_tokens=max_tokens,
            max_sentences=max_sentences,
            required_batch_size_multiple=required_batch_size_multiple,
        )

    def set_seed(self, seed: int) -> None:
        """The seed of the rows that are drawn where a batch does not get all."""
        self._seed = seed

    def set_epoch(self, epoch: int) -> None:
        """The rows that are drawn are others in each epoch."""
        self._epoch = epoch

    @property
    def can_reuse_epoch_itr_across_epochs(self) -> bool:
        """Not where rows are drawn: workers that live on would never hear of a new epoch."""
        return not self._groups.has_several

    def filter_indices_by_size(self, indices: Indices, max_sizes: Any) -> tuple[Indices, list[int]]:
        """The sources that fit with all rows into (encoder, decoder) positions, and the others."""
        if max_sizes is None:
            return indices, []
        both = (max_sizes, max_sizes) if isinstance(max_sizes, (int, float)) else max_sizes
        fits = self._encoder_sizes(indices) <= both[0]
        fits &= self._decoder_sizes(indices) <= both[1]
        return indices[fits], indices[~fits].tolist()

    @property
    def supports_prefetch(self) -> bool:
        """Whether `prefetch` is wanted: not where the sentences are memory-mapped."""
        return all(getattr(part, "supports_prefetch", False) for part in self._sentences)

    def prefetch(self, indices: Indices) -> None:
        """Reads the sentences of these sources into memory."""
        rows = np.array([row for index in indices for row in self._groups.rows(int(index))])
        for part in self._sentences:
            part.prefetch(rows)
