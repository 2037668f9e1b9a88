"""The dataset of samples with their scores, for the criterions `value` and `hybrid`."""

from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from fairseq.data import FairseqDataset, data_utils
from torch import Tensor

from fairseq_mcts.data.scored_folder import ScoredDataError, Scores

Indices = npt.NDArray[np.int64]
Sizes = npt.NDArray[np.int32]


class ScoredPairDataset(FairseqDataset):  # type: ignore[misc]
    """Rows of source x, sample ŷ = y1 .. yn eos, reference and score(ŷ).

    The decoder is fed eos y1 .. yn eos, so that the value head also sees finished sentences. That
    is one token more than fairseq feeds: lengths here count n + 2 tokens of a sample. References
    go where sources go (the hybrid's second pathway encodes them), so they are limited and
    padded as sources are.
    """

    def __init__(
        self,
        sources: Any,
        samples: Any,
        references: Any,
        scores: Scores,  # [N]
        *,
        pad: int,
        eos: int,
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
        self._pad = pad
        self._eos = eos
        self._left_pad_source = left_pad_source
        self._shuffle = shuffle
        self._pad_to_multiple = pad_to_multiple

    def __len__(self) -> int:
        return len(self._scores)

    def __getitem__(self, index: int) -> dict[str, Any]:
        sample = self._samples[index]
        if not len(sample) or sample[-1] != self._eos:
            raise ScoredDataError(f"row {index}: its sample does not end in eos")
        return {
            "id": index,
            "source": self._sources[index],
            "target": self._references[index],
            "sample": sample,
            "score": float(self._scores[index]),
        }

    def collater(self, samples: list[dict[str, Any]]) -> dict[str, Any]:
        """A batch of B rows, longest source first.

        It is fairseq's usual batch of sources and references, whoever reads it: `id` [B],
        `nsentences`, `ntokens`, `target` [B, R] = reference eos, and `net_input` with `src_tokens`
        [B, S], `src_lengths` [B] and `prev_output_tokens` [B, R] = eos reference.

        Beside it stands what values are learned from. `scored`: `score` [B] float64,
        `prev_output_tokens` [B, T] = eos y1 .. yn eos, `target` [B, T] = y1 .. yn eos and padding
        (nothing follows the closing eos), `ntokens`, which counts y1 .. yn eos, and `reference`,
        whose `src_tokens` [B, R] and `src_lengths` [B] are as an encoder takes them.
        """
        if not samples:
            return {}
        rows = sorted(samples, key=lambda row: -len(row["source"]))  # stable
        references = [row["target"] for row in rows]
        return {
            "id": torch.tensor([row["id"] for row in rows]),
            "nsentences": len(rows),
            "ntokens": sum(map(len, references)),
            "net_input": {
                **self._encoder_input([row["source"] for row in rows]),
                "prev_output_tokens": self._padded([one.roll(1) for one in references]),
            },
            "target": self._padded(references),
            "scored": self._scored(rows, references),
        }

    def _scored(self, rows: list[dict[str, Any]], references: list[Tensor]) -> dict[str, Any]:
        samples = [row["sample"] for row in rows]
        eos, none = samples[0].new_tensor([self._eos]), samples[0].new_tensor([self._pad])
        return {
            # float64, because fairseq rounds all float32 of a batch under --fp16 and --bf16
            "score": torch.tensor([row["score"] for row in rows], dtype=torch.float64),
            "prev_output_tokens": self._padded([torch.cat([eos, one]) for one in samples]),
            "target": self._padded([torch.cat([one, none]) for one in samples]),
            "ntokens": sum(map(len, samples)),
            "reference": self._encoder_input(references),
        }

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

    def _encoder_sizes(self, indices: Any) -> Any:
        return np.maximum(self._sources.sizes[indices], self._references.sizes[indices])

    def _decoder_sizes(self, indices: Any) -> Any:
        return self._samples.sizes[indices] + 1  # the eos in front

    def num_tokens(self, index: int) -> int:
        """What the row counts for under --max-tokens."""
        return max(self.size(index))

    def num_tokens_vec(self, indices: Indices) -> Sizes:
        """`num_tokens` of many rows."""
        return np.maximum(self._encoder_sizes(indices), self._decoder_sizes(indices))

    def size(self, index: int) -> tuple[int, int]:
        """Positions that the row needs of encoder and decoder."""
        return int(self._encoder_sizes(index)), int(self._decoder_sizes(index))

    def ordered_indices(self) -> Indices:
        """Rows by length of their source, then of their sample; equals shuffled if asked for."""
        if self._shuffle:
            indices = np.random.permutation(len(self)).astype(np.int64)  # noqa: NPY002
        else:
            indices = np.arange(len(self), dtype=np.int64)
        for sizes in (self._samples.sizes, self._sources.sizes):
            indices = indices[np.argsort(sizes[indices], kind="stable")]
        return indices

    def filter_indices_by_size(self, indices: Indices, max_sizes: Any) -> tuple[Indices, list[int]]:
        """The rows that fit into (encoder, decoder) positions, and those that do not."""
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
        """Reads the sentences of these rows into memory."""
        for part in self._sentences:
            part.prefetch(indices)
