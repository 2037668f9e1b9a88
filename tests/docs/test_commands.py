"""Every command and every program of the pages runs, on small data."""

import re
import shutil
import subprocess
import sys
import time
import urllib.request
from argparse import Namespace
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ParallelTexts
from tests.docs.command_server import CommandServer, Printed, console_scripts
from tests.docs.command_setup import SPLITS, copy_for_page, prepare
from tests.docs.commands import (
    ALTERNATIVES,
    FOLLOWED,
    HELP,
    NOT_RUN,
    REPOSITORY,
    SMALLER,
    Command,
    blocks,
    commands,
    page_names,
    python_files,
)
from tests.docs.pages import environment

PAGES = [HELP, *(page for page in page_names() if page not in FOLLOWED)]
WITH_COMMANDS = [page for page in PAGES if any(one.not_run is None for one in commands(page))]
#: a page whose commands are many, or start processes of their own
SLOW = {"examples/expert_iteration/README.md": 40, HELP: 40}
#: the Python of these pages needs nothing but the folder
WITH_PYTHON = ["README.md", "docs/api.md"]


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[CommandServer]:
    with CommandServer(tmp_path_factory.mktemp("printed")) as running:
        yield running


@pytest.fixture(scope="module")
def prepared(
    server: CommandServer,
    toy_pairs: ParallelTexts,
    toy_encoder: Path,
    tmp_path_factory: pytest.TempPathFactory,
) -> Path:
    folder = tmp_path_factory.mktemp("prepared")
    prepare(folder, toy_pairs, toy_encoder, server)
    return folder


@pytest.mark.parametrize(
    "page",
    [
        pytest.param(page, marks=pytest.mark.slow(seconds=SLOW.get(page, 20)))
        for page in WITH_COMMANDS
    ],
)
def test_the_commands_of_a_page(
    page: str, server: CommandServer, prepared: Path, tmp_path: Path
) -> None:
    found = [command for command in commands(page) if command.not_run is None]
    copy_for_page(prepared, tmp_path, without=made_by(found))
    for command in found:
        if page in ALTERNATIVES:
            for name in made_by([command]):
                shutil.rmtree(tmp_path / name, ignore_errors=True)
        check(command, run(command, server, tmp_path), tmp_path)


def made_by(found: list[Command]) -> set[str]:
    """Folders that commands are to make."""
    pattern = r"--(?:save-dir|out|sweep-out) (\S+)"
    return {name for command in found for name in re.findall(pattern, command.text)}


def run(command: Command, server: CommandServer, folder: Path) -> Printed:
    words = command.words()
    if words[0] == "torchrun" or not _is_plain(command):
        return by_shell(command.text if words[0] != "torchrun" else shell_words(words), folder)
    if "explore" in " ".join(words[:2]):
        return look_at_page(words, folder)
    return server.run(words, folder)


def _is_plain(command: Command) -> bool:
    """Whether no shell is needed."""
    if re.search(r"[>|&;]|^export |^source ", command.text):
        return False
    return command.words()[0] in {*console_scripts(), "python"}


def shell_words(words: list[str]) -> str:
    found = [shutil.which(word, path=str(Path(sys.executable).parent)) or word for word in words]
    return subprocess.list2cmdline(found)


def by_shell(text: str, folder: Path) -> Printed:
    done = subprocess.run(
        ["bash", "-euo", "pipefail", "-c", text],
        cwd=folder,
        env=environment(),
        capture_output=True,
        text=True,
        check=False,
    )
    return Printed(done.returncode, done.stdout, done.stderr)


def look_at_page(words: list[str], folder: Path) -> Printed:
    """Starts the explorer, asks it for its page, and ends it."""
    script = Path(sys.executable).parent / words[0]
    process = subprocess.Popen(
        [sys.executable, str(script), *words[1:], "--port", "0"],
        cwd=folder,
        env=environment(),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    first = process.stdout.readline()
    address = re.match(r"http://\S+", first)
    try:
        assert address, process.communicate()[1]
        until = time.monotonic() + 30
        while True:
            try:
                with urllib.request.urlopen(address[0], timeout=10) as answer:
                    page = answer.read().decode()
                break
            except OSError:
                assert time.monotonic() < until
                time.sleep(0.2)
    finally:
        process.terminate()
        _, err = process.communicate()
    assert "<html" in page
    return Printed(0, first, err)


def check(command: Command, printed: Printed, folder: Path) -> None:
    shown = f"{command.text}\n{printed.out[-2000:]}\n{printed.err[-4000:]}"
    assert printed.code == 0, shown
    for unwanted in ("Traceback", "DEBUG", "Warning"):
        assert unwanted not in printed.err, shown
    words = command.words()
    if words[0] == "fairseq-generate":
        text = printed.out
        if "--results-path" in words:
            results = folder / words[words.index("--results-path") + 1]
            text = (results / "generate-test.txt").read_text(encoding="utf-8")
        sentences = {line.split("\t")[0] for line in text.splitlines() if line.startswith("D-")}
        assert len(sentences) == SPLITS["test"].stop - SPLITS["test"].start
    for flag in ("--out", "--sweep-out", "--save-dir", "--json", "--search-json"):
        if flag in words and "--shard" not in words:
            assert (folder / words[words.index(flag) + 1]).exists(), shown


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize("page", WITH_PYTHON)
def test_the_python_of_a_page(
    page: str, server: CommandServer, prepared: Path, tmp_path: Path
) -> None:
    copy_for_page(prepared, tmp_path)
    files = python_files(page, tmp_path)
    assert len(files) == 2
    for path in files:
        printed = server.run(["python", "--file", path.name], tmp_path)
        assert printed.code == 0, printed.err[-4000:]
        assert "print(" not in path.read_text() or printed.out


@pytest.mark.parametrize("page", page_names())
def test_blocks_say_what_they_are(page: str) -> None:
    """Or a command could hide in a block that nobody runs."""
    for language, text in blocks(page):
        if page == "README.md" and not language:
            continue  # the demo's two commands and its table
        assert language in {"bash", "python", "text", "json", "diff"}, text
        if language == "text":
            assert (
                not re.search(r"^(fairseq-\S+|make|pip|python) \S", text, re.M) or page in FOLLOWED
            )


def test_pages_that_are_followed_elsewhere_are() -> None:
    for page, test in FOLLOWED.items():
        text = (REPOSITORY / test).read_text(encoding="utf-8")
        assert "follow(" in text
        assert Path(page).name in text


def test_what_is_not_run_is_there_and_understood(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "sp.model").touch()  # a command line may not name a file that is missing
    monkeypatch.chdir(tmp_path)
    found = [one for page in PAGES for one in commands(page) if one.not_run is not None]
    assert {one.not_run for one in found} == set(NOT_RUN)
    makefile = (REPOSITORY / "Makefile").read_text(encoding="utf-8")
    setup = (REPOSITORY / "setup.py").read_text(encoding="utf-8")
    for command in found:
        words = command.words()
        if words[0] == "make":
            assert re.search(rf"^{words[1]}:", makefile, re.M)
        for extras in re.findall(r"pip install \S*fairseq_mcts\[(.+?)\]", command.text):
            assert all(f'"{extra}":' in setup for extra in extras.split(","))
        if "--engine" in words:
            assert _parse_work(words[0], words[1:]).ray_address == "auto"
        if words[:2] == ["python", "-m"]:
            _parse_example(words[2], words[3:])


def _parse_work(program: str, arguments: list[str]) -> Namespace:
    from fairseq_mcts.cli.generate_config import PROGRAM, make_parser
    from fairseq_mcts.register import register
    from fairseq_mcts.subset.parsing import parse
    from fairseq_mcts.tuning import parser as tuning

    register()
    return parse({PROGRAM: make_parser, tuning.PROGRAM: tuning.make_parser}[program], arguments)[0]


def _parse_example(module: str, arguments: list[str]) -> None:
    from importlib import import_module

    try:
        name = f"{module}.__main__"
        import_module(name)
    except ModuleNotFoundError:
        name = module
    import_module(name).make_parser().parse_args(arguments)


def test_every_substitution_is_of_use() -> None:
    texts = [command.text for page in PAGES for command in commands(page)]
    for pattern in SMALLER:
        assert any(re.search(pattern, text) for text in texts), pattern
