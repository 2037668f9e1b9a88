"""`@compiled`: numba's njit with a cache that can't go stale.

numba keys its cache on the file that holds a function, not on the functions which that one calls,
so an edited helper in another file would leave the old machine code in use. Here the cache folder
carries a hash of all sources of this package: any change compiles anew, nothing else does. Kernels
of other packages (decoding/slot_attention.py) may use these, but no helpers in other files there.
"""

import contextlib
import logging
from collections.abc import Callable
from typing import Any, TypeVar

import numba
from numba.core import config as numba_config

from fairseq_mcts.search.kernel_cache import CACHE_FOLDER, ForgivingCache

logger = logging.getLogger(__name__)

Function = TypeVar("Function", bound=Callable[..., Any])


def compiled(function: Function) -> Function:
    """Compiles `function` at its first call, from the cache where a run before has left it.

    No division in the kernels can be by zero, so none is checked (error_model).
    """
    return _compiled(function)


def compiled_for_vectors(*liberties: str) -> Callable[[Function], Function]:
    """`compiled_inline`, with LLVM's named liberties ("reassoc": sums in any order, …): without
    them loops that reduce a row to a number are not turned into vector instructions."""
    return lambda function: _compiled(function, fastmath=set(liberties), forceinline=True)


def compiled_inline(function: Function) -> Function:
    """`compiled` into each of its callers: for whatever stands between a function with liberties
    and the one that Python calls.

    numba keeps a copy of a compiled function for itself and one in each caller, optimised once
    more, where a sum may have got another order. Which of them runs depends on whether the
    process has compiled them or has loaded the caller from the cache: the last bits of a first
    run would differ from those of all later ones.
    """
    return _compiled(function, forceinline=True)


def _compiled(
    function: Function, *, fastmath: bool | set[str] = False, forceinline: bool = False
) -> Function:
    options: dict[str, Any] = {
        "error_model": "numpy",
        "fastmath": fastmath,
        "forceinline": forceinline,
    }
    kernel = numba.njit(**options)(function)
    before = numba_config.CACHE_DIR
    # read by the cache when it is made, so other packages' caches stay where they are
    numba_config.CACHE_DIR = str(CACHE_FOLDER)
    try:
        with contextlib.suppress(RuntimeError, OSError):  # nowhere to write: compile every time
            kernel._cache = ForgivingCache(function)
    finally:
        numba_config.CACHE_DIR = before
    return kernel


def announce_compilation() -> None:
    """Says so, once, before a first decoding that will spend its first seconds compiling."""
    if CACHE_FOLDER.is_dir() and any(CACHE_FOLDER.rglob("*.nbi")):
        return
    logger.warning(
        "compiling the search kernels, once per installation (some seconds, kept in %s); "
        "`python -m fairseq_mcts.search` does it ahead of time",
        CACHE_FOLDER,
    )
