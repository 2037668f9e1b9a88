"""The page in a browser: every figure leads to sentences, every sentence to its search."""

from __future__ import annotations

import math
import struct
from pathlib import Path
from typing import Any

import pytest

from docs import report_picture
from fairseq_mcts.cli.report import main
from tests.browsing import Reader, width_needed, window_of
from tests.report.conftest import RECORDED
from tests.report.runs import MARKUP, Dictionary, toy_search, write_generated

RUNS = ("beam", "mcts-4", "mcts-20", "vgbs", "sr")


@pytest.fixture(scope="module")
def page(decodings: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    out = tmp_path_factory.mktemp("page") / "report.html"
    runs = [str(decodings / name) for name in RUNS]
    metrics = ("--metric", "chrf", "--metric", "bleu", "--optimised", "bleu")
    main([str(out), *runs, *metrics, "--resamples", "50", "--title", "A <b>title</b>"])
    return out


@pytest.fixture
def reader(browser: Any, page: Path) -> Reader:
    return Reader(browser, page)


def test_tables_and_figures_lead_to_sentences(reader: Reader) -> None:
    assert reader.one("h1").text == "A <b>title</b>"
    assert "60 sentences, 5 runs" in reader.one("#subtitle").text
    # what it opens with is a search, not the first run
    assert reader.one("#sentence-run").get_attribute("value") == "1"
    # a cell: the sentences of that run by that metric
    reader.click("[data-cell='3-0']")
    assert reader.controls() == ("3", "0", "gain")
    reader.click("[data-cell='0-1']")  # of the baseline: its own score
    assert reader.controls() == ("0", "1", "score")
    scores = [float(one.text.split()[1]) for one in reader.all(".card .change")]
    assert scores == sorted(scores)
    assert scores[0] < scores[-1]
    # a count of losses: just these
    reader.click("[data-loss='2-numbers']")
    assert 7 in reader.sentences()
    assert "numbers lost in mcts-20" in reader.one(".chip").text
    found = len(reader.sentences())
    # all of them, whatever was looked for before
    reader.one("#filter-text").send_keys("nowhere")
    assert reader.sentences() == []
    reader.click("[data-loss='2-numbers']")
    assert len(reader.sentences()) == found
    assert f"{found} of 60" in reader.one("#sentence-count").text
    # none are left: those that the baseline had
    assert reader.one("[data-loss='2-copied']").text == "0 (−1)"
    reader.click("[data-loss='2-copied']")
    assert reader.sentences() == [4]
    assert "copied source words in beam, none in mcts-20" in reader.one(".chip").text
    reader.click("#clear-selection")
    assert "60 of 60" in reader.one("#sentence-count").text
    # length, likelihood, cost, and metrics that got worse
    reader.click("[data-length='2']")
    assert reader.controls()[::2] == ("2", "length")
    assert reader.sentences()[0] in (*RECORDED, 7)  # three of six words
    reader.click("[data-likelihood='2']")
    assert reader.controls()[::2] == ("2", "likelihood")
    reader.click("[data-cost='2-made']")
    assert reader.controls()[::2] == ("2", "cost")
    assert "evaluations charged, " in reader.one(".card").text
    reader.click("[data-cost='0-charged']")
    assert reader.controls()[::2] == ("0", "cost")
    # a point of a run, and a point of a sentence
    reader.click("[data-point='cost-2']")
    assert reader.one("#sentence-run").get_attribute("value") == "2"
    reader.browser.execute_script(
        "document.querySelector(\"[data-point='value-12']\").dispatchEvent(new Event('click'))"
    )
    assert reader.sentences() == [12]
    reader.click("#worst-gaps")
    assert reader.controls()[::2] == ("1", "gap")
    # two budgets of one decoder make a curve
    assert len(reader.all("#cost polyline")) == 1
    assert reader.complaints() == []


def test_points_of_sentences_by_keyboard(reader: Reader) -> None:
    from selenium.webdriver.common.keys import Keys

    points = reader.all("#value-figure circle")
    stops = [one for one in points if one.get_attribute("tabindex") == "0"]
    assert len(points) == 60
    assert len(stops) == 1
    across = sorted(points, key=lambda one: float(one.get_attribute("cx")))
    stops[0].send_keys(Keys.END)
    reader.active.send_keys(Keys.ARROW_LEFT)
    [walked_to] = [one for one in points if one.get_attribute("tabindex") == "0"]
    assert walked_to == reader.active
    assert walked_to.get_attribute("cx") == across[-2].get_attribute("cx")
    number = int(walked_to.get_attribute("data-point").removeprefix("value-"))
    assert reader.one("#value-point").text.startswith(f"sentence {number}: value 0.")
    walked_to.send_keys(Keys.ENTER)
    assert reader.sentences() == [number]
    assert reader.complaints() == []


def test_sort_and_filter(reader: Reader) -> None:
    def changes() -> list[float]:
        texts = [one.text.split()[1] for one in reader.all(".card .change")]
        return [float(text.replace("−", "-")) for text in texts]

    reader.choose("#sentence-sort", "gain")
    gains = changes()
    assert gains == sorted(gains, reverse=True)
    assert gains[0] > 0
    reader.choose("#sentence-sort", "loss")
    losses = changes()
    assert losses == sorted(losses)
    assert losses[0] < 0
    reader.choose("#sentence-sort", "number")
    assert reader.sentences() == list(range(20))
    reader.click("#next-top")
    assert reader.sentences() == list(range(20, 40))
    assert reader.one("#pager-top span").text == "page 2 of 3"
    reader.click("#changed-only")
    reader.click("#next-top")
    assert reader.sentences()[:2] == [21, 22]  # both say the same of sentence 20
    reader.one("#filter-text").send_keys("THE 33 OLD")
    assert reader.sentences() == [33]
    assert [one.text for one in reader.all(".card del")] == ["Haus."]
    assert [one.text for one in reader.all(".card ins")] == ["Häuser von Anna."]


def test_step_through_a_search(reader: Reader) -> None:
    reader.choose("#sentence-run", 2)
    reader.choose("#sentence-sort", "number")
    reader.click("[data-sentence='3'] .explore")
    reader.wait_for("#explorer-title")
    assert reader.one("#explorer-title").text == "Sentence 3"
    assert reader.one("#explorer-sentence").get_attribute("value") == "3"
    note = reader.one("#explorer-choice .note").text
    assert note == "All 24 recorded searches are in this page."
    assert "Die 3 alten Haus." in reader.one(".texts").text  # the baseline's beside it
    reader.wait_for("[data-step='5']")
    reader.click("[data-step='5']")
    assert reader.one("[data-step='5']").get_attribute("aria-pressed") == "true"
    assert reader.one("#moment-shown").text == "20 of 20"
    reader.look_at(0)
    assert reader.field("Visits") == "21"
    # the tree as it was at the first simulation
    reader.browser.execute_script(
        "const slider = document.getElementById('moment'); slider.value = 1;"
        "slider.dispatchEvent(new Event('input'))"
    )
    assert reader.one("#moment-shown").text == "1 of 20"
    assert len(reader.all(".node")) == 2
    reader.browser.execute_script(
        "const slider = document.getElementById('moment'); slider.value = 20;"
        "slider.dispatchEvent(new Event('input'))"
    )
    # fold everything, unfold it by keyboard, read a value
    before = len(reader.all(".node"))
    reader.click(".node[data-node='0']")
    assert len(reader.all(".node")) == 1
    assert reader.one(".node").get_attribute("aria-expanded") == "false"
    reader.one(".node").send_keys("\ue007")
    assert len(reader.all(".node")) == before
    reader.look_at(1)
    assert 0 < float(reader.field("Prior")) <= 1
    assert float(reader.field("Value Q")) == pytest.approx(reader.recorded_value(), abs=2e-4)
    assert reader.field("Token") == reader.one(".node[data-node='1'] .piece").text
    assert reader.field("Deviation") == "0.1250"
    assert "Deviation: the standard deviation" in reader.one(".legend").text
    # the prefix begins with what was chosen before
    tokens = [one.text.split()[1].replace("␣", " ") for one in reader.all(".token")[:4]]
    assert reader.field("Prefix").startswith("".join(tokens).strip())
    reader.click("#unfold-all")
    assert len(reader.all(".node")) >= before
    assert reader.complaints() == []


def test_beams_and_samples(reader: Reader) -> None:
    reader.choose("#explorer-sentence", 2)
    reader.wait_for("#explorer-run")
    names = [one.text for one in reader.all("#explorer-run option")]
    assert names == ["mcts-4", "mcts-20", "vgbs", "sr"]
    assert reader.all("[data-field='Deviation']") == []  # of mcts-4 none is known
    reader.choose("#explorer-run", 2)
    reader.wait_for("[data-shown='vgbs']")
    reader.look_at(1)
    assert reader.field("Deviation") == "0.2500"
    # a prefix of one token: the prior is all of its probability
    assert float(reader.field("Prior")) == pytest.approx(
        math.exp(float(reader.field("Log-probability").replace("−", "-"))), abs=1e-3
    )
    kept = len(reader.all(".node"))
    shades = {one.get_attribute("class").split()[1] for one in reader.all(".node")}
    assert shades <= {f"shade-{number}" for number in range(6)}  # those that there are
    titles = [one.text for one in reader.all(".column-title")]
    assert titles[:3] == ["start", "step 1", "step 2"]
    reader.click("#show-dropped")
    assert len(reader.all(".node.dropped")) == len(reader.all(".node")) - kept > 0
    reader.choose("#explorer-run", 3)
    reader.wait_for("[data-shown='sr']")
    reader.look_at(0)
    assert reader.field("Samples") == "9"
    assert reader.one("#moment-shown").text == "9 of 9"
    assert "9 scores of samples" in reader.one(".histogram").text
    assert reader.complaints() == []


def shown_nodes(reader: Reader) -> dict[int, dict[str, float]]:
    """Where the boxes of a search are in its drawing, and how much room is right of their texts."""
    script = """return Object.fromEntries([...document.querySelectorAll('.node')].map((node) => {
        const {e: left, f: top} = node.transform.baseVal[0].matrix;
        const {width} = node.querySelector('rect').getBBox();
        const texts = [...node.querySelectorAll('.piece, .figures')].map((one) => one.getBBox());
        const ends = texts.map((text) => text.x + text.width);
        return [node.dataset.node, {left, top, room: width - Math.max(...ends)}];
    }))"""
    nodes: dict[str, dict[str, float]] = reader.browser.execute_script(script)
    return {int(node): place for node, place in nodes.items()}


@pytest.fixture
def wide(browser: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """Searches for tokens of wide letters, one of them with many visits."""
    pieces = ("▁jemandem", "▁機械翻訳の探索", "▁WWWWWW")
    monkeypatch.setattr(Dictionary, "symbols", (*Dictionary.symbols[:-3], *pieces))
    texts = ["Ein Satz."]
    folders = [write_generated(tmp_path / "beam", texts, texts, texts)]
    searches: dict[str, dict[str, Any]] = {
        "mcts": {"simulations": 150},
        "sr": {"samples": 12},
        "vgbs": {"beam": 3},
    }
    for name, options in searches.items():
        (tmp_path / name).mkdir()
        toy_search((0,), tmp_path / name / "searches.jsonl", search=name, **options)
        folders.append(write_generated(tmp_path / name, texts, texts, texts, search=name))
    out = tmp_path / "report.html"
    main([str(out), *map(str, folders), "--resamples", "0"])
    reader = Reader(browser, out)
    reader.choose("#explorer-sentence", 0)
    reader.wait_for("[data-shown='mcts']")
    return reader


def test_boxes_hold_their_texts_and_stand_apart(wide: Reader) -> None:
    for number, name in enumerate(("mcts", "sr", "vgbs")):
        wide.choose("#explorer-run", number)
        wide.wait_for(f"[data-shown='{name}']")
        if name != "vgbs":
            wide.click("#unfold-all")
        nodes = shown_nodes(wide)
        assert min(place["room"] for place in nodes.values()) >= 4
        assert len({(place["left"], place["top"]) for place in nodes.values()}) == len(nodes)


def test_branches_share_rows_where_there_is_room(wide: Reader) -> None:
    wide.choose("#explorer-run", 1)
    wide.wait_for("[data-shown='sr']")
    rows = {place["top"] for place in shown_nodes(wide).values()}
    ends = wide.all(".node:not([aria-expanded='true'])")
    assert len(rows) < len(ends)


def test_nodes_by_arrow_keys(wide: Reader) -> None:
    from selenium.webdriver.common.keys import Keys

    wide.choose("#explorer-run", 1)
    wide.wait_for("[data-shown='sr']")
    wide.look_at(0)

    def press(key: str) -> dict[str, float]:
        wide.active.send_keys(key)
        node = wide.active.get_attribute("data-node")
        box, drawing = place_of(wide, f"[data-node='{node}'] rect"), place_of(wide, ".drawing")
        assert drawing["left"] <= box["left"] < box["right"] <= drawing["right"]
        return shown_nodes(wide)[int(node)]

    root = shown_nodes(wide)[0]
    beside = press(Keys.ARROW_RIGHT)
    assert beside["top"] == root["top"]
    assert beside["left"] > root["left"]
    below = press(Keys.ARROW_DOWN)
    assert below["left"] == beside["left"]
    assert below["top"] > beside["top"]
    assert press(Keys.ARROW_UP) == beside
    assert press(Keys.ARROW_LEFT) == root
    for _ in range(8):  # to the end, which was out of sight
        press(Keys.ARROW_RIGHT)
    assert place_of(wide, ".search")["left"] < place_of(wide, ".drawing")["left"]
    assert wide.complaints() == []


def test_beams_that_do_not_tell_what_they_dropped(browser: Any, tmp_path: Path) -> None:
    """Without values nothing is known of dropped proposals, and nothing is offered."""
    texts = ["Ein Satz."]
    folders = [write_generated(tmp_path / "beam", texts, texts, texts)]
    for name, alpha in (("without", 0.0), ("with", 0.5)):
        (tmp_path / name).mkdir()
        toy_search((0,), tmp_path / name / "a.jsonl", search="vgbs", beam=3, alpha=alpha)
        folders.append(write_generated(tmp_path / name, texts, texts, texts, search="vgbs"))
    out = tmp_path / "report.html"
    main([str(out), *map(str, folders), "--resamples", "0"])
    reader = Reader(browser, out)
    reader.choose("#explorer-sentence", 0)
    reader.wait_for("#moment")
    for number, name in enumerate(("without", "with")):
        reader.choose("#explorer-run", number)
        reader.wait_for(f"[data-shown='{name}']")
        assert len(reader.all("#show-dropped")) == number


def test_markup_stays_text(reader: Reader) -> None:
    reader.choose("#sentence-sort", "number")
    card = reader.one("[data-sentence='5']")
    assert MARKUP in card.text
    assert "<b>" in card.text  # a token of the toy's translations
    card.find_element("css selector", ".explore").click()
    reader.wait_for("#explorer-title")
    assert MARKUP in reader.one(".texts").text
    assert reader.browser.execute_script("return window.hacked") is None
    assert reader.all("main img, main b") == []
    assert reader.complaints() == []


def place_of(reader: Reader, selector: str) -> dict[str, float]:
    """Where something is in the window."""
    script = "return arguments[0].getBoundingClientRect().toJSON()"
    place: dict[str, float] = reader.browser.execute_script(script, reader.one(selector))
    return place


@pytest.mark.parametrize("width", [1280, 700])
def test_nothing_is_wider_than_the_window(reader: Reader, width: int) -> None:
    height = 900
    with window_of(reader.browser, width, height):
        reader.choose("#explorer-sentence", 1)
        reader.wait_for("#explorer-title")
        assert width_needed(reader.browser) <= width
        # what is told of a node is in view wherever the node is
        reader.choose("#explorer-run", 1)
        reader.wait_for("[data-shown='mcts-20']")
        lowest = max(reader.all(".node"), key=lambda one: one.rect["y"])
        reader.look_at(int(lowest.get_attribute("data-node")))
        prior = place_of(reader, "[data-field='Prior']")
        assert 0 <= prior["top"] < prior["bottom"] <= height
        reader.look_at(0)
        figure, panel = place_of(reader, ".histogram"), place_of(reader, "#node-details")
        assert panel["top"] <= figure["top"] < figure["bottom"] <= panel["bottom"]


def test_the_picture_for_the_documentation_has_all_colours(browser: Any, page: Path) -> None:
    picture = report_picture.picture_of(browser, page)
    width, height, depth, kind = struct.unpack(">IIBB", picture[16:26])  # of the IHDR chunk
    assert (width, depth) == (report_picture.WIDTH, 8)
    assert 900 < height < 2000
    assert kind in (2, 6)  # RGB with or without opacity, no palette


def test_dark_colours(reader: Reader) -> None:
    script = "return getComputedStyle(document.body).backgroundColor"
    before = reader.browser.execute_script(script)
    reader.click("#theme")
    assert reader.browser.execute_script(script) != before


def test_values_of_every_backup(browser: Any, tmp_path: Path) -> None:
    """The page computes Q anew at every simulation; at the last one it is what was recorded."""
    backups = ("mean", "max", "bellman", "weighted-max", "power")
    texts = ["Ein Satz."] * 2
    folders = [write_generated(tmp_path / "beam", texts, texts, texts)]
    for backup in backups:
        folder = tmp_path / backup
        folder.mkdir()
        toy_search((0, 1), folder / "searches.jsonl", simulations=40, leaves=2, backup=backup)
        folders.append(write_generated(folder, texts, texts, texts, search="mcts"))
    out = tmp_path / "report.html"
    main([str(out), *map(str, folders), "--resamples", "0"])
    reader = Reader(browser, out)
    reader.choose("#explorer-sentence", 1)
    reader.wait_for("#explorer-run")
    for number, backup in enumerate(backups):
        reader.choose("#explorer-run", number)
        reader.wait_for(f"[data-shown='{backup}']")
        for node in [one.get_attribute("data-node") for one in reader.all(".node")[:6]]:
            reader.look_at(int(node))
            computed = float(reader.field("Value Q"))
            assert computed == pytest.approx(reader.recorded_value(), abs=2e-4), backup
