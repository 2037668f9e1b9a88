"""The data of a report's page: plain lists and numbers, which the page's JavaScript draws."""

import base64
import gzip
import json
from collections.abc import Sequence
from typing import Any

from fairseq_mcts.pictures.record_file import Record
from fairseq_mcts.report.report import Report, ReportedRun

_DIGITS = 4


def page_data(report: Report) -> dict[str, Any]:
    """Everything but the searches."""
    return {
        "title": report.title,
        "sentences": report.num_sentences,
        "baseline": report.baseline,
        "resamples": report.resamples,
        "seed": report.seed,
        "metrics": [
            {
                "name": metric.name,
                "factor": metric.factor,
                "digits": metric.digits,
                "signature": metric.signature,
                "sentenceSignature": metric.sentence_signature,
            }
            for metric in report.metrics
        ],
        "sources": report.sources,
        "references": report.references,
        "curves": report.curves,
        "runs": [_run(report, number, run) for number, run in enumerate(report.runs)],
    }


def _run(report: Report, number: int, run: ReportedRun) -> dict[str, Any]:
    sentences = range(report.num_sentences)
    losses = report.losses[number]
    likelihoods = [run.generated.likelihood(one) for one in sentences]
    judged_by = report.judged_by(run)
    gap = report.value_gap(run, judged_by)
    return {
        "name": run.name,
        "search": run.search,
        "optimised": run.optimised,
        "scores": [
            {
                "score": one.score,
                "optimised": one.is_optimised,
                "difference": one.difference,
                "p": one.p_value,
            }
            for one in run.corpus
        ],
        "charged": rounded(run.charged_per_token),
        "made": rounded(run.made_per_token),
        "estimated": run.generated.counts_are_estimates,
        "lengthRatio": rounded(report.length_ratio(run)),
        "likelihood": rounded(run.likelihood),
        "judgedBy": judged_by,
        "correlation": None if gap is None else rounded(gap.correlation),
        "texts": run.hypotheses,
        "sentenceScores": [[rounded(one) for one in column] for column in run.sentences],
        "values": _column(run.generated.values, sentences),
        "likelihoods": [rounded(one) for one in likelihoods],
        "cost": [run.generated.charged_to(one) for one in sentences],
        "madeCost": [run.generated.made.get(one) for one in sentences],
        # of the few sentences that have any
        "copied": {one: losses[one].copied for one in sentences if losses[one].copied},
        "numbers": {one: losses[one].numbers for one in sentences if losses[one].numbers},
        "names": {one: losses[one].names for one in sentences if losses[one].names},
    }


def _column(numbers: dict[int, float], sentences: Sequence[int]) -> list[float | None] | None:
    return [rounded(numbers.get(one)) for one in sentences] if numbers else None


def rounded(number: float | None) -> float | None:
    """A number with the digits that a page shows at most."""
    return None if number is None else round(number, _DIGITS)


def packed_record(record: Record) -> str:
    """A search as text for a page: compressed, and in letters that mean nothing in HTML."""
    pieces: dict[str, int] = {}

    def numbered(column: Sequence[str]) -> list[int]:
        return [pieces.setdefault(piece, len(pieces)) for piece in column]

    def compact(tree: dict[str, Any]) -> dict[str, Any]:
        short = {
            name: [rounded(one) if isinstance(one, float) else one for one in column]
            for name, column in tree.items()
            if isinstance(column, list) and name not in ("piece", "source", "output", "steps")
        }
        return {**short, "piece": numbered(tree["piece"])}

    head: dict[str, Any] = {
        name: record[name]
        for name in ("search", "kind", "choice", "backup", "power", "leaf", "score")
        if name in record
    }
    head["output"] = numbered(record["output"])
    trees = record["steps"] if record["kind"] == "tree" else [record]
    entry = {**head, "trees": [compact(tree) for tree in trees], "pieces": list(pieces)}
    content = json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":")).encode()
    return base64.b64encode(gzip.compress(content, mtime=0)).decode("ascii")
