"""What relabelling refuses."""


class RelabellingError(ValueError):
    """Something that a user can mend; the message says what and where."""
