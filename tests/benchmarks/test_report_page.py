"""The benchmark of a large page, on a small one."""

import pytest
import report_page


@pytest.mark.slow
def test_a_page_is_weighed_and_shown(capsys: pytest.CaptureFixture[str]) -> None:
    report_page.start_browser().quit()  # skips where there is none
    few = ("--sentences", "40", "--recorded", "3", "--simulations", "20", "--repeats", "1")
    report_page.main(few)
    shown = capsys.readouterr().out
    assert shown.count(", met)") == 2, shown
    assert "loaded after" in shown
