"""--user-dir of the commands that are not fairseq's own."""

from argparse import Namespace
from pathlib import Path


def import_user_dir(folder: str) -> None:
    """Lets a user's folder register what it has to; refuses one that does not exist."""
    from fairseq.utils import import_user_module

    if not Path(folder).is_dir():
        raise FileNotFoundError(f"--user-dir {folder}: there is no such folder")
    import_user_module(Namespace(user_dir=folder))
