"""What commands that compare systems read: outputs, other texts, metrics."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.cli.errors import naming
from fairseq_mcts.metrics import Metric, build_metric, metric_class, parse_metric_spec
from fairseq_mcts.metrics.system_output import SystemOutput, read_lines, read_system

_ENCODER_METRICS = ("bertscore", "mlbertscore")


def read_systems(arguments: Sequence[str], kind: str) -> dict[str, SystemOutput]:
    """The outputs by the names of their systems; complaints call an argument a `kind`."""
    systems: dict[str, SystemOutput] = {}
    for argument in arguments:
        name, path = split_name(argument)
        if not name:
            stem = Path(path).stem
            # Every run of fairseq-generate calls its file the same; its folder tells more.
            name = Path(path).resolve().parent.name if stem.startswith("generate-") else stem
        if name in systems:
            raise ValueError(f"two systems are called {name}: write NAME=FILE to tell them apart")
        with naming(f"{kind} {argument}"):
            systems[name] = read_system(path)
        if not systems[name].hypotheses:
            raise ValueError(
                f"{kind} {argument}: {path} is empty; it must hold a translation a line, or be the "
                "output of fairseq-generate"
            )
    return systems


def split_name(argument: str) -> tuple[str, str]:
    name, equals, rest = argument.partition("=")
    if equals and "/" not in name:  # an equals sign deeper in a path is part of it
        return name, rest
    return "", argument


def read_other_texts(
    options: argparse.Namespace, systems: dict[str, SystemOutput]
) -> dict[bool, list[str]]:
    """The texts, as far as there are any, that metrics compare with: references if privileged.

    `options` has `sources` and `references`, paths or None, and the `program`'s name.
    """
    texts: dict[bool, list[str]] = {}
    counts = {str(system.path): len(system.hypotheses) for system in systems.values()}
    for privileged, name in ((False, "sources"), (True, "references")):
        path = getattr(options, name)
        if path is not None:
            with naming(f"--{name} {path}"):
                texts[privileged] = read_lines(path)
            counts[f"--{name} {path}"] = len(texts[privileged])
        elif (carried := _carried(name, systems)) is not None:
            texts[privileged] = carried
    if options.references is None and any("<<unk>>" in line for line in texts.get(True, [])):
        print(
            f"{options.program}: warning: the T lines hold <<unk>> in place of words unknown to "
            "the model; give the real text by --references",
            file=sys.stderr,
        )
    if len(set(counts.values())) > 1:
        listing = ", ".join(f"{path}: {count}" for path, count in counts.items())
        raise ValueError(
            f"the files differ in their number of sentences ({listing}): all must be of the same "
            "test set, with one sentence a line"
        )
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


def build_metrics(options: argparse.Namespace, texts: dict[bool, list[str]]) -> list[Metric]:
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
            raise ValueError(f"{options.metrics_flag}: {name} is named twice")
        with naming(f"{options.metrics_flag} {spec}"):
            metrics[name] = build_metric(spec, encoder if name in _ENCODER_METRICS else None)
        if metrics[name].privileged not in texts:
            role = metrics[name].compares_with
            raise ValueError(
                f"metric {name} compares with the {role}: give --{role}s or a generate-*.txt"
            )
        if metrics[name].reads_source and False not in texts:
            raise ValueError(f"metric {name} reads sources too: give --sources or a generate-*.txt")
    if encoder and not set(metrics) & set(_ENCODER_METRICS):
        given = "--encoder" if options.encoder else "--encoder-layer"
        raise ValueError(f"{given} is given, but none of {', '.join(_ENCODER_METRICS)} is asked")
    return list(metrics.values())
