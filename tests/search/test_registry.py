"""The registry of decoders: what it refuses, and that nothing else knows a decoder by name."""

import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.search import (
    Decoder,
    DecoderOptions,
    OptionError,
    Run,
    decode,
    decoder_class,
    decoder_names,
    make_decoder,
    option,
    register_decoder,
    registry,
)
from fairseq_mcts.search.options import at_least_one

PACKAGE = Path(__file__).parents[2] / "fairseq_mcts"
DECODERS = PACKAGE / "search" / "decoders"
OTHERS = sorted(name for name in decoder_names() if not decoder_class(name).is_fairseqs_own)
#: kernels and records of one decoder, which its file is made of
OWN_PARTS = {
    "mbr": "search/mbr.py",
    "mcts": "search/mcts_*.py",
    "vgbs": "search/vgbs_*.py",
    "sr": "search/sr_*.py",
}


@dataclass(frozen=True, kw_only=True)
class WidthOptions(DecoderOptions):
    width: int = option(3, "candidates", check=at_least_one)


@dataclass(frozen=True, kw_only=True)
class Misspelt(WidthOptions):
    depth: int = option(1, "steps", no_effect_with={"widht": 1})


@dataclass(frozen=True, kw_only=True)
class MisspeltNeed(WidthOptions):
    depth: int = option(1, "steps", only_with={"widht": 1})


class Wide(Decoder[WidthOptions]):
    """Looks far and wide."""

    Options = WidthOptions
    budget_option = "width"

    def search(self, run: Run) -> Any:
        raise AssertionError("is never started here")


@pytest.fixture
def wide() -> Iterator[str]:
    register_decoder("wide")(Wide)
    yield "wide"
    registry.unregister_decoder("wide")


def test_a_decoder_is_known_once_it_is_registered(wide: str) -> None:
    assert wide in decoder_names()
    assert make_decoder(wide, budget=7).options.width == 7
    assert decoder_class(wide).summary() == "Looks far and wide"


def test_the_same_class_twice_is_harmless(wide: str) -> None:
    register_decoder(wide)(Wide)
    with pytest.raises(ValueError, match="decoder 'wide' is already registered by Wide"):
        register_decoder(wide)(type("Narrow", (Wide,), {}))


@pytest.mark.parametrize("name", ["", "Wide", "far-wide", "2nd", "far wide"])
def test_names_that_would_make_no_flags(name: str) -> None:
    with pytest.raises(ValueError, match="lower-case letters"):
        register_decoder(name)


@pytest.mark.parametrize(
    ("attributes", "complaint"),
    [
        ({"Options": None}, "its Options must be a subclass of DecoderOptions"),
        ({"budget_option": "height"}, "'height' is none of its options"),
        ({"presets": {"paper": {"depth": 3}}}, "'depth' is none of its options"),
        ({"variants": {"Narrow": {"depth": 1}}}, "'depth' is none of its options"),
        ({"main_options": ("width", "height")}, "'height' is none of its options"),
        ({"metric_if": {"leaf": ("rollout",)}}, "'leaf' is none of its options"),
        ({"Options": Misspelt}, "'widht' is none of its options"),
        ({"Options": MisspeltNeed}, "'widht' is none of its options"),
    ],
)
def test_a_class_that_contradicts_itself(attributes: dict[str, Any], complaint: str) -> None:
    with pytest.raises(TypeError, match=complaint):
        register_decoder("odd")(type("Odd", (Wide,), attributes))
    assert "odd" not in decoder_names()


def test_a_decoder_without_a_count_has_no_budget() -> None:
    plain = type("Plain", (Wide,), {"budget_option": None, "name": "plain"})
    assert plain.with_options({"width": 2}).options.width == 2
    with pytest.raises(OptionError, match=r"^budget: 'plain' has no count"):
        plain.with_options({}, budget=5)


def test_a_decoder_may_always_need_a_metric() -> None:
    judged = type("Judged", (Wide,), {"uses_metric": True, "name": "judged"})(WidthOptions())
    assert judged.needs_metric and judged.scores_finished
    with pytest.raises(OptionError, match=r"^search='judged': needs a metric"):
        decode(lambda *_: None, 1, search=judged, eos=2, max_len=3)


def test_a_plain_field_is_no_option() -> None:
    @dataclass(frozen=True, kw_only=True)
    class Plain(DecoderOptions):
        width: int = 3

    with pytest.raises(TypeError, match=r"Plain\.width: declare it with option"):
        Plain()


def test_an_unknown_decoder() -> None:
    with pytest.raises(OptionError, match=r"^search: 'walk' is none of 'beam', "):
        make_decoder("walk")


def test_errors_are_spelt_as_the_caller_knows_the_options() -> None:
    error = OptionError("leaf", "not with {}", value="rollout", other=("backup", "max"))
    assert str(error) == "leaf='rollout': not with backup='max'"
    flags = error.spelt(lambda name, value: f"--{name} {value}")
    assert flags == "--leaf rollout: not with --backup max"


# ---- no other place names a decoder ----


@pytest.mark.parametrize("name", OTHERS)
def test_no_other_file_names_a_decoder(name: str) -> None:
    """As a word in quotes, as a flag, or by the classes of its file.

    But for examples of commands, which `--help` shows and tests/docs runs.
    """
    own = {DECODERS / f"{name}.py", *PACKAGE.glob(OWN_PARTS[name]), PACKAGE / "command_help.py"}
    cls = decoder_class(name)
    words = rf"[\"']{name}[\"']|--{name}-|\b{name}_[a-z]+\s*=|\b{cls.__name__}\b"
    words += rf"|\b{cls.Options.__name__}\b|--search {name}\b|decoders[./]{name}\b"
    found = [
        f"{path.relative_to(PACKAGE)}:{number}: {line.strip()}"
        for path in sorted(PACKAGE.rglob("*.py"))
        if path not in own
        for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1)
        if re.search(words, line)
    ]
    allowed = ('search: str | Decoder[Any] = "mcts",', 'search="mcts", eos=2, max_len=30)')
    assert [line for line in found if not line.endswith(allowed)] == []


@pytest.mark.slow
@pytest.mark.parametrize("name", OTHERS)
def test_a_decoder_whose_file_is_removed_is_gone(name: str, tmp_path: Path) -> None:
    """Help, flags, budgets and the other decoders work without it."""
    shutil.copytree(
        PACKAGE, tmp_path / "fairseq_mcts", ignore=shutil.ignore_patterns("__pycache__")
    )
    (tmp_path / "fairseq_mcts" / "search" / "decoders" / f"{name}.py").unlink()
    help_text = python(tmp_path, "-m", "fairseq_mcts")
    assert f"--{name}-" not in help_text
    assert not re.search(
        rf"(?<!fairseq-)\b{name}\b", help_text.partition("--search ")[2].partition("--value")[0]
    )
    for other in OTHERS:
        if other != name:
            assert f"--{other}-" in help_text
    script = (
        "import tests.plain_kernels\n"
        "from fairseq_mcts.search import decode, decoder_class, decoder_names\n"
        "import numpy as np\n"
        "flat = lambda s, p: (np.full((len(s), 3), np.log(1 / 3)), np.full(len(s), 0.5))\n"
        "for name in decoder_names():\n"
        "    metric = {'metric': lambda *texts: 0.5} if decoder_class(name).uses_metric else {}\n"
        "    decode(flat, 2, search=name, eos=2, max_len=3, budget=4, **metric)\n"
        "    print(name)\n"
    )
    assert python(tmp_path, "-c", script).split() == [
        other for other in decoder_names() if other != name
    ]


def python(folder: Path, *arguments: str) -> str:
    """What Python prints that finds the package in `folder`.

    Kernels run as they are written: to compile those of a copy takes a minute.
    """
    environment = {**os.environ, "NUMBA_DISABLE_JIT": "1", "PYTHONPATH": str(PACKAGE.parent)}
    done = subprocess.run(
        [sys.executable, *arguments],
        **{"cwd": folder, "env": environment, "capture_output": True, "text": True},
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
