"""What all benchmarks share: options, the machine, fair timing, and a report with its bar.

Every benchmark compares two sides in one process. The sides take turns, after one unmeasured turn
each, and medians are compared: whatever else the machine does then falls on both alike.
"""

from __future__ import annotations

import os

# read by torch when it is loaded: more threads than idle cores must not spin
os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
os.environ.setdefault("GOMP_SPINCOUNT", "0")

import argparse
import json
import logging
import platform
import resource
import statistics
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch


def processor_seconds() -> float:
    """Of this process, and of processes that it has started and that have ended."""
    ended = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + ended.ru_utime + ended.ru_stime


CLOCKS: dict[str, Callable[[], float]] = {"wall": time.perf_counter, "cpu": processor_seconds}
VERSIONS = ("torch", "fairseq-fixed", "numba", "numpy", "ctranslate2")


def make_parser(description: str, *, timing: bool = True) -> argparse.ArgumentParser:
    """The options of every benchmark, whose docstring is the description.

    Without `timing` those that are about random networks and clocks are left out.
    """
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--threads", type=int, default=1, help="of each side (default: 1)")
    parser.add_argument("--json", type=Path, metavar="FILE", help="also write the figures there")
    if timing:
        parser.add_argument(
            "--size", choices=("tiny", "small", "base"), default="small", help="of the networks"
        )
        parser.add_argument(
            "--repeats", type=int, default=3, help="measured turns (default: %(default)s)"
        )
        parser.add_argument(
            "--clock",
            choices=tuple(CLOCKS),
            default="wall",
            help="cpu: the time of the process and its ended children, for machines with other "
            "work (default: wall)",
        )
        parser.add_argument("--seed", type=int, default=1, help="of weights and sentences")
        parser.add_argument(
            "--device",
            default="cpu",
            help="where networks are computed, by benchmarks that know it; cuda: a GPU "
            "(default: cpu)",
        )
    return parser


def parse(
    parser: argparse.ArgumentParser, arguments: Sequence[str] | None = None
) -> argparse.Namespace:
    """The options; torch computes with --threads from now on."""
    options = parser.parse_args(arguments)
    for name, given in vars(options).items():
        if name in ("threads", "repeats", "sentences") and isinstance(given, int) and given < 1:
            parser.error(f"--{name} {given}: must be at least 1")
    torch.set_num_threads(options.threads)
    torch.set_flush_denormal(True)
    logging.getLogger().setLevel(logging.WARNING)  # fairseq and numba tell much
    return options


def machine() -> dict[str, Any]:
    """Where figures come from."""
    gpu = torch.cuda.get_device_name() if torch.cuda.is_available() else None
    return {
        "date": time.strftime("%Y-%m-%d"),
        "cpu": _cpu_name(),
        **({} if gpu is None else {"gpu": gpu}),
        "cores": os.cpu_count(),
        "load": round(os.getloadavg()[0], 2),
        "python": platform.python_version(),
        **{name: found for name in VERSIONS if (found := _version(name))},
        # large tensors are otherwise given back to Linux and zeroed again at every use
        "malloc_keeps_memory": "MALLOC_MMAP_THRESHOLD_" in os.environ,
    }


def _cpu_name() -> str:
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


def alternate(
    sides: Mapping[str, Callable[[], object]], options: argparse.Namespace
) -> dict[str, float]:
    """Median seconds of each side; they take turns `--repeats` times after one unmeasured turn."""
    clock = CLOCKS[options.clock]
    seconds: dict[str, list[float]] = {name: [] for name in sides}
    for turn in range(options.repeats + 1):
        for name, work in sides.items():
            begun = clock()
            work()
            wait_for(options.device)
            if turn:
                seconds[name].append(clock() - begun)
    return {name: statistics.median(times) for name, times in seconds.items()}


def wait_for(device: str) -> None:
    """Until a GPU has done what it was given."""
    if torch.device(device).type == "cuda":
        torch.cuda.synchronize(device)


@dataclass(frozen=True)
class Bar:
    """What a figure has to be."""

    limit: float
    at_most: bool  # or at least

    def is_met(self, figure: float) -> bool:
        return figure <= self.limit if self.at_most else figure >= self.limit

    def __str__(self) -> str:
        return f"{'≤' if self.at_most else '≥'} {self.limit:g}"


def at_most(limit: float | None) -> Bar | None:
    return None if limit is None else Bar(limit, at_most=True)


def at_least(limit: float | None) -> Bar | None:
    return None if limit is None else Bar(limit, at_most=False)


@dataclass(frozen=True)
class Comparison:
    """One figure with what it was made of."""

    compared: str  # what over what
    figure: float  # mostly a ratio of two of the parts
    bar: Bar | None  # None: the figure is only stated
    parts: dict[str, float]  # seconds, counts: the unit is in the name
    outputs_equal: bool | None = None  # None: there is nothing to compare

    @property
    def verdict(self) -> str:
        if self.outputs_equal is False:
            return "NOT met: outputs differ"
        if self.bar is None:
            return "stated"
        return "met" if self.bar.is_met(self.figure) else "NOT met"

    def __str__(self) -> str:
        parts = ", ".join(f"{name} {part:,.4g}" for name, part in self.parts.items())
        equal = {None: "", True: "; same outputs", False: ""}[self.outputs_equal]
        bar = "" if self.bar is None else f" (bar {self.bar})"
        return f"{self.compared}: {self.figure:.3f}{bar} {self.verdict}{equal} [{parts}]"


@dataclass
class Report:
    """What a benchmark prints, and writes as JSON."""

    benchmark: str
    options: argparse.Namespace
    settings: dict[str, Any]  # beside the options
    comparisons: list[Comparison] = field(default_factory=list)
    series: list[dict[str, Any]] = field(default_factory=list)  # measured points, for plots

    def __post_init__(self) -> None:
        self.machine = machine()
        given = {name: value for name, value in vars(self.options).items() if name != "json"}
        self.settings = {**given, **self.settings}
        for title, facts in (("machine", self.machine), ("settings", self.settings)):
            print(f"{title}: {', '.join(f'{name} {fact}' for name, fact in facts.items())}")

    def add(self, comparison: Comparison) -> None:
        """Prints a figure at once: benchmarks take their time."""
        print(comparison, flush=True)
        self.comparisons.append(comparison)

    def measure_in_a_folder(
        self, measure: Callable[[argparse.Namespace, Path], Iterable[Comparison]]
    ) -> None:
        """Adds all comparisons of a measurement that writes files, and writes the report."""
        with tempfile.TemporaryDirectory() as folder:
            for comparison in measure(self.options, Path(folder)):
                self.add(comparison)
        self.write()

    def add_point(self, **point: Any) -> None:
        print("  ".join(f"{name} {_short(value)}" for name, value in point.items()), flush=True)
        self.series.append(point)

    def content(self) -> dict[str, Any]:
        """What is written."""
        return {
            "benchmark": self.benchmark,
            "machine": self.machine,
            "settings": {name: _plain(value) for name, value in self.settings.items()},
            "comparisons": [
                {
                    "compared": one.compared,
                    "figure": one.figure,
                    "bar": None if one.bar is None else str(one.bar),
                    "verdict": one.verdict,
                    "outputs_equal": one.outputs_equal,
                    "parts": one.parts,
                }
                for one in self.comparisons
            ],
            "series": self.series,
        }

    def write(self) -> None:
        """To the file of --json, if there is one."""
        if self.options.json is None:
            return
        self.options.json.parent.mkdir(parents=True, exist_ok=True)
        text = json.dumps(self.content(), indent=2, ensure_ascii=False)
        self.options.json.write_text(text + "\n", encoding="utf-8")


def _plain(value: Any) -> Any:
    return (
        value if isinstance(value, (str, int, float, bool, list, dict, type(None))) else f"{value}"
    )


def _short(value: Any) -> str:
    return f"{value:,.4g}" if isinstance(value, float) else f"{value}"


def save_figure(figure: Any, path: Path) -> None:
    """Writes a matplotlib figure and lets go of it."""
    from matplotlib import pyplot

    figure.tight_layout()
    path.parent.mkdir(parents=True, exist_ok=True)
    figure.savefig(path, dpi=120)
    pyplot.close(figure)
