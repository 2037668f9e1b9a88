"""Signs of life of a command whose own thread may be busy for long."""

import contextlib
import threading
from collections.abc import Callable
from types import TracebackType

_SECONDS = 30.0


class Heartbeat:
    """Calls a function now and then from a thread of its own; an error there ends nothing."""

    def __init__(
        self,
        beat: Callable[[], object],
        harmless: tuple[type[Exception], ...],  # what a storage that fails once may raise
        seconds: float = _SECONDS,
    ) -> None:
        self._beat = beat
        self._harmless = harmless
        self._seconds = seconds
        self._ended = threading.Event()
        self._thread = threading.Thread(target=self._run, name="heartbeat", daemon=True)

    def __enter__(self) -> "Heartbeat":
        self._thread.start()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self._ended.set()
        self._thread.join()

    def _run(self) -> None:
        while not self._ended.wait(self._seconds):
            with contextlib.suppress(*self._harmless):
                self._beat()
