"""The site of the documentation: whole, and the same without a network."""

import re
import shutil
import subprocess
import sys
from html import unescape
from pathlib import Path
from typing import Any

import pytest

from tests.browsing import width_needed, window_of
from tests.docs.pages import REPOSITORY
from tools.site.pages import BrokenLink, companions, pages, resolve, with_site_links

SOURCES = ("docs", "examples", "fairseq_mcts", "tools")
#: what a browser would load from elsewhere
REMOTE = re.compile(
    r"""<(?:script|img|iframe|source)[^>]+src=["']?(?:https?:)?//[^>]+>"""
    r"""|<link[^>]+rel=["']?(?:stylesheet|preconnect|preload|icon)[^>]+href=["']?(?:https?:)?//[^>]+>"""
)


def clone(folder: Path) -> Path:
    """What the site is made of, to be changed by a test."""
    for path in (*REPOSITORY.glob("*.md"), REPOSITORY / "mkdocs.yml"):
        shutil.copy(path, folder)
    for name in SOURCES:
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(REPOSITORY / name, folder / name, ignore=ignored)
    return folder


def build(folder: Path) -> "subprocess.CompletedProcess[str]":
    command = [sys.executable, "-m", "mkdocs", "build", "--strict"]
    return subprocess.run(command, capture_output=True, text=True, check=False, cwd=folder)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    folder = clone(tmp_path_factory.mktemp("clone"))
    done = build(folder)
    assert done.returncode == 0, done.stderr
    return folder / "site"


@pytest.mark.slow(seconds=20)
def test_every_page_is_there(site: Path) -> None:
    for name, file in pages(REPOSITORY).items():
        shown = unescape((site / name).with_suffix(".html").read_text(encoding="utf-8"))
        title = re.search(r"^# (.+)$", (REPOSITORY / file).read_text(encoding="utf-8"), re.M)
        assert title is not None
        assert re.search(f"<h1[^>]*>{re.escape(title[1])}<", shown)
    assert not list(site.rglob("*.py"))


@pytest.mark.slow(seconds=20)
def test_nothing_is_loaded_from_elsewhere(site: Path) -> None:
    found = {
        match[0]
        for path in (*site.rglob("*.html"), *site.rglob("*.css"))
        for match in REMOTE.finditer(path.read_text(encoding="utf-8"))
    }
    assert found == set()
    # the theme would fetch mermaid from the web to draw such a figure
    assert not [path for path in site.rglob("*.html") if 'class="mermaid"' in path.read_text()]


@pytest.mark.slow(seconds=20)
def test_the_interface_is_generated_from_the_code(site: Path) -> None:
    html = (site / "api.html").read_text(encoding="utf-8")
    for name in ("fairseq_mcts.hub.load", "fairseq_mcts.search.decode.decode"):
        assert f'id="{name}"' in html
    assert "inclusion weight" in html  # of an attribute's own docstring


@pytest.mark.slow(seconds=20)
@pytest.mark.parametrize("width", [1280, 700])
def test_pages_fit_into_the_window(browser: Any, site: Path, width: int) -> None:
    wide = {}
    with window_of(browser, width, height=900):
        for name in pages(REPOSITORY):
            browser.get((site / name).with_suffix(".html").as_uri())
            wide[name] = width_needed(browser)
        assert {name: found for name, found in wide.items() if found > width} == {}
        # the demo's table is what a visitor sees first: all of its columns
        browser.get((site / "index.html").as_uri())
        [table] = [
            one
            for one in browser.find_elements("css selector", "pre > code")
            if "MLBERTScore" in one.text
        ]
        cut = "return arguments[0].scrollWidth - arguments[0].clientWidth"
        assert browser.execute_script(cut, table) <= 0


@pytest.mark.slow(seconds=40)
@pytest.mark.parametrize(
    ("page", "addition", "complaint"),
    [
        ("docs/tuning.md", "[gone](decoders.md#no-such-heading)", "no-such-heading"),
        ("docs/tuning.md", "[gone](gone.md)", "docs/tuning.md: gone.md leads to no file"),
        ("docs/stray.md", "# Stray\n", "stray.md"),
    ],
    ids=["anchor", "link", "page"],
)
def test_faults_are_errors(page: str, addition: str, complaint: str, tmp_path: Path) -> None:
    pytest.importorskip("mkdocs")
    pytest.importorskip("material")
    folder = clone(tmp_path)
    with (folder / page).open("a", encoding="utf-8") as stream:
        stream.write(f"\n{addition}\n")
    done = build(folder)
    assert done.returncode != 0
    assert complaint in done.stderr


def test_the_first_page_stays_short() -> None:
    assert len((REPOSITORY / "README.md").read_text(encoding="utf-8").splitlines()) <= 150


def test_no_figure_is_tied_to_a_commit() -> None:
    """Nobody looks them up; a date and a command say more. What others publish may have no other
    version."""
    of_others = {"docs/fairseq.md", "SECURITY.md"}
    for file in {*pages(REPOSITORY).values()} - of_others:
        text = (REPOSITORY / file).read_text(encoding="utf-8")
        assert re.search(r"\bcommit [0-9a-f]{7}", text) is None, file


def test_links_of_files_become_links_of_pages() -> None:
    text = "[a](docs/tuning.md#tuned-settings) [b](CHANGELOG.md) [c](https://x.org/y.md)\n"
    made = with_site_links(f"{text}```\n[d](no-link.md)\n```\n", REPOSITORY, "README.md")
    assert made == (
        "[a](tuning.md#tuned-settings) [b](changelog.md) [c](https://x.org/y.md)\n"
        "```\n[d](no-link.md)\n```\n"
    )
    study = with_site_links("[x](../../README.md)", REPOSITORY, "examples/multi30k/README.md")
    assert study == "[x](../index.md)"
    assert resolve(REPOSITORY, "docs/tuning.md", "../examples/custom_metric")[0] == (
        "examples/custom_metric/README.md"
    )
    with pytest.raises(BrokenLink, match="gone"):
        resolve(REPOSITORY, "docs/tuning.md", "gone.md")


def test_code_and_pictures_come_along() -> None:
    found = companions(REPOSITORY)
    assert found["repository/fairseq_mcts/compat.py.md"] == "fairseq_mcts/compat.py"
    assert found["report.png"] == "docs/report.png"
    assert any(name.endswith(".svg") for name in found)
