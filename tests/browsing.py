"""Pages in a real browser: Debian's chromium, without a screen."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest


def start_browser() -> Any:
    """A driver of the browser; the test is skipped where there is none."""
    webdriver = pytest.importorskip("selenium.webdriver")
    chromium, driver = shutil.which("chromium"), shutil.which("chromedriver")
    if chromium is None or driver is None:
        pytest.skip("needs chromium and chromium-driver")
    options = webdriver.ChromeOptions()
    options.binary_location = chromium
    # in containers there is neither a user namespace nor a large /dev/shm
    for argument in ("--headless=new", "--no-sandbox", "--disable-dev-shm-usage", "--disable-gpu"):
        options.add_argument(argument)
    options.set_capability("goog:loggingPrefs", {"browser": "ALL"})
    return webdriver.Chrome(
        options=options, service=webdriver.ChromeService(executable_path=driver)
    )


@contextmanager
def window_of(browser: Any, width: int, height: int) -> Iterator[None]:
    """The browser with a window of that size, in pixels."""
    size = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": False}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
    try:
        yield
    finally:
        browser.execute_cdp_cmd("Emulation.clearDeviceMetricsOverride", {})


def width_needed(browser: Any) -> int:
    """Pixels that the page in the browser is wide; the window shows the rest by scrolling."""
    needed: int = browser.execute_script("return document.documentElement.scrollWidth")
    return needed


class Reader:
    """A page as a visitor sees it."""

    def __init__(self, browser: Any, page: Path | str) -> None:
        self.browser = browser
        browser.get_log("browser")  # what was said of pages of other tests is forgotten
        browser.get(page if isinstance(page, str) else page.as_uri())

    def all(self, selector: str) -> list[Any]:
        return self.browser.find_elements("css selector", selector)

    def one(self, selector: str) -> Any:
        return self.browser.find_element("css selector", selector)

    @property
    def active(self) -> Any:
        """What has the focus."""
        return self.browser.switch_to.active_element

    def click(self, selector: str) -> None:
        # where something has just been scrolled to, a real click may meet what moves
        self.browser.execute_script(
            "arguments[0].scrollIntoView({block: 'center'})", self.one(selector)
        )
        self.one(selector).click()

    def choose(self, selector: str, value: Any) -> None:
        from selenium.webdriver.support.ui import Select

        Select(self.one(selector)).select_by_value(str(value))

    def wait_for(self, selector: str) -> Any:
        from selenium.webdriver.support.ui import WebDriverWait

        return WebDriverWait(self.browser, 20).until(lambda _: self.all(selector))[0]

    def wait_for_text(self, selector: str, text: str) -> None:
        from selenium.webdriver.support.ui import WebDriverWait

        WebDriverWait(self.browser, 60).until(lambda _: self.one(selector).text == text)

    def sentences(self) -> list[int]:
        return [int(card.get_attribute("data-sentence")) for card in self.all(".card")]

    def controls(self) -> tuple[str, ...]:
        """What sentences are shown by: run, metric and order."""
        names = ("#sentence-run", "#sentence-metric", "#sentence-sort")
        return tuple(self.one(name).get_attribute("value") for name in names)

    def look_at(self, node: int) -> None:
        """Brings the details of a node up, whatever has come under the mouse meanwhile."""
        from selenium.webdriver import ActionChains

        actions = ActionChains(self.browser)
        actions.w3c_actions.pointer_action.move_to_location(0, 0)
        actions.perform()
        node_element = self.one(f".node[data-node='{node}']")
        self.browser.execute_script("arguments[0].blur(); arguments[0].focus()", node_element)

    def field(self, name: str) -> str:
        return self.one(f"[data-field='{name}']").text

    def recorded_value(self) -> float:
        return float(self.one("[data-recorded]").get_attribute("data-recorded"))

    def complaints(self) -> list[Any]:
        return [
            entry for entry in self.browser.get_log("browser") if "favicon" not in entry["message"]
        ]
