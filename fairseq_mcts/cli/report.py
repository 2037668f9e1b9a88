"""fairseq-mcts-report: one page about any number of decodings, and the same as Markdown."""

import argparse
import math
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.cli.comparing import Systems, add_comparison_options, read_and_check
from fairseq_mcts.cli.errors import exit_on_errors, naming
from fairseq_mcts.cli.report_runs import find_records, resolve_run
from fairseq_mcts.command_help import in_one_style
from fairseq_mcts.report.choice import chosen_searches
from fairseq_mcts.report.generated import read_generated
from fairseq_mcts.report.markdown import as_markdown
from fairseq_mcts.report.page_data import page_data
from fairseq_mcts.report.page_file import report_page
from fairseq_mcts.report.report import CorpusScore, MetricColumn, Report, ReportedRun

_MEGABYTE = 10**6


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairseq-mcts-report",
        description="Write one self-contained HTML page about decodings, and Markdown beside it: "
        "metrics with significance, cost, what was given up, sentences side by side, and the "
        "searches token by token where fairseq-generate has recorded them (--search-record).",
    )
    add = parser.add_argument
    add("out", metavar="OUT.html", type=Path, help="the page; OUT.md is written beside it")
    add(
        "runs",
        nargs="+",
        metavar="[NAME=]RUN",
        help="a decoding: the --results-path of fairseq-generate, or its generate-*.txt; recorded "
        "searches are found in the same folder. Runs of one decoder whose names differ only by "
        "a number at the end, and that cost more the greater it is, make a scaling curve",
    )
    add(
        "--metric",
        dest="metrics",
        action="append",
        metavar="NAME[:OPTION=VALUE,…]",
        help="a metric to compute, several times if wanted; default: bleu and chrf, with --encoder "
        "also bertscore and mlbertscore",
    )
    add(
        "--optimised",
        action="append",
        default=[],
        metavar="[NAME=]METRIC",
        help="metric that the decoding of a run (without NAME: of all but the baseline) optimised, "
        "or 'none'; several times if wanted",
    )
    add("--title", default="Decoding report", help="of the page (default: %(default)s)")
    add(
        "--max-megabytes",
        type=float,
        default=10.0,
        metavar="MB",
        help="recorded searches are taken in until the page is so large, those of the sentences "
        "that changed most first (default: %(default)s)",
    )
    add_comparison_options(parser, "--metric", "RUN")
    return in_one_style(parser, "report")


complete_parser = make_parser  # nothing comes late


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    with exit_on_errors(parser.prog, resumes=False):
        _check(options)
        for line in write_report(options):
            print(line, flush=True)


def _check(options: argparse.Namespace) -> None:
    """What can be refused before anything is read."""
    with naming(f"OUT.html {options.out}"):
        if options.out.suffix not in (".html", ".htm"):
            raise ValueError("the name of the page must end in .html")
        for file in (options.out, options.out.with_suffix(".md")):
            if file.is_dir():
                raise ValueError(f"can't write there: {file} is a folder")
        folder = next(one for one in options.out.absolute().parents if one.exists())
        if not folder.is_dir():
            raise ValueError(f"can't write there: {folder} is a file")
    if not 0 <= options.max_megabytes < math.inf:
        raise ValueError(f"--max-megabytes {options.max_megabytes}: must be a number ≥ 0")


def write_report(options: argparse.Namespace) -> list[str]:
    """Writes both files; what there is to say about them."""
    options.systems = [resolve_run(argument) for argument in options.runs]
    report = make_report(options, read_and_check(options))
    data = page_data(report)
    without = len(report_page({**data, "numRecorded": 0}, {}).encode())
    left = int(options.max_megabytes * _MEGABYTE) - without
    searches = chosen_searches(report, left)
    recorded = sum(len(run.records) for run in report.runs)
    page = report_page({**data, "numRecorded": recorded}, searches)
    markdown = options.out.with_suffix(".md")
    with naming(f"OUT.html {options.out}: can't write there"):
        options.out.parent.mkdir(parents=True, exist_ok=True)
        options.out.write_text(page, encoding="utf-8")
        markdown.write_text(as_markdown(report), encoding="utf-8")
    lines = [f"{options.out}: {len(page.encode()) / _MEGABYTE:.1f} MB", f"{markdown}"]
    if recorded:
        lines.append(f"{len(searches)} of {recorded} recorded searches are in the page")
    return lines


def make_report(options: argparse.Namespace, systems: Systems) -> Report:
    """Scores and reads everything that a report is made of."""
    comparison = systems.comparison
    statistics = systems.fill()
    metrics = comparison.metrics
    runs = []
    for name, system in systems.systems.items():
        scores = comparison.systems[name]
        tests = [scores.tests.get(metric.name) for metric in metrics]
        corpus = [
            CorpusScore(
                score=scores.scores[metric.name],
                is_optimised=comparison.is_partial(name, metric),
                difference=None if test is None else test.difference,
                p_value=None if test is None else test.p_value,
            )
            for metric, test in zip(metrics, tests, strict=True)
        ]
        runs.append(
            ReportedRun(
                name=name,
                optimised=scores.spec,
                hypotheses=system.hypotheses,
                generated=read_generated(system.path),
                records=find_records(system.path),
                corpus=corpus,
                sentences=[
                    systems.sentence_scores(metric, name, statistics[metric.name][name])
                    for metric in metrics
                ],
            )
        )
    return Report(
        title=options.title,
        metrics=[
            MetricColumn(
                metric.name,
                metric.report_factor,
                metric.report_digits,
                metric.signature(),
                metric.sentence_signature(),
            )
            for metric in metrics
        ],
        runs=runs,
        baseline=list(systems.systems).index(comparison.baseline),
        sources=systems.texts.get(False),
        references=systems.texts.get(True),
        resamples=comparison.resamples,
        seed=comparison.seed,
    )


if __name__ == "__main__":
    main()
