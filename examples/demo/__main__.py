"""`make demo`: data, training, decoding and a table of results, all in one work folder."""

import argparse
import sys

from tabulate import tabulate

from examples.common.cost import read_cost
from examples.common.runner import Runner, run_program
from examples.common.threads import use_one_thread_each
from examples.demo.decoders import DECODERS
from examples.demo.options import make_parser
from examples.demo.plan import Plan, Sizes
from examples.demo.results import HeldOut, score, table, value_quality
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.system_output import read_system

EXAMPLES = 3
CAPTION = """\
charged, made: network evaluations per output token, by the paper's accounting and as needed.
A decoder is judged by the metrics that it does not search for; they may fall as its own rises."""


def main() -> int:
    parser = make_parser("python -m examples.demo", __doc__)
    parser.add_argument("--updates", type=int, default=Sizes.updates, help="length of training")
    parser.add_argument(
        "--encoder-steps", type=int, default=Sizes.encoder_steps, help="training of the metric"
    )
    parser.add_argument(
        "--value-updates", type=int, default=Sizes.value_updates, help="training of the value"
    )
    parser.add_argument(
        "--hybrid-updates", type=int, default=Sizes.hybrid_updates, help="training of BLEU's value"
    )
    parser.add_argument(
        "--value-sources", type=int, default=Sizes.value_sources, help="that the value learns from"
    )
    parser.add_argument(
        "--judged-sources", type=int, default=Sizes.judged_sources, help="that values are judged by"
    )
    parser.add_argument(
        "--decoders",
        nargs="+",
        choices=[decoder.name for decoder in DECODERS],
        default=[decoder.name for decoder in DECODERS],
        metavar="NAME",
        help="what to decode with (default: %(default)s)",
    )
    args = parser.parse_args()
    use_one_thread_each()
    return run_program("demo", lambda: run(args))


def run(args: argparse.Namespace) -> None:
    """Run all stages and report what came out."""
    sizes = Sizes(
        args.train_pairs,
        args.held_out_pairs,
        args.pieces,
        args.updates,
        args.encoder_steps,
        args.value_updates,
        args.hybrid_updates,
        args.value_sources,
        args.judged_sources,
    )
    decoders = tuple(decoder for decoder in DECODERS if decoder.name in args.decoders)
    plan = Plan(args.work, sizes, decoders)
    runner = Runner(args.work, args.at_once)
    runner.run(plan.stages())
    report(plan, runner)


def report(plan: Plan, runner: Runner) -> None:
    """Print some translations and the scores of all decoders."""
    sources, references = (
        (plan.corpus / f"test.{language}").read_text(encoding="utf-8").splitlines()
        for language in ("en", "de")
    )
    outputs = {
        decoder.name: read_system(plan.decoded(decoder) / "generate-test.txt").hypotheses
        for decoder in plan.decoders
    }
    for number in range(min(EXAMPLES, len(sources))):
        texts = {"source": sources, "reference": references, **outputs}
        shown = [(name, lines[number]) for name, lines in texts.items()]
        print(f"\n{tabulate(shown, tablefmt='plain', disable_numparse=True)}")
    held_out, metric = HeldOut(sources, references), build_metric(plan.metric)
    results = [
        score(
            decoder,
            outputs[decoder.name],
            held_out,
            metric,
            read_cost(runner.log(plan.decode(decoder))),
        )
        for decoder in plan.decoders
    ]
    print(f"\n{len(references)} test sentences\n{table(results)}\n{CAPTION}")
    values = {"MLBERTScore": plan.train_on_completions(), "BLEU": plan.train_hybrid()}
    qualities = [(name, value_quality(runner.log(training))) for name, training in values.items()]
    print("\nvalues of validation samples, every prefix")
    print(tabulate(qualities, tablefmt="plain"))


if __name__ == "__main__":
    sys.exit(main())
