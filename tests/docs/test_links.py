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
    found = re.findall(r"\]\(([^()\s]+)\)", prose(page))
    return [link for link in found if not re.match(r"\w+:", link)]


def test_pages_and_links_are_found() -> None:
    assert {"README.md", "CONTRIBUTING.md", "CHANGELOG.md"} <= {page.name for page in PAGES}
    assert sum(map(len, map(links, PAGES))) > 20


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(REPOSITORY)))
def test_relative_links(page: Path) -> None:
    broken = []
    for link in links(page):
        path, _, anchor = link.partition("#")
        target = page.parent / path if path else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(link)
    assert broken == []
