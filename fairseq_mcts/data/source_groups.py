"""Which rows belong to which source, and which of them a batch gets."""

import hashlib

import numpy as np
import numpy.typing as npt

from fairseq_mcts.data.scored_folder import Rows

Int64 = npt.NDArray[np.int64]
Sizes = npt.NDArray[np.int32]


class SourceGroups:
    """The rows of G sources, those of a source one after the other."""

    def __init__(self, starts: Int64) -> None:
        self._starts = starts  # [G + 1] first row of each source, then the number of rows
        self.first_rows = starts[:-1]  # [G]
        self.counts = np.diff(starts)  # [G] rows of each source
        self.has_several = bool((self.counts > 1).any())  # whether any source has several rows

    @classmethod
    def of(cls, rows: Rows | None, num_rows: int) -> "SourceGroups":
        """The groups of a split's rows; without any (format 1) each row is a source."""
        if rows is None:
            return cls(np.arange(num_rows + 1, dtype=np.int64))
        source = rows["source"]
        changes = np.flatnonzero(source[1:] != source[:-1]) + 1
        ends = [0, num_rows] if num_rows else [0]
        return cls(np.unique(np.append(changes, ends)).astype(np.int64))

    @classmethod
    def joined(cls, parts: list["SourceGroups"]) -> "SourceGroups":
        """The groups of several splits, one after the other."""
        starts, rows = [np.zeros(1, np.int64)], 0
        for part in parts:
            starts.append(part._starts[1:] + rows)
            rows += int(part._starts[-1])
        return cls(np.concatenate(starts))

    def __len__(self) -> int:
        return len(self._starts) - 1

    def greatest(self, sizes: npt.NDArray[np.int32]) -> Sizes:
        """[G] the greatest of `sizes` [N] among the rows of each source."""
        if not len(self):
            return np.zeros(0, np.int32)
        return np.maximum.reduceat(sizes, self.first_rows)

    def rows(self, group: int) -> range:
        """The rows of a source."""
        return range(int(self._starts[group]), int(self._starts[group + 1]))

    def drawn_rows(self, group: int, most: int, *, seed: int, epoch: int) -> list[int]:
        """At most `most` of its rows, in their order.

        Which ones depends on seed, epoch and source, and not on who asks when.
        """
        rows = self.rows(group)
        if len(rows) <= most:
            return list(rows)
        coordinates = f"{seed} {epoch} {group}".encode()
        digest = hashlib.blake2b(coordinates, digest_size=8).digest()
        dice = np.random.Generator(np.random.PCG64(int.from_bytes(digest, "little")))
        places = dice.permutation(len(rows))[:most]
        return [rows[place] for place in sorted(places.tolist())]
