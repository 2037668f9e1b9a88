"""How much faster are BERTScore and MLBERTScore here than the bert-score package, same scores?

    python benchmarks/metric_speed.py --encoder DIR --sources test.en --references test.de

Fifty candidates for each of 200 sources: variants of the reference, some of which occur more than
once, as among the samples and rollouts of a search. How many do decides much of the gain, so
--deviation sets it and the number of distinct ones is printed; at 0.25 hardly any repeat. Three
ways of asking for the same 10,000 scores, in the same calls where the caller's order forces them:

* search: one candidate of every source at a time, 50 times over, as MCTS+Roll asks. The package
  encodes every source anew each time. This is the loop that the bar is about.
* rerank: all candidates of a source in one call of the package; here all sources in one call. The
  package encodes each text of a call once too, so what is left to gain is its overhead: much with
  a small encoder, little where matrix products take nearly all of the time.
* single: one call of the package per pair, as a search that goes by single sentences asks.

Without --encoder, a tiny encoder is trained on the two files first.
"""

import argparse
import json
import os
import platform
import random
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from importlib.metadata import version
from pathlib import Path
from typing import NamedTuple

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import bert_score
import torch
import transformers

from fairseq_mcts.metrics import Metric, build_metric
from fairseq_mcts.metrics.embedder import shared_embedder
from fairseq_mcts.metrics.encoder import fingerprint
from fairseq_mcts.metrics.system_output import read_lines

REPOSITORY = Path(__file__).parents[1]
TOLERANCE = 1e-5
BAR = 3.0  # times faster than the package, demanded of the way "search"
Pairs = list[tuple[str, str]]  # (candidate, source)


def make_candidates(
    references: Sequence[str], count: int, deviation: float, seed: int
) -> list[list[str]]:
    """`count` variants of each reference, as a sampler would draw them from a peaked model.

    At each word there are two other choices, the same for all candidates (another word, or none at
    all), and each is taken with probability `deviation`.
    """
    rng = random.Random(seed)
    vocabulary = [word for text in references for word in text.split()]
    candidates = []
    for text in references:
        choices = [[word, *_alternatives(vocabulary, rng)] for word in text.split()]
        weights = [1 - 2 * deviation, deviation, deviation]
        drawn = ([rng.choices(options, weights)[0] for options in choices] for _ in range(count))
        candidates.append([" ".join(filter(None, words)) for words in drawn])
    return candidates


def _alternatives(vocabulary: Sequence[str], rng: random.Random) -> list[str]:
    return [rng.choice(vocabulary), "" if rng.random() < 0.3 else rng.choice(vocabulary)]


def arrange(sources: Sequence[str], candidates: Sequence[Sequence[str]]) -> dict[str, list[Pairs]]:
    """The calls that each way of asking makes: way -> calls -> pairs."""
    per_source = [
        [(candidate, source) for candidate in own]
        for source, own in zip(sources, candidates, strict=True)
    ]
    return {
        "search": [list(round_) for round_ in zip(*per_source, strict=True)],
        "rerank": per_source,
        "single": [[pair] for pairs in per_source for pair in pairs],
    }


def run_package(scorer: bert_score.BERTScorer, calls: list[Pairs]) -> list[float]:
    scores: list[float] = []
    for call in calls:
        f1 = scorer.score([pair[0] for pair in call], [pair[1] for pair in call])[2]
        scores += f1.tolist()
    return scores


def run_ours(metric: Metric, calls: list[Pairs]) -> list[float]:
    scores: list[float] = []
    for call in calls:
        scores += metric.score([pair[0] for pair in call], [pair[1] for pair in call])
    return scores


def expected_scores(
    package: bert_score.BERTScorer, pairs: Pairs, ours: list[float], theirs: list[float]
) -> tuple[list[float], int, int]:
    """What ours should be: the package's scores, pairs that differ asked for again, each alone.

    In a batch the package lets padding take part in the matching with similarity 0, so that a word
    without any positive similarity scores by the lengths of its neighbours. Alone, none is padded.
    And where its precision or recall is negative, its F1 is near a pole and ours is 0 by design.
    Returns also how many pairs were asked for again, and how many of these have such a pole.
    """
    corrected, dependent, poles = list(theirs), 0, 0
    for index, (candidate, source) in enumerate(pairs):
        if abs(ours[index] - theirs[index]) > TOLERANCE:
            alone = [column.item() for column in package.score([candidate], [source])]
            pole = min(alone[:2]) < 0
            corrected[index] = 0.0 if pole else alone[2]
            dependent += 1
            poles += pole
    return corrected, dependent, poles


class Clock(NamedTuple):
    """Seconds on the wall and of this process; on a busy machine only the latter compare well."""

    wall: float
    cpu: float


def timed(work: Callable[[], list[float]]) -> tuple[Clock, list[float]]:
    wall, cpu = time.perf_counter(), time.process_time()
    scores = work()
    return Clock(time.perf_counter() - wall, time.process_time() - cpu), scores


def compare(encoder: str, layer: int, calls: dict[str, list[Pairs]], repeats: int) -> list[dict]:
    """Both sides of each way, interleaved; the minimum of `repeats` runs counts."""
    package = bert_score.BERTScorer(model_type=encoder, num_layers=layer)
    rows = []
    for way, own_calls in calls.items():
        # Reranking has all candidates at once; searches are bound to their order of asking.
        ours_calls = [[p for call in own_calls for p in call]] if way == "rerank" else own_calls
        times: dict[str, list[Clock]] = {"package": [], "ours": []}
        for _ in range(repeats):
            shared_embedder.cache_clear()  # a fresh metric: nothing is remembered between runs
            metric = build_metric("mlbertscore", {"model": encoder, "layer": layer})
            seconds, ours = timed(lambda m=metric, c=ours_calls: run_ours(m, c))
            times["ours"].append(seconds)
            seconds, theirs = timed(lambda c=own_calls: run_package(package, c))
            times["package"].append(seconds)
        pairs = [pair for call in own_calls for pair in call]
        theirs, rescored, poles = expected_scores(package, pairs, ours, theirs)
        worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        package_time, our_time = min(times["package"]), min(times["ours"])
        rows.append(
            {
                "way": way,
                "calls": len(own_calls),
                "package_seconds": package_time.wall,
                "ours_seconds": our_time.wall,
                "ratio": package_time.wall / our_time.wall,
                "cpu_ratio": package_time.cpu / our_time.cpu,
                "worst_difference": worst,
                "scored_alone": rescored,
                "clamped": poles,
                "scores_per_second": len(ours) / our_time.wall,
            }
        )
        print_row(rows[-1])
    return rows


def print_row(row: dict) -> None:
    print(
        f"{row['way']:8} {row['calls']:6} calls  package {row['package_seconds']:8.2f} s  "
        f"ours {row['ours_seconds']:8.2f} s  {row['ratio']:6.2f} x faster "
        f"({row['cpu_ratio']:.2f} x by CPU time)  "
        f"{row['scores_per_second']:7.0f} scores/s  worst difference "
        f"{row['worst_difference']:.1e} ({row['scored_alone']} pairs scored alone, "
        f"{row['clamped']} of them clamped)",
        flush=True,
    )


def describe(encoder: str, layer: int, options: argparse.Namespace, candidates) -> dict:
    return {
        "machine": platform.processor() or platform.machine(),
        "cpus": os.cpu_count(),
        "load": os.getloadavg()[0],
        "threads": torch.get_num_threads(),
        "python": platform.python_version(),
        "torch": torch.__version__,
        "transformers": transformers.__version__,
        "bert_score": version("bert-score"),
        "encoder": fingerprint(encoder),
        "layer": layer,
        "sources": len(candidates),
        "candidates": options.candidates,
        "distinct_candidates": statistics.mean(len(set(own)) for own in candidates),
        "deviation": options.deviation,
        "seed": options.seed,
        "repeats": options.repeats,
    }


def train_encoder(options: argparse.Namespace, out: str) -> None:
    """Train the demo's encoder on the two files by its own command, in a process of its own."""
    files = (Path(options.sources).resolve(), Path(options.references).resolve())
    subprocess.run(
        [
            *(sys.executable, "-m", "examples.demo.encoder", "--out", out, "--steps", "200"),
            *("--source", str(files[0]), "--target", str(files[1])),
        ],
        cwd=REPOSITORY,
        check=True,
    )


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sources", required=True, help="one sentence a line")
    parser.add_argument("--references", required=True, help="their translations")
    parser.add_argument("--encoder", help="model folder; default: trained on the two files")
    parser.add_argument("--layer", type=int, help="default: the last one")
    parser.add_argument("--count", type=int, default=200, help="sources (default: %(default)s)")
    parser.add_argument("--candidates", type=int, default=50, help="each (default: %(default)s)")
    parser.add_argument(
        "--deviation",
        type=float,
        default=0.05,
        help="probability of each of two other choices at a word (default: %(default)s)",
    )
    parser.add_argument("--ways", nargs="+", default=["search", "rerank", "single"])
    parser.add_argument("--repeats", type=int, default=1, help="runs of each side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write settings and results as JSON too")
    options = parser.parse_args(arguments)
    sources, references = read_lines(options.sources), read_lines(options.references)
    if len(sources) != len(references):
        parser.error(f"{len(sources)} sources but {len(references)} references")
    if not 0 <= options.deviation <= 0.5:
        parser.error(f"--deviation {options.deviation}: must lie between 0 and 0.5")
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as folder:
        encoder = options.encoder
        if encoder is None:
            encoder = folder
            train_encoder(options, encoder)
        candidates = make_candidates(
            references[: options.count], options.candidates, options.deviation, options.seed
        )
        calls = arrange(sources[: options.count], candidates)
        unknown = set(options.ways) - set(calls)
        if unknown:
            parser.error(f"--ways {' '.join(sorted(unknown))}: choose from {', '.join(calls)}")
        metric = build_metric("mlbertscore", {"model": encoder, "layer": options.layer})
        layer = int(metric.layer)
        settings = describe(encoder, layer, options, candidates)
        for key, value in settings.items():
            print(f"{key}: {value}")
        rows = compare(encoder, layer, {way: calls[way] for way in options.ways}, options.repeats)
    for row in rows:
        if row["way"] == "search":
            verdict = "met" if row["ratio"] >= BAR else "NOT met"
            print(f"search: {row['ratio']:.2f} times faster (bar: {BAR:g}, {verdict})")
    if options.json:
        text = json.dumps({"settings": settings, "results": rows}, indent=2) + "\n"
        Path(options.json).write_text(text, encoding="utf-8")
    if any(row["worst_difference"] > TOLERANCE for row in rows):
        sys.exit(f"scores differ by more than {TOLERANCE}")


if __name__ == "__main__":
    main()
