"""The corpus, the policy and the runs that the tests of fairseq-mcts-relabel share."""

import logging
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

from fairseq_mcts.register import register

register()

from fairseq_cli import generate, preprocess, train, validate  # noqa: E402, F401

from fairseq_mcts.cli import relabel  # noqa: E402
from fairseq_mcts.metrics import Metric, register_metric  # noqa: E402
from tests.cli.relabel import forked  # noqa: E402
from tests.cli.relabel.forked import Ended  # noqa: E402

REPOSITORY = Path(__file__).parents[3]
ROWS = {"train": 90, "valid": 21}
POLICY = ("bin", "--path", "model/checkpoint_best.pt", "--cpu", "--max-len-b", "12")
CHUNKS = ("--chunk-rows", "8")  # 12 chunks of train, 3 of valid


@register_metric("letters")
class Letters(Metric):
    """A metric that compares with the source and depends on both texts in a simple way."""

    privileged = False

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [letters(one, two) for one, two in zip(hypotheses, others, strict=True)]

    def signature(self) -> str:
        return "letters"


@register_metric("faulty")
class Faulty(Letters):
    """No number for texts with a certain word."""

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [float("nan") if "w7" in other.split() else 0.5 for other in others]


@register_metric("immodest")
class Immodest(Letters):
    """Scores beyond what it says that they can be."""

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        return [100.0 for _ in hypotheses]


def letters(hypothesis: str, source: str) -> float:
    return len(hypothesis) / (len(hypothesis) + len(source) + 1)


def training(save_dir: str, task: str = "translation_mcts") -> list[str]:
    return [
        *("--task", task, "--arch", "multiquery_transformer_tiny", "--share-all-embeddings"),
        *("--encoder-layers", "1", "--decoder-layers", "1", "--encoder-embed-dim", "32"),
        *("--decoder-embed-dim", "32", "--criterion", "label_smoothed_cross_entropy"),
        *("--optimizer", "adam", "--lr", "0.01", "--max-tokens", "200", "--save-dir", save_dir),
        *("--cpu", "--log-format", "simple", "--seed", "7", "--no-epoch-checkpoints"),
    ]


def logged(command: Callable[[], object]) -> None:
    """fairseq's commands print what they have to say as a log."""
    layout = "| %(name)s | %(message)s"
    logging.basicConfig(stream=sys.stdout, level=logging.INFO, format=layout, force=True)
    command()


def succeed(command: Callable[[], object], folder: Path, *arguments: str) -> Ended:
    ended = forked.run(command, folder, arguments)
    assert ended.code == 0, ended.err[-3000:] + ended.out[-3000:]
    return ended


def relabelled(folder: Path, *arguments: str) -> Ended:
    return succeed(relabel.main, folder, *arguments)


def complaint(folder: Path, *arguments: str) -> str:
    """What a run says that must fail, in one line and without a traceback."""
    ended = forked.run(relabel.main, folder, arguments)
    assert ended.code == 2, ended.err
    assert ended.err.startswith("fairseq-mcts-relabel: error: "), ended.err
    assert ended.err.count("\n") == 1
    return ended.err


def content(out: Path) -> dict[str, bytes]:
    files = (path for path in out.rglob("*") if path.is_file())
    return {str(path.relative_to(out)): path.read_bytes() for path in files}
