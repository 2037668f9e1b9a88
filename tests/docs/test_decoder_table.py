"""The table of decoders is that of the registry."""

import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from docs import decoder_table
from fairseq_mcts.search import Decoder, DecoderOptions, option, register_decoder, registry
from tests.docs.pages import REPOSITORY


@dataclass(frozen=True, kw_only=True)
class WideOptions(DecoderOptions):
    width: int = option(3, "candidates | beams", grid=(1, 2))
    rank_by: str = option("value", "by what", choices=("value", "metric", "none"))
    depth: int = option(4, "steps", no_effect_with={"rank_by": "none"}, flag=False)
    jump: int = option(1, "in tokens", only_with={"rank_by": "value", "width": "3"})


class Wide(Decoder[WideOptions]):
    """Looks far and wide.

    Nothing of this is in the table.
    """

    Options = WideOptions
    budget_option = "width"
    presets = {"far": {"width": 9}, "near": {}}
    value_unless = {"rank_by": ("metric", "none")}
    metric_if = {"rank_by": ("metric",)}

    @staticmethod
    def charge(count: int) -> int:
        return 2 * count

    def search(self, run: Any) -> Any:
        raise AssertionError("is never started here")


@pytest.fixture
def wide() -> Iterator[None]:
    register_decoder("wide")(Wide)
    yield
    registry.unregister_decoder("wide")


def test_the_page_is_up_to_date() -> None:
    command = [sys.executable, str(REPOSITORY / "docs" / "decoder_table.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=REPOSITORY)
    assert done.returncode == 0, done.stderr


@pytest.mark.usefixtures("wide")
def test_a_new_decoder_is_in_the_table() -> None:
    page = decoder_table.PAGE.read_text(encoding="utf-8")
    new = decoder_table.with_tables(page)
    assert new != page
    assert decoder_table.with_tables(new) == new
    assert (
        "| `wide` | Looks far and wide | needed, but not with `--wide-rank-by metric` or "
        "`--wide-rank-by none` | with `--wide-rank-by metric` | `--wide-width 25`, charged 50 |\n"
    ) in new
    section = new.partition("## wide\n")[2].partition(decoder_table.END)[0]
    assert "| `--wide-width` | `3` | candidates \\| beams | 1, 2 |\n" in section
    assert "| `depth` | `4` | steps; has no effect with `--wide-rank-by none` | – |\n" in section
    only = "only with `--wide-rank-by value` or `--wide-width 3`"
    assert f"| `--wide-jump` | `1` | in tokens; {only} | – |\n" in section
    assert "- `--search-preset far`: `--wide-width 9`\n" in section
    assert "near" not in section


def test_a_page_without_marks_is_refused() -> None:
    with pytest.raises(ValueError, match="marks"):
        decoder_table.with_tables("# Decoders\n")
