"""Which file of the repository becomes which page, and links between files as links between pages.

Pages of docs/ keep their names. README.md and the like lie elsewhere, because readers of the
repository look for them there. What pages link to beside that, code and pictures, comes along.
"""

import os
import re
from collections.abc import Iterator
from pathlib import Path, PurePosixPath

DOCS = "docs"
#: files outside of docs/ that are pages, beside the README.md of each example
MOVED = {
    "README.md": "index.md",
    "CHANGELOG.md": "changelog.md",
    "CONTRIBUTING.md": "contributing.md",
    "SECURITY.md": "security.md",
    "examples/multi30k/RESULTS.md": "results.md",
    "examples/budget_curves/multi30k/RESULTS.md": "budget-curves-multi30k.md",
    "examples/budget_curves/demo/RESULTS.md": "budget-curves-demo.md",
}
PICTURES = {".png", ".svg"}
_FENCED = re.compile(r"(^( *)```.*?^\2```$)", re.M | re.S)
_LINK = re.compile(r"(\]\()([^()\s]+)(\))")
_ELSEWHERE = re.compile(r"\w+:")


class BrokenLink(ValueError):
    """A link that leads to nothing in the repository."""


def pages(root: Path) -> dict[str, str]:
    """Files of the repository by the names of their pages, all relative."""
    found = {path.name: f"{DOCS}/{path.name}" for path in sorted((root / DOCS).glob("*.md"))}
    found |= {page: file for file, page in MOVED.items()}
    for path in sorted((root / "examples").glob("*/README.md")):
        found[f"examples/{path.parent.name}.md"] = path.relative_to(root).as_posix()
    return found


def companions(root: Path) -> dict[str, str]:
    """Files that pages link to and that are no pages, by the names that they have in the site."""
    known = pages(root)
    files = set()
    for file in known.values():
        for link in links((root / file).read_text(encoding="utf-8")):
            target = resolve(root, file, link)[0]
            if target not in known.values():
                files.add(target)
    return {site_name(file): file for file in sorted(files)}


def site_name(file: str) -> str:
    """Of a file that is no page: a picture as it is, code on a page of its own."""
    if file.startswith(f"{DOCS}/"):
        return file.removeprefix(f"{DOCS}/")
    return f"repository/{file}" if Path(file).suffix in PICTURES else f"repository/{file}.md"


def links(markdown: str) -> Iterator[str]:
    """Targets of links and pictures outside of code, but for those into the web."""
    for part, is_code in _parts(markdown):
        for found in () if is_code else _LINK.finditer(part):
            if not _ELSEWHERE.match(found[2]):
                yield found[2]


def resolve(root: Path, file: str, link: str) -> tuple[str, str]:
    """The file that a link in `file` leads to, relative to the root, and the anchor in it."""
    path, _, anchor = link.partition("#")
    target = os.path.normpath(PurePosixPath(file).parent / path) if path else file
    if (root / target / "README.md").is_file():  # a folder is shown by its first page
        target = f"{target}/README.md"
    if not (root / target).is_file():
        raise BrokenLink(f"{file}: {link} leads to no file")
    return PurePosixPath(target).as_posix(), anchor


def with_site_links(markdown: str, root: Path, file: str) -> str:
    """The text of `file` with links as they must be on its page."""
    names = {target: page for page, target in pages(root).items()}
    here = PurePosixPath(names[file]).parent

    def moved(link: str) -> str:
        if _ELSEWHERE.match(link):
            return link
        target, anchor = resolve(root, file, link)
        path = os.path.relpath(names.get(target, site_name(target)), here)
        return f"{path}#{anchor}" if anchor else path

    return "".join(
        part if is_code else _LINK.sub(lambda found: found[1] + moved(found[2]) + found[3], part)
        for part, is_code in _parts(markdown)
    )


def as_code_page(file: str, text: str) -> str:
    """A file of code as a page."""
    language = {".py": "python", ".json": "json"}.get(Path(file).suffix, "text")
    return f"# {file}\n\n````{language}\n{text.rstrip()}\n````\n"


def _parts(markdown: str) -> Iterator[tuple[str, bool]]:
    """The text in order, and whether each part of it is a block of code."""
    end = 0
    for fence in _FENCED.finditer(markdown):
        yield markdown[end : fence.start()], False
        yield fence[0], True
        end = fence.end()
    yield markdown[end:], False
