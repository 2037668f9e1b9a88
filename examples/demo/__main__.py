"""`make demo`: data, training, decoding and a table of results, all in one work folder."""

import argparse
import os
import sys
from pathlib import Path

from tabulate import tabulate

from examples.common.cost import read_cost
from examples.common.runner import Runner, StageFailed
from examples.common.threads import use_one_thread_each
from examples.demo.decoders import DECODERS
from examples.demo.plan import Plan, Sizes
from examples.demo.results import HeldOut, score, table, value_quality
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.system_output import read_system

EXAMPLES = 3
CAPTION = """\
charged, made: network evaluations per output token, by the paper's accounting and as needed.
A decoder is judged by the metrics that it does not search for; they may fall as its own rises."""


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m examples.demo", description=__doc__)
    parser.add_argument("--work", type=Path, default=Path("work"), help="folder for all it makes")
    parser.add_argument("--train-pairs", type=int, default=Sizes.train_pairs)
    parser.add_argument("--held-out-pairs", type=int, default=Sizes.held_out_pairs)
    parser.add_argument("--pieces", type=int, default=Sizes.pieces, help="size of the vocabulary")
    parser.add_argument("--updates", type=int, default=Sizes.updates, help="length of training")
    parser.add_argument(
        "--encoder-steps", type=int, default=Sizes.encoder_steps, help="training of the metric"
    )
    parser.add_argument(
        "--value-updates", type=int, default=Sizes.value_updates, help="training of each value"
    )
    parser.add_argument(
        "--decoders",
        nargs="+",
        choices=[decoder.name for decoder in DECODERS],
        default=[decoder.name for decoder in DECODERS],
        metavar="NAME",
        help="what to decode with (default: %(default)s)",
    )
    parser.add_argument(
        "--at-once", type=int, default=os.cpu_count() or 1, help="stages that run side by side"
    )
    args = parser.parse_args()

    use_one_thread_each()
    sizes = Sizes(
        args.train_pairs,
        args.held_out_pairs,
        args.pieces,
        args.updates,
        args.encoder_steps,
        args.value_updates,
    )
    plan = Plan(
        args.work, sizes, tuple(decoder for decoder in DECODERS if decoder.name in args.decoders)
    )
    runner = Runner(args.work, args.at_once)
    try:
        runner.run(plan.stages())
    except StageFailed as failure:
        print(f"demo: {failure}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("\ndemo: stopped; the next run goes on from here", file=sys.stderr)
        return 130
    report(plan, runner)
    return 0


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
    values = {"MLBERTScore": plan.train_dual_head(), "BLEU": plan.train_hybrid()}
    qualities = [(name, value_quality(runner.log(training))) for name, training in values.items()]
    print("\nvalues of validation samples, every prefix")
    print(tabulate(qualities, tablefmt="plain"))


if __name__ == "__main__":
    sys.exit(main())
