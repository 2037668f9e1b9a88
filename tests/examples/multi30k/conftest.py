"""A study on disk, made up."""

import itertools
import json
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from examples.common.runner import Stage
from examples.multi30k.layout import Layout
from fairseq_mcts.tuning.grid import grid
from fairseq_mcts.tuning.results import Trial, TrialStore
from tests.conftest import ParallelTexts

SENTENCES = 40


@pytest.fixture
def layout(tmp_path: Path) -> Layout:
    return Layout(tmp_path / "data", tmp_path / "work", "encoder", "de")


class Trials:
    """Writes outcomes of sweeps as fairseq-mcts-sweep does."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout

    def write(
        self,
        sweep: str,
        options: Mapping[str, Sequence[str]],
        scores: Sequence[float],
        bleu: Sequence[float] | None = None,
        chrf: Sequence[float] | None = None,
        value: float | None = None,
    ) -> None:
        """Write one MLBERTScore per setting; other scores lie below it, unless they are given."""
        self._layout.sweep(sweep).mkdir(parents=True, exist_ok=True)
        store = TrialStore(self._layout.sweep(sweep))
        for number, (setting, score) in enumerate(zip(grid(options), scores, strict=True)):
            found = {"mlbertscore": score, "bertscore": score - 0.1, "bleu": score - 0.2}
            found["chrf"] = 0.3 if chrf is None else chrf[number]
            found |= {} if bleu is None else {"bleu": bleu[number]}
            trial = Trial(setting.flags(), found, {}, ["a"], 10, 500, 100, 1.5, value)
            store.write(str(number), trial)


@pytest.fixture
def trials(layout: Layout) -> Trials:
    return Trials(layout)


def write_generated(folder: Path, hypotheses: Sequence[str]) -> None:
    """What fairseq-generate leaves, not in the order of the test set."""
    folder.mkdir(parents=True)
    lines = [f"D-{number}\t-0.5\t{text}\n" for number, text in enumerate(hypotheses)]
    (folder / "generate-test.txt").write_text("".join(reversed(lines)), encoding="utf-8")


def write_decoding_log(
    layout: Layout, system: str, tokens: int = 100, *, finished: bool = True
) -> None:
    """The log and the record of a stage that decodes."""
    log = layout.pair / "stages" / f"decode-{system}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    log.write_text(
        f"--search mcts: 6 sentences, {tokens} tokens; network evaluations: 5,000 charged, "
        "1,250 made\nTranslated 6 sentences (100 tokens) in 12.3s (0.5 sentences/s)\n"
    )
    record = {"fingerprint": "", "finished": finished, "seconds": 12.3}
    log.with_suffix(".json").write_text(json.dumps(record))


def write_validation(layout: Layout, model: str, **numbers: float) -> None:
    log = layout.pair / "stages" / f"{model}.log"
    log.parent.mkdir(parents=True, exist_ok=True)
    shown = json.dumps({f"valid_{name}": str(number) for name, number in numbers.items()})
    log.write_text(f"2026-01-01 | INFO | valid | {shown}\n")
    log.with_suffix(".json").write_text('{"fingerprint": "", "finished": true, "seconds": 1.0}')


@pytest.fixture
def decoded(layout: Layout, toy_pairs: ParallelTexts, toy_encoder: Path) -> Layout:
    """Beam search with some faults, V-MCTS with fewer, greedy as bad as beam search."""
    layout = replace(layout, encoder=str(toy_encoder))
    layout.corpus.mkdir(parents=True)
    sources, references = toy_pairs.sources[:SENTENCES], toy_pairs.targets[:SENTENCES]
    for language, lines in (("en", sources), ("de", references)):
        (layout.corpus / f"test.{language}").write_text("".join(f"{line}\n" for line in lines))
    faulty = [text.replace("Garten", "Haus").replace("heute", "nie") for text in references]
    outputs = {
        "beam": faulty,
        "greedy": faulty,
        "hybrid-bleu-sampled-mcts": [*references[:30], *faulty[30:]],
        "separate-bleu-mcts": references,
    }
    for system, hypotheses in outputs.items():
        write_generated(layout.decoded(system), hypotheses)
        write_decoding_log(layout, system)
    return layout


def options(stage: Stage) -> dict[str, str]:
    """Each word of a stage's command with the word behind it."""
    return dict(itertools.pairwise(stage.command))


def cells(table: str) -> dict[str, list[str]]:
    """The rows of a table by their first cell."""
    rows = [[cell.strip() for cell in line.strip("|").split("|")] for line in table.splitlines()]
    assert len({len(row) for row in rows}) == 1
    return {row[0]: row[1:] for row in rows}
