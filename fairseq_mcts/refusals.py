"""What the plugin refuses under fairseq's commands ends them in one line, as it ends its own."""

import dis
import os
import sys
from pathlib import Path
from types import TracebackType

from fairseq_mcts.command_help import DEBUG

COMMANDS = ("preprocess", "train", "validate", "generate", "interactive")
_PACKAGE = __name__.partition(".")[0]
_OF_USE = (ValueError, OSError, ImportError)


def end_in_one_line() -> None:
    """Leaves out the traceback of refusals where the program is a command of fairseq's.

    fairseq catches nothing, and programs of a user's own stay as they are.
    """
    program = _command(sys.argv[0] if sys.argv else "")
    if program is None or getattr(sys.excepthook, "__module__", None) == __name__:
        return
    before = sys.excepthook

    def show(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
        if os.environ.get(DEBUG) or not is_refusal(error):
            before(kind, error, trace)
            return
        print(f"{program}: error: {error} ({DEBUG}=1 shows the traceback)", file=sys.stderr)

    sys.excepthook = show


def is_refusal(error: BaseException) -> bool:
    """Whether the plugin raised it on purpose, and not what it called, which could be a fault."""
    if type(error).__module__.startswith(f"{_PACKAGE}."):
        return True
    last = error.__traceback__
    while last is not None and last.tb_next is not None:
        last = last.tb_next
    if last is None or not isinstance(error, _OF_USE):
        return False
    code = last.tb_frame.f_code
    module = str(last.tb_frame.f_globals.get("__name__"))
    is_statement = dis.opname[code.co_code[last.tb_lasti]] == "RAISE_VARARGS"
    return is_statement and module.partition(".")[0] == _PACKAGE


def _command(started: str) -> str | None:
    """The name of a command by what was started: its script, or a module of fairseq_cli."""
    path = Path(started)
    names = [f"fairseq-{name}" for name in COMMANDS]
    name = f"fairseq-{path.stem}" if path.parent.name == "fairseq_cli" else path.stem
    return name if name in names else None
