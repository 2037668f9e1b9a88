"""fairseq-mcts-explore: one's own sentences, by all decoders, in the browser."""

import argparse
import socket
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from fairseq_mcts.cli.errors import exit_on_errors
from fairseq_mcts.command_help import in_one_style
from fairseq_mcts.register import register
from fairseq_mcts.subset import parsing

PROGRAM = "fairseq-mcts-explore"
DEFAULT_PORT = 8642
LOOPBACK = "127.0.0.1"


def make_parser() -> argparse.ArgumentParser:
    """All options of fairseq-generate, and those of the server."""
    parser = parsing.generation_parser(
        PROGRAM,
        "Serve a page on which sentences are translated by all decoders, side by side, and their "
        "searches are shown token by token. Takes the options of fairseq-generate; the page sets "
        "those of the decoders. Networks are loaded once. --search-metric is for the decoders that "
        "go by a metric.",
    )
    group = parser.add_argument_group("page")
    group.add_argument(
        "--port",
        type=int,
        default=DEFAULT_PORT,
        help="of the page; 0: any that is free (default: %(default)s)",
    )
    group.add_argument(
        "--host",
        default=LOOPBACK,
        help="address to serve on; anything but the default lets others in, who can then keep this "
        "machine busy (default: %(default)s)",
    )
    return in_one_style(parser, "explore", [group])


def complete_parser() -> argparse.ArgumentParser:
    """With all options that fairseq knows late."""
    return parsing.complete_parser(make_parser)


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM, resumes=False):
        serve(arguments)


def serve(arguments: Sequence[str]) -> None:
    """Loads the networks and answers until it is stopped."""
    from fairseq_mcts.cli.explore_server import make_app, make_server
    from fairseq_mcts.cli.explore_translator import Translator
    from fairseq_mcts.subset.options import check_data

    options, cfg = parse(arguments)
    check_data(cfg)
    translator = Translator(cfg)
    listening = _listen(options.host, options.port)
    port = listening.getsockname()[1]
    server = make_server(make_app(translator, options.host))
    print(f"http://{options.host}:{port}/  (Ctrl-C ends it)", flush=True)
    with suppress(KeyboardInterrupt):  # how it is meant to end
        server.run(sockets=[listening])


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, Any]:
    """The options, and fairseq's configuration of them."""
    parsed, cfg = parsing.parse(make_parser, arguments)
    if parsed.path is None:
        raise ValueError("--path is required")
    return parsed, cfg


def _listen(host: str, port: int) -> socket.socket:
    """Takes the port before it is announced."""
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise ValueError(f"--host {host} --port {port}: can't serve there: {error}") from error


if __name__ == "__main__":
    main()
