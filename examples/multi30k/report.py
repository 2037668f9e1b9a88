"""All tables and plots from what the study left on disk; nothing is decoded or trained.

python -m examples.multi30k.report --work DIR --encoder DIR [--into RESULTS.md]
"""

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from shutil import copy

from examples.multi30k import decoding_tables, sweep_tables, value_tables
from examples.multi30k.layout import METRICS, SOURCE, TARGETS, Layout
from examples.multi30k.plots import plot_scaling
from examples.multi30k.scores import HeldOutScores
from examples.multi30k.times import wall_times
from examples.multi30k.trees import pictures_by_prior_gap

P_VALUES = (
    "In brackets: the p-value of the difference to beam search, by paired bootstrap (1,000 "
    "resamples; as sacrebleu computes it, in effect one-sided). Scores are in percent; higher is "
    "better."
)
MARK = "<!-- below: python -m examples.multi30k.report -->"
PICTURES = "pictures"
VALIDATION = "On validation sentences, which also choose the settings of the test set."


def sections(layouts: dict[str, Layout], out: Path) -> Iterator[str]:
    """The parts of the report, each with its heading."""
    scores = {target: HeldOutScores(layout) for target, layout in layouts.items()}
    yield f"# All tables\n\n{P_VALUES}"
    yield _section(
        "What searches by a value gain",
        decoding_tables.gains(scores),
        "By MLBERTScore, over the beam search that is best for it on validation data; as part of "
        "what S+R gains, which asks the metric itself. The last column is what it costs by a "
        "metric that no search has seen.",
    )
    for target, found in scores.items():
        yield _section(
            f"Main comparison, {SOURCE}-{target} (table 4)",
            decoding_tables.main_comparison(found, target),
            "Each column shows the systems that were made for its metric; the paper's numbers "
            "are of WMT 2014, with another encoder and other models.",
        )
    for target, found in scores.items():
        yield _section(
            f"All systems by all metrics, {SOURCE}-{target}",
            decoding_tables.all_scores(found),
            "The name of a system says what it searches for: judge it by the other columns. "
            "BERTScore and MLBERTScore share an encoder. Charged and made: network evaluations "
            "per output token, by the paper's accounting, and those that had to be made.",
        )
    for target, found in scores.items():
        yield _section(
            f"Against beam searches tuned for each metric, {SOURCE}-{target}",
            decoding_tables.tuned_beams(found),
            "Beam size and length normalisation chosen by the metric itself, where the other "
            "tables have the beam search that is best for BLEU; p-values are against this one.",
        )
    yield _section("MLBERTScore (table 1)", decoding_tables.unprivileged_metric(scores))
    yield _section("Supervised and distilled policy (table 12)", decoding_tables.policies(scores))
    for target, layout in layouts.items():
        yield from _of_pair(layout, scores[target], out)


def _of_pair(layout: Layout, scores: HeldOutScores, out: Path) -> Iterator[str]:
    """What one language pair alone shows."""
    pair = f"{SOURCE}-{layout.target}"
    separate = decoding_tables.separate_values(scores, layout.target)
    yield _section(
        f"Error of the values, {pair}, BLEU (table 3)", value_tables.value_errors(layout)
    )
    yield _section(
        f"Ways to learn a value of MLBERTScore, {pair}",
        value_tables.recipes(layout),
        "Minutes of relabelling and training; correlation of value and score within a source, of "
        "16 samples each at temperature 0.75; gains over beam search at fixed settings, and how "
        f"far the value is above the true score of what the search chose. {VALIDATION}",
    )
    yield _section(f"All values, {pair}", value_tables.all_qualities(layout), VALIDATION)
    yield _section(
        f"Normal, cheating and hybrid values, {pair} (table 6)",
        decoding_tables.architectures(scores),
        "Cheating values read the reference: an analysis, no translation system.",
    )
    yield _section(f"Supervised policy, separate value, {pair} (table 13)", separate)
    yield _section(f"Beam size, {pair} (table 7)", sweep_tables.beam_sizes(layout), VALIDATION)
    yield _section(f"VGBS by α, {pair} (table 8)", sweep_tables.alphas(layout), VALIDATION)
    yield _section(f"Backup and choice, {pair} (table 9)", sweep_tables.backups(layout), VALIDATION)
    yield _section(
        f"S+R and S+RV by temperature, {pair} (table 10)",
        sweep_tables.temperatures(layout),
        VALIDATION,
    )
    yield _section(
        f"Values from greedy translations and from samples, {pair}",
        sweep_tables.greedy_or_sampled(layout),
        f"The best setting of each decoder. {VALIDATION}",
    )
    for metric in reversed(METRICS):
        plot = out / f"scaling-{pair}-{metric}.svg"
        if plot_scaling(layout, metric, plot):
            title = f"Scaling with the budget, {pair}, {decoding_tables.TITLES[metric]} (table 5)"
            body = f"{sweep_tables.scaling(layout, metric)}\n\n{_shown(title, plot)}"
            yield _section(title, body, VALIDATION)

    yield _section(
        f"Wall times, {pair}",
        wall_times(layout),
        "Minutes of the last run of each stage, on a machine that did other things too: a stage "
        "that was interrupted took longer.",
    )
    pictures = pictures_by_prior_gap(layout.trees)
    if pictures:
        copies = [copy(picture, out / f"tree-{pair}-{picture.name}") for picture in pictures]
        yield _section(
            f"Search trees, {pair}",
            "\n\n".join(_shown(path.stem, path) for path in map(Path, copies)),
            "V-MCTS for MLBERTScore, where it most overruled its policy: of some output tokens of "
            "the first test sentences those whose chosen token is least probable beside the best.",
        )


def _shown(title: str, picture: Path) -> str:
    """A picture in Markdown that stands beside the folder of the pictures."""
    return f"![{title}]({picture.parent.name}/{picture.name})"


def _section(title: str, body: str, note: str = "") -> str:
    return "\n\n".join(part for part in (f"## {title}", note, body) if part)


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m examples.multi30k.report", description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="the study's folder")
    parser.add_argument("--encoder", required=True, help="the encoder that the study was made with")
    parser.add_argument(
        "--into",
        type=Path,
        help=f"file for the report, of which all above the line {MARK!r} is kept; pictures go into "
        f"the folder {PICTURES} beside it (default: WORK/report/tables.md)",
    )
    return parser


def main() -> int:
    args = make_parser().parse_args()
    layouts = {
        target: layout
        for target in TARGETS
        if (layout := Layout(Path(), args.work, args.encoder, target)).corpus.is_dir()
    }
    if not layouts:
        print(f"--work {args.work}: holds no study of a language pair", file=sys.stderr)
        return 2
    file = args.into or args.work / "report" / "tables.md"
    pictures = file.parent / PICTURES
    pictures.mkdir(parents=True, exist_ok=True)
    text = "\n\n".join(sections(layouts, pictures)) + "\n"
    file.write_text(f"{_kept(file)}{MARK}\n\n{text}", encoding="utf-8")
    print(text)
    return 0


def _kept(file: Path) -> str:
    """What stands above the tables, which somebody wrote."""
    if not file.is_file():
        return ""
    text = file.read_text(encoding="utf-8")
    return text.partition(MARK)[0] if MARK in text else f"{text.rstrip()}\n\n"


if __name__ == "__main__":
    sys.exit(main())
