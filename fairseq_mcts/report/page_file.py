"""Puts a page together: one HTML file that needs nothing else."""

import base64
import hashlib
import html
import json
from collections.abc import Iterable, Mapping, Sequence
from importlib.resources import files
from typing import Any

_PAGE = files("fairseq_mcts.report") / "page"
#: in an order in which nothing is called before it is there
SHARED_SCRIPTS = ("dom.js", "wordDiff.js", "searchModel.js", "searchView.js", "explorer.js")
REPORT_SCRIPTS = (
    *SHARED_SCRIPTS,
    "state.js",
    "chart.js",
    "scoreTable.js",
    "figures.js",
    "watch.js",
    "sentences.js",
    "report.js",
)
EXPLORE_SCRIPTS = (*SHARED_SCRIPTS, "explore.js")


def explore_page() -> str:
    """The page that asks a server for translations."""
    return fill_page("explore.html", EXPLORE_SCRIPTS, "Explore the search", connects="'self'")


def report_page(data: Mapping[str, Any], searches: Mapping[tuple[int, int], str]) -> str:
    """The page of a report; `searches` are packed, by run and sentence."""
    blocks = [_data_block("report-data", json_for_html(data))]
    blocks += [search_block(*place, packed) for place, packed in searches.items()]
    return fill_page("report.html", REPORT_SCRIPTS, str(data["title"]), blocks)


def search_block(run: int, sentence: int, packed: str) -> str:
    """A packed search as a part of the page."""
    return _data_block(f"search-{run}-{sentence}", packed)


def fill_page(
    template: str,
    scripts: Sequence[str],
    title: str,
    blocks: Iterable[str] = (),
    *,
    connects: str = "'none'",  # where scripts may ask for data
) -> str:
    """A template with its style, its scripts and its data."""
    script = "(() => {\n'use strict';\n" + "".join(map(_asset, scripts)) + "\n})();\n"
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode("ascii")
    # whatever a sentence holds, no other script than ours runs
    policy = (
        f"default-src 'none'; style-src 'unsafe-inline'; script-src 'sha256-{digest}'; "
        f"connect-src {connects}; base-uri 'none'; form-action 'none'"
    )
    filled = {
        "policy": html.escape(policy, quote=True).replace("&#x27;", "'"),
        "title": html.escape(title),
        "style": _asset("style.css"),
        "data": "\n".join(blocks),
        "script": script,
    }
    page = _asset(template)
    parts = page.split("{{")
    return parts[0] + "".join(_filled(part, filled) for part in parts[1:])


def json_for_html(data: Any) -> str:
    """JSON that can stand in a script element: no tag and no comment begins in it."""
    text = json.dumps(data, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace("\u2028", "\\u2028").replace("\u2029", "\\u2029")


def _filled(part: str, filled: Mapping[str, str]) -> str:
    name, _, rest = part.partition("}}")
    return filled[name] + rest


def _data_block(name: str, content: str) -> str:
    return f'<script type="application/json" id="{name}">{content}</script>'


def _asset(name: str) -> str:
    return (_PAGE / name).read_text(encoding="utf-8")
