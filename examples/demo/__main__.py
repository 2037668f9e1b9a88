"""`make demo`: data, training, tuning, decoding, a table of results and a page about them all."""

import argparse
import sys
from collections.abc import Mapping, Sequence

from examples.common.cost import read_cost
from examples.common.runner import Runner, run_program
from examples.common.threads import use_one_thread_each
from examples.demo.changes import changes, nearest_to_right, shown
from examples.demo.decoders import BEAM, DECODERS, EXTRA, V_MCTS, Decoder
from examples.demo.options import make_shared_parser, sizes_of
from examples.demo.plan import Plan, Sizes
from examples.demo.results import HeldOut, Judge, table, value_quality
from fairseq_mcts.command_help import show_defaults
from fairseq_mcts.metrics import Metric, build_metric
from fairseq_mcts.metrics.system_output import read_lines, read_system

BETTER = 3  # sentences that are shown
CAPTION = """\
p: of the difference to beam search by the metric that is searched for (paired bootstrap).
exact: equal to the reference. charged, made: network evaluations per output token, by the
paper's accounting and as needed.
A decoder is judged by the metrics that it does not search for; they may fall as its own rises."""


def main() -> int:
    args = make_parser().parse_args()
    use_one_thread_each()
    return run_program("demo", lambda: run(args))


def make_parser() -> argparse.ArgumentParser:
    """All options of the demo."""
    parser = make_shared_parser("python -m examples.demo", __doc__)
    lengths = {
        "updates": "updates of the policy's training",
        "encoder_steps": "updates of the training of the metric's encoder",
        "value_updates": "updates of the value's training",
        "value_sources": "sources that the value learns from",
        "judged_sources": "validation sources that values are judged by",
        "tuning_sentences": "validation sentences that decoders are tuned on",
    }
    for name, what in lengths.items():
        option = f"--{name.replace('_', '-')}"
        parser.add_argument(option, type=int, default=getattr(Sizes, name), metavar="N", help=what)
    names = [decoder.name for decoder in DECODERS]
    extra = [decoder.name for decoder in EXTRA]
    parser.add_argument(
        "--decoders",
        nargs="+",
        choices=[*names, *extra],
        default=names,
        metavar="NAME",
        help=f"what to decode with (default: {' '.join(names)}; also: {', '.join(extra)})",
    )
    show_defaults(parser)
    return parser


def run(args: argparse.Namespace) -> None:
    """Run all stages and report what came out."""
    decoders = chosen(args.decoders)
    plan = Plan(args.work, sizes_of(args), decoders, args.seed)
    runner = Runner(args.work, args.at_once)
    runner.run(plan.stages())
    report(plan, runner)


def chosen(names: Sequence[str]) -> tuple[Decoder, ...]:
    """The decoders of these names."""
    return tuple(decoder for decoder in (*DECODERS, *EXTRA) if decoder.name in names)


def report(plan: Plan, runner: Runner) -> None:
    """Print the scores of all decoders, some translations, and where the page is."""
    held_out = HeldOut(*(read_lines(plan.corpus / f"test.{one}") for one in ("en", "de")))
    metrics = {
        "BLEU": build_metric("bleu"),
        "chrF": build_metric("chrf"),
        "MLBERTScore": build_metric(plan.metric),
    }
    outputs = {
        decoder.name: read_system(plan.decoded(decoder) / "generate-test.txt").hypotheses
        for decoder in plan.decoders
    }
    judge = Judge(metrics, held_out, outputs.get(BEAM.name))
    results = judge.judge_all(
        [
            (decoder, outputs[decoder.name], read_cost(runner.log(plan.decode(decoder))))
            for decoder in plan.decoders
        ]
    )
    print(f"\n{len(held_out.sources)} test sentences\n{table(results, metrics)}\n{CAPTION}")
    quality = value_quality(runner.log(plan.train_on_completions()))
    print(f"\nthe value, on prefixes of validation samples: {quality}")
    if BEAM.name in outputs and V_MCTS.name in outputs:
        show_changes(held_out, outputs, [metrics["MLBERTScore"], metrics["chrF"]])
    print(f"\nthe same with every sentence and search: {plan.page}")


def show_changes(
    held_out: HeldOut, outputs: Mapping[str, Sequence[str]], metrics: Sequence[Metric]
) -> None:
    """Where search changed the translation for the better, and where it did not."""
    names = (BEAM.name, V_MCTS.name)
    found = changes(outputs[names[0]], outputs[names[1]], held_out, metrics)
    better = [change for change in found if change.is_better]
    worse = [change for change in found if change.is_worse]
    texts = [("source", held_out.sources), ("reference", held_out.references)]
    texts += [(name, list(outputs[name])) for name in names]
    judges = " and ".join(metric.name for metric in metrics)
    print(f"\n{V_MCTS.name} changed {len(found)} translations of {BEAM.name} search; by both")
    print(f"{judges} {len(better)} are better and {len(worse)} worse.")
    if better:
        print("The best of the better ones:")
    for change in nearest_to_right(better)[:BETTER]:
        print(shown(change, texts))
    if worse:
        print("The worst loss:")
        print(shown(min(worse, key=lambda change: sum(change.gains)), texts))


if __name__ == "__main__":
    sys.exit(main())
