"""Writes numpy's .npy files piece by piece.

Not through a memory map: where the disk is full, that ends the process by a signal, without a word.
"""

from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
import numpy.typing as npt


class ArrayFileWriter:
    """Writes an array of one dimension; it is whole after `finish`."""

    def __init__(self, path: Path, dtype: npt.DTypeLike, length: int) -> None:
        """The length must be known: it stands at the begin of the file."""
        self._dtype = np.dtype(dtype)
        self._stream: BinaryIO = path.open("wb")
        header: dict[str, Any] = {
            "descr": np.lib.format.dtype_to_descr(self._dtype),
            "fortran_order": False,
            "shape": (length,),
        }
        np.lib.format.write_array_header_1_0(self._stream, header)

    def add(self, array: npt.NDArray[Any]) -> None:
        """Appends elements."""
        self._stream.write(array.astype(self._dtype, copy=False).tobytes())

    def flush(self) -> None:
        """Lets others read what was added."""
        self._stream.flush()

    def finish(self) -> None:
        """Completes the file."""
        self._stream.close()
