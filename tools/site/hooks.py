"""mkdocs calls this (mkdocs.yml): files from all over the repository become pages of the site."""

from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.exceptions import PluginError
from mkdocs.structure.files import File, Files, InclusionLevel
from mkdocs.structure.pages import Page

from tools.site.pages import (
    DOCS,
    PICTURES,
    BrokenLink,
    as_code_page,
    companions,
    pages,
    with_site_links,
)


def on_files(files: Files, config: MkDocsConfig, **_: Any) -> Files:
    """Adds what does not lie in docs/."""
    root = _root(config)
    try:
        others = companions(root)
    except BrokenLink as error:
        raise PluginError(str(error)) from error
    for name, file in (pages(root) | others).items():
        if file.startswith(f"{DOCS}/"):
            continue
        path = root / file
        if path.suffix in PICTURES:
            files.append(File.generated(config, name, abs_src_path=str(path)))
        elif file.endswith(".md"):
            text = path.read_text(encoding="utf-8")
            files.append(File.generated(config, name, content=text))
        else:
            text = as_code_page(file, path.read_text(encoding="utf-8"))
            hidden = InclusionLevel.NOT_IN_NAV
            files.append(File.generated(config, name, content=text, inclusion=hidden))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, **_: Any) -> str:
    """Links between files become links between pages."""
    root = _root(config)
    if page.file.src_uri == "index.md":  # the demo's table is wide
        page.meta["hide"] = ["toc"]
    file = pages(root).get(page.file.src_uri)
    return markdown if file is None else with_site_links(markdown, root, file)


def _root(config: MkDocsConfig) -> Path:
    return Path(config.config_file_path).parent
