"""Links from one file of the repository to another lead somewhere."""

import re
from pathlib import Path

import pytest

from tests.docs.pages import REPOSITORY

#: folders that hold what is made or installed
NOT_OURS = {".venv", "work", "build", "dist", "node_modules"}
PAGES = sorted(
    path
    for path in REPOSITORY.rglob("*.md")
    if not any(
        part in NOT_OURS or part.startswith(".") for part in path.relative_to(REPOSITORY).parts
    )
)


def prose(page: Path) -> str:
    """A page without its blocks of code."""
    text = page.read_text(encoding="utf-8")
    return re.sub(r"^( *)```.*?^\1```$", "", text, flags=re.M | re.S)


def anchors(page: Path) -> set[str]:
    """What GitHub makes of the headings: lower case, hyphens for spaces, no signs."""
    headings = re.findall(r"^#+ +(.+)$", prose(page), re.M)
    plain = (re.sub(r"\[(.+?)\]\(.+?\)", r"\1", heading) for heading in headings)
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in plain}


def links(page: Path) -> list[str]:
    """Targets of links and pictures that are no addresses of the web."""
    found = re.findall(r"\]\(([^()\s]+)(?: \"[^\"]*\")?\)", prose(page))
    found += re.findall(r"<(?:img|a)\b[^>]*(?:src|href)=\"([^\"]+)\"", prose(page))
    return [link for link in found if not re.match(r"\w+:", link)]


def broken(page: Path) -> list[str]:
    """Links of a page that lead nowhere."""
    found = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            found.append(link)
    return found


def test_pages_and_links_are_found() -> None:
    found = {page.relative_to(REPOSITORY).as_posix() for page in PAGES}
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md", "SECURITY.md"} <= found
    assert {"docs/decoders.md", "examples/multi30k/RESULTS.md"} <= found
    targets = [link for page in PAGES for link in links(page)]
    assert len(targets) > 100
    assert any("#" in link for link in targets)
    assert any(link.endswith(".svg") for link in targets)


def test_broken_ones_are_found(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text('# One\n\n[a](#one) [b](#two) ![c](c.png) [d](page.md) <img src="e.png">\n')
    assert broken(page) == ["#two", "c.png", "e.png"]


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_relative_links(page: Path) -> None:
    assert broken(page) == []
