"""`python docs/report_picture.py PAGE.html` takes the picture of a report for docs/report.md.

Of the page from its top to the end of its charts, with all colours: a palette makes runs that have
different ones look alike. Needs chromium and chromium-driver.
"""

import argparse
import base64
import sys
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))  # for the tests' browser

from tests.browsing import Reader, start_browser

PICTURE = Path(__file__).with_name("report.png")
WIDTH = 1280
LAST = ".pair"  # what the picture ends with
MARGIN = 18  # below it, as between parts of the page


def picture_of(browser: Any, page: Path) -> bytes:
    """A PNG file of the upper part of a report."""
    size = {"width": WIDTH, "height": 900, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        last = Reader(browser, page).one(LAST).rect
        height = last["y"] + last["height"] + MARGIN
        clip = {"x": 0, "y": 0, "width": WIDTH, "height": height, "scale": 1}
        given = {"format": "png", "clip": clip, "captureBeyondViewport": True}
        taken = browser.execute_cdp_cmd("Page.captureScreenshot", given)
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})
    return base64.b64decode(taken["data"])


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("page", type=Path, help="of fairseq-mcts-report, as make demo writes it")
    parser.add_argument("--out", type=Path, default=PICTURE, help="(default: %(default)s)")
    options = parser.parse_args()
    browser = start_browser()
    try:
        options.out.write_bytes(picture_of(browser, options.page.resolve()))
    finally:
        browser.quit()


if __name__ == "__main__":
    main()
