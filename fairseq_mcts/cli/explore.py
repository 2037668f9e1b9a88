"""fairseq-mcts-explore: one's own sentences, by all decoders, in the browser."""

import argparse
import socket
import sys
from collections.abc import Sequence
from typing import Any

from fairseq_mcts.cli.errors import exit_on_errors
from fairseq_mcts.register import register

PROGRAM = "fairseq-mcts-explore"
DEFAULT_PORT = 8642
LOOPBACK = "127.0.0.1"
_EPILOG = """example:
  fairseq-mcts-explore data-bin --path value.pt --bpe sentencepiece \\
      --sentencepiece-model sp.model --search-metric mlbertscore:model=encoder --cpu
"""


def make_parser() -> argparse.ArgumentParser:
    """All options of fairseq-generate, and those of the server."""
    from fairseq import options

    parser: argparse.ArgumentParser = options.get_generation_parser(default_task="translation_mcts")
    parser.prog = PROGRAM
    parser.description = (
        "Serve a page on which sentences are translated by all decoders, side by side, and their "
        "searches are shown token by token. Takes the options of fairseq-generate; the page sets "
        "those of the decoders. Networks are loaded once. --search-metric is for the decoders that "
        "go by a metric."
    )
    parser.epilog = _EPILOG
    parser.formatter_class = argparse.RawDescriptionHelpFormatter
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
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM):
        serve(arguments)


def serve(arguments: Sequence[str]) -> None:
    """Loads the networks and answers until it is stopped."""
    from fairseq_mcts.cli.explore_server import make_app, make_server
    from fairseq_mcts.cli.explore_translator import Translator

    options, cfg = parse(arguments)
    translator = Translator(cfg)
    listening = _listen(options.host, options.port)
    port = listening.getsockname()[1]
    server = make_server(make_app(translator, options.host))
    print(f"http://{options.host}:{port}/  (Ctrl-C ends it)", flush=True)
    server.run(sockets=[listening])


def parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, Any]:
    """The options, and fairseq's configuration of them."""
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    parsed = options.parse_args_and_arch(make_parser(), list(arguments))
    if parsed.path is None:
        raise ValueError("--path is required")
    return parsed, convert_namespace_to_omegaconf(parsed)


def _listen(host: str, port: int) -> socket.socket:
    """Takes the port before it is announced."""
    try:
        return socket.create_server((host, port))
    except (OSError, OverflowError) as error:
        raise ValueError(f"--host {host} --port {port}: can't serve there: {error}") from error


if __name__ == "__main__":
    main()
