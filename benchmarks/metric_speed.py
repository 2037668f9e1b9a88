"""How much faster are BERTScore and MLBERTScore here than the bert-score package, same scores?

    python benchmarks/metric_speed.py --encoder DIR --sources test.en --references test.de

Fifty candidates for each of 200 sources, made from the references by changing up to three words, so
that some occur more than once, as among the samples and rollouts of a search. Three ways of asking
for the same 10,000 scores, each side in the same calls where the caller's order forces them:

* search: one candidate of every source at a time, 50 times over, as MCTS+Roll asks. The package
  encodes every source anew each time.
* rerank: all candidates of a source in one call of the package; here all sources in one call. The
  package encodes each text of a call once too, so what is left to gain is its overhead.
* single: one call of the package per pair, as a search that goes by single sentences asks.

Without --encoder, a tiny encoder is trained on the demo's corpus first (or any two files given).
"""

import argparse
import json
import os
import platform
import random
import statistics
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("TOKENIZERS_PARALLELISM", "false")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

import bert_score
import torch
import transformers

from fairseq_mcts.demo.encoder import EncoderTraining, train_encoder
from fairseq_mcts.metrics import Metric, build_metric
from fairseq_mcts.metrics.embedder import shared_embedder
from fairseq_mcts.metrics.encoder import fingerprint
from fairseq_mcts.metrics.system_output import read_lines

TOLERANCE = 1e-5
Pairs = list[tuple[str, str]]  # (candidate, source)


def make_candidates(references: Sequence[str], count: int, seed: int) -> list[list[str]]:
    """`count` variants of each reference with up to three words replaced, dropped or added."""
    rng = random.Random(seed)
    vocabulary = [word for text in references for word in text.split()]
    return [[_vary(text, vocabulary, rng) for _ in range(count)] for text in references]


def _vary(text: str, vocabulary: Sequence[str], rng: random.Random) -> str:
    words = text.split()
    for _ in range(rng.choice([0, 1, 1, 2, 2, 3])):
        place = rng.randrange(len(words))
        kind = rng.random()
        if kind < 0.2 and len(words) > 3:
            del words[place]
        elif kind < 0.8:
            words[place] = rng.choice(vocabulary)
        else:
            words.insert(place, rng.choice(vocabulary))
    return " ".join(words)


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


def timed(work: Callable[[], list[float]]) -> tuple[float, list[float]]:
    started = time.perf_counter()
    scores = work()
    return time.perf_counter() - started, scores


def compare(encoder: str, layer: int, calls: dict[str, list[Pairs]], repeats: int) -> list[dict]:
    """Both sides of each way, interleaved; the minimum of `repeats` runs counts."""
    package = bert_score.BERTScorer(model_type=encoder, num_layers=layer)
    rows = []
    for way, own_calls in calls.items():
        # Reranking has all candidates at once; searches are bound to their order of asking.
        ours_calls = [[p for call in own_calls for p in call]] if way == "rerank" else own_calls
        times: dict[str, list[float]] = {"package": [], "ours": []}
        for _ in range(repeats):
            shared_embedder.cache_clear()  # a fresh metric: nothing is remembered between runs
            metric = build_metric("mlbertscore", {"model": encoder, "layer": layer})
            seconds, ours = timed(lambda m=metric, c=ours_calls: run_ours(m, c))
            times["ours"].append(seconds)
            seconds, theirs = timed(lambda c=own_calls: run_package(package, c))
            times["package"].append(seconds)
        worst = max(abs(a - b) for a, b in zip(ours, theirs, strict=True))
        rows.append(
            {
                "way": way,
                "calls": len(own_calls),
                "package_seconds": min(times["package"]),
                "ours_seconds": min(times["ours"]),
                "ratio": min(times["package"]) / min(times["ours"]),
                "worst_difference": worst,
                "scores_per_second": len(ours) / min(times["ours"]),
            }
        )
        print_row(rows[-1])
    return rows


def print_row(row: dict) -> None:
    print(
        f"{row['way']:8} {row['calls']:6} calls  package {row['package_seconds']:8.2f} s  "
        f"ours {row['ours_seconds']:8.2f} s  {row['ratio']:6.2f} x faster  "
        f"{row['scores_per_second']:7.0f} scores/s  worst difference "
        f"{row['worst_difference']:.1e}",
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
        "bert_score": bert_score.__version__,
        "encoder": fingerprint(encoder),
        "layer": layer,
        "sources": len(candidates),
        "candidates": options.candidates,
        "distinct_candidates": statistics.mean(len(set(own)) for own in candidates),
        "seed": options.seed,
        "repeats": options.repeats,
    }


def main(arguments: Sequence[str] | None = None) -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("--sources", required=True, help="one sentence a line")
    parser.add_argument("--references", required=True, help="their translations")
    parser.add_argument("--encoder", help="model folder; default: trained on the two files")
    parser.add_argument("--layer", type=int, help="default: the last one")
    parser.add_argument("--count", type=int, default=200, help="sources (default: %(default)s)")
    parser.add_argument("--candidates", type=int, default=50, help="each (default: %(default)s)")
    parser.add_argument("--ways", nargs="+", default=["search", "rerank", "single"])
    parser.add_argument("--repeats", type=int, default=1, help="runs of each side")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json", metavar="FILE", help="write settings and results as JSON too")
    options = parser.parse_args(arguments)
    sources, references = read_lines(options.sources), read_lines(options.references)
    if len(sources) != len(references):
        parser.error(f"{len(sources)} sources but {len(references)} references")
    transformers.logging.set_verbosity_error()
    with tempfile.TemporaryDirectory() as folder:
        encoder = options.encoder
        if encoder is None:
            encoder = folder
            train_encoder(sources, references, Path(folder), EncoderTraining(steps=200))
        candidates = make_candidates(references[: options.count], options.candidates, options.seed)
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
    if options.json:
        text = json.dumps({"settings": settings, "results": rows}, indent=2) + "\n"
        Path(options.json).write_text(text, encoding="utf-8")
    if any(row["worst_difference"] > TOLERANCE for row in rows):
        sys.exit(f"scores differ by more than {TOLERANCE}")


if __name__ == "__main__":
    main()
