"""What the room of work refuses."""


class WorkError(ValueError):
    """Something that a user can mend; the message says what and where."""


class DamagedChunkError(WorkError):
    """A chunk that is there but can't be used: it can be made again."""

    def __init__(self, chunk: int, message: str) -> None:
        super().__init__(message)
        self.chunk = chunk
