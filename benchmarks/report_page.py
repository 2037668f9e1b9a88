"""Size and first paint of a large report: 2,000 sentences, trees of 300 simulations.

    python benchmarks/report_page.py [--sentences 2000] [--recorded 300] [--simulations 300]

Needs chromium and chromium-driver. Trees are those of a toy model, whose policies are flatter than
a trained one's: hardly a simulation meets a prefix that was opened before.
"""

from __future__ import annotations

import argparse
import random
import statistics
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the tests' browser and runs

from fairseq_mcts.cli.report import main as write_report
from tests.browsing import start_browser
from tests.report.runs import text_of, toy_search, write_generated

AIMS = {"megabytes": 10.0, "first paint, seconds": 2.0}
RUNS = ("mcts-4", "mcts-16", "mcts-64", "mcts-300")


def write_runs(folder: Path, options: argparse.Namespace) -> list[str]:
    dice = random.Random(1)
    words = [f"word{number}" for number in range(2000)]

    def texts() -> list[str]:
        return [
            " ".join(dice.choices(words, k=dice.randint(8, 30))) for _ in range(options.sentences)
        ]

    sources, references = texts(), texts()
    runs = [write_generated(folder / "beam", sources, references, texts())]
    for name in RUNS:
        (folder / name).mkdir()
        translations = texts()
        if name == RUNS[-1]:
            recorded = range(options.recorded)
            record = folder / name / "searches.jsonl.gz"
            found = toy_search(recorded, record, simulations=options.simulations, max_len=15)
            translations[: len(found)] = [text_of(one.tokens) for one in found]
        values = [dice.random() for _ in translations]
        charged = int(name.split("-")[1])
        options_of_run: dict[str, Any] = {"search": "mcts", "values": values, "charged": charged}
        runs.append(
            write_generated(folder / name, sources, references, translations, **options_of_run)
        )
    return [str(run) for run in runs]


def first_paint(browser: Any, page: Path) -> tuple[float, float]:
    """Seconds from the call for a page to its first paint, and to its end."""
    browser.get(page.as_uri())
    # a small page may be loaded before it is painted
    script = """
        const [done] = arguments;
        new PerformanceObserver((list) => {
            const [paint] = list.getEntriesByName('first-contentful-paint');
            const [load] = performance.getEntriesByType('navigation');
            if (paint) done([paint.startTime, load.loadEventEnd]);
        }).observe({type: 'paint', buffered: true});"""
    paint, end = browser.execute_async_script(script)
    return paint / 1000, end / 1000


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--sentences", type=int, default=2000)
    parser.add_argument("--recorded", type=int, default=300, help="sentences with searches")
    parser.add_argument("--simulations", type=int, default=300)
    parser.add_argument("--repeats", type=int, default=5, help="times that the page is loaded")
    options = parser.parse_args(arguments)
    with tempfile.TemporaryDirectory() as name:
        page = Path(name) / "report.html"
        write_report([str(page), *write_runs(Path(name), options), "--resamples", "20"])
        browser = start_browser()
        try:
            times = [first_paint(browser, page) for _ in range(options.repeats)]
        finally:
            browser.quit()
        paint, end = (statistics.median(column) for column in zip(*times, strict=True))
        found = {"megabytes": page.stat().st_size / 10**6, "first paint, seconds": paint}
        for what, figure in found.items():
            verdict = "met" if figure < AIMS[what] else "MISSED"
            print(f"{what}: {figure:.2f} (aim: below {AIMS[what]:g}, {verdict})")
        print(f"loaded after {end:.2f} s, all figures drawn")


if __name__ == "__main__":
    main()
