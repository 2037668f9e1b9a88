"""fairseq-mcts-score: several systems, several metrics, and whether the differences mean anything.

Also says which metric each system's decoding optimised: a decoder is never judged by that alone.
"""

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.cli.score_table import Comparison, SystemScores, as_json, as_text
from fairseq_mcts.cli.user_dir import import_user_dir
from fairseq_mcts.metrics import Metric, build_metric, metric_class, parse_metric_spec
from fairseq_mcts.metrics.bootstrap import DEFAULT_RESAMPLES, DEFAULT_SEED, paired_bootstrap
from fairseq_mcts.metrics.system_output import SystemOutput, read_lines, read_system

_ENCODER_METRICS = ("bertscore", "mlbertscore")


def make_parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="fairseq-mcts-score",
        description="Score translations by several metrics, with signatures, and test differences "
        "to a baseline by paired bootstrap.",
    )
    add = parser.add_argument
    add(
        "systems",
        nargs="*",  # at least one, but with a better complaint than argparse's
        metavar="[NAME=]FILE",
        help="output of a system: plain text, one sentence a line, or a generate-*.txt of "
        "fairseq-generate (its D lines are read; concatenate shards)",
    )
    add("--sources", metavar="FILE", help="sources; default: the S lines of a generate-*.txt")
    add("--references", metavar="FILE", help="references; default: the T lines of a generate-*.txt")
    add(
        "--metrics",
        nargs="+",
        metavar="NAME[:OPTION=VALUE,…]",
        help="metrics to compute; default: bleu and chrf, with --encoder also bertscore and "
        "mlbertscore, each as far as references and sources are there",
    )
    add(
        "--encoder",
        metavar="PATH",
        help="local folder or hub name of the encoder of bertscore and mlbertscore",
    )
    add("--encoder-layer", type=int, metavar="N", help="layer of the encoder to compare")
    add(
        "--optimised",
        nargs="+",
        default=[],
        metavar="[NAME=]METRIC",
        help="metric that the decoding of a system (without NAME: of all but the baseline) "
        "optimised, or 'none'; marked in the table and never the only one shown",
    )
    add("--baseline", metavar="NAME", help="system to compare with; default: the first one")
    add(
        "--resamples",
        type=int,
        default=DEFAULT_RESAMPLES,
        help="resamples of the paired bootstrap; 0: no test (default: %(default)s)",
    )
    add("--seed", type=int, default=DEFAULT_SEED, help="of the resampling (default: %(default)s)")
    add("--json", metavar="FILE", help="write the results as JSON too ('-': instead of the table)")
    add("--user-dir", metavar="DIR", help="folder that registers further metrics")
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    parser = make_parser()
    options = parser.parse_args(arguments)
    if not options.systems:
        parser.error(
            "no system is given: [NAME=]FILE come first, because --metrics and --optimised take "
            "whatever follows them"
        )
    try:
        comparison = compare(options)
        as_data = json.dumps(as_json(comparison), indent=2, ensure_ascii=False) + "\n"
        if options.json == "-":
            sys.stdout.write(as_data)
            return
        print(as_text(comparison), flush=True)
        if options.json is not None:
            Path(options.json).write_text(as_data, encoding="utf-8")
    except (ValueError, OSError, ImportError) as error:
        parser.exit(2, f"{parser.prog}: error: {error}\n")


def compare(options: argparse.Namespace) -> Comparison:
    """Reads, checks, scores and tests as the options say."""
    if options.resamples < 0:
        raise ValueError(f"--resamples {options.resamples}: must not be negative")
    if options.user_dir is not None:
        import_user_dir(options.user_dir)
    systems = _read_systems(options.systems)
    baseline = options.baseline or next(iter(systems))
    if baseline not in systems:
        raise ValueError(f"--baseline {baseline}: the systems are {', '.join(systems)}")
    texts = _read_other_texts(options, systems)
    metrics = _build_metrics(options, texts)
    optimised = _read_optimised(options.optimised, list(systems), baseline)
    comparison = Comparison(
        metrics=metrics,
        systems={name: SystemScores(optimised.get(name), {}, {}) for name in systems},
        baseline=baseline,
        sentences=len(systems[baseline].hypotheses),
        resamples=options.resamples,
        seed=options.seed,
    )
    _demand_independent_metric(comparison)

    for metric in metrics:
        others = texts[metric.privileged]
        statistics = {
            name: metric.statistics(system.hypotheses, others) for name, system in systems.items()
        }
        for name, scores in comparison.systems.items():
            scores.scores[metric.name] = metric.aggregate(statistics[name].sum(axis=0))
            if name != baseline and options.resamples:
                scores.tests[metric.name] = paired_bootstrap(
                    metric,
                    statistics[name],
                    statistics[baseline],
                    resamples=options.resamples,
                    seed=options.seed,
                )
    return comparison


def _read_systems(arguments: Sequence[str]) -> dict[str, SystemOutput]:
    systems: dict[str, SystemOutput] = {}
    for argument in arguments:
        name, path = _split_name(argument)
        if not name:
            stem = Path(path).stem
            # Every run of fairseq-generate calls its file the same; its folder tells more.
            name = Path(path).resolve().parent.name if stem.startswith("generate-") else stem
        if name in systems:
            raise ValueError(f"two systems are called {name}: write NAME=FILE to tell them apart")
        systems[name] = read_system(path)
        if not systems[name].hypotheses:
            raise ValueError(f"{path} is empty")
    return systems


def _split_name(argument: str) -> tuple[str, str]:
    name, equals, rest = argument.partition("=")
    if equals and "/" not in name:  # an equals sign deeper in a path is part of it
        return name, rest
    return "", argument


def _read_other_texts(
    options: argparse.Namespace, systems: dict[str, SystemOutput]
) -> dict[bool, list[str]]:
    """The texts, as far as there are any, that metrics compare with: references if privileged."""
    texts: dict[bool, list[str]] = {}
    counts = {str(system.path): len(system.hypotheses) for system in systems.values()}
    for privileged, name in ((False, "sources"), (True, "references")):
        path = getattr(options, name)
        if path is not None:
            texts[privileged] = read_lines(path)
            counts[path] = len(texts[privileged])
        elif (carried := _carried(name, systems)) is not None:
            texts[privileged] = carried
    if options.references is None and any("<<unk>>" in line for line in texts.get(True, [])):
        print(
            "fairseq-mcts-score: warning: the T lines hold <<unk>> in place of words unknown to "
            "the model; give the real text by --references",
            file=sys.stderr,
        )
    if len(set(counts.values())) > 1:
        listing = ", ".join(f"{path}: {count}" for path, count in counts.items())
        raise ValueError(f"the files differ in their number of sentences ({listing})")
    return texts


def _carried(texts: str, systems: dict[str, SystemOutput]) -> list[str] | None:
    """The sources or references of the generate-*.txt files, which must agree."""
    carried = {name: getattr(system, texts) for name, system in systems.items()}
    present = [(name, lines) for name, lines in carried.items() if lines is not None]
    for name, lines in present[1:]:
        if lines != present[0][1]:
            raise ValueError(
                f"the outputs of {present[0][0]} and {name} are of different test sets, or their "
                f"texts were processed differently; give --{texts}"
            )
    return present[0][1] if present else None


def _build_metrics(options: argparse.Namespace, texts: dict[bool, list[str]]) -> list[Metric]:
    specs = options.metrics
    if specs is None:
        names = ["bleu", "chrf"] + (list(_ENCODER_METRICS) if options.encoder else [])
        specs = [name for name in names if metric_class(name).privileged in texts]
        if not specs:
            raise ValueError("nothing to compare with: give --references or --sources")
    encoder = {"model": options.encoder, "layer": options.encoder_layer}
    encoder = {key: value for key, value in encoder.items() if value is not None}
    metrics: dict[str, Metric] = {}
    for spec in specs:
        name, _ = parse_metric_spec(spec)
        if name in metrics:
            raise ValueError(f"--metrics names {name} twice")
        metrics[name] = build_metric(spec, encoder if name in _ENCODER_METRICS else None)
        if metrics[name].privileged not in texts:
            role = metrics[name].compares_with
            raise ValueError(
                f"metric {name} compares with the {role}: give --{role}s or a generate-*.txt"
            )
    if encoder and not set(metrics) & set(_ENCODER_METRICS):
        given = "--encoder" if options.encoder else "--encoder-layer"
        raise ValueError(f"{given} is given, but none of {', '.join(_ENCODER_METRICS)} is asked")
    return list(metrics.values())


def _read_optimised(
    arguments: Sequence[str], systems: Sequence[str], baseline: str
) -> dict[str, str]:
    """What each system's decoding optimised; systems of which nothing was said are left out."""
    optimised: dict[str, str] = {}
    for argument in arguments:
        name, metric = _split_name(argument)
        if name and name not in systems:
            raise ValueError(f"--optimised {argument}: the systems are {', '.join(systems)}")
        if metric != "none":
            metric_class(metric)  # refuses unknown names
        others = [system for system in systems if system != baseline] or list(systems)
        for system in [name] if name else others:
            optimised[system] = metric
    return optimised


def _demand_independent_metric(comparison: Comparison) -> None:
    for name, system in comparison.systems.items():
        if all(comparison.is_partial(name, metric) for metric in comparison.metrics):
            raise ValueError(
                f"the decoding of {name} optimised {system.optimised}, and no other judge is asked "
                "for: a system must not be judged by its own metric alone. Add a metric to "
                "--metrics"
            )
