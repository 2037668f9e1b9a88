"""Cases that need a real model: texts and command lines."""

from __future__ import annotations

import logging
import shutil
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import fairseq_mcts
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.register import register
from tests.fuzz.choices import Choices, chance
from tests.fuzz.command_lines import check_command_line, random_arguments
from tests.fuzz.text_checks import check_metrics, check_strings, translated_file
from tests.fuzz.text_lines import random_line
from tests.generators.harness import Setup, load
from tests.generators.trained import Trained, prepare
from tests.toy_encoder import save_toy_encoder

#: lines of a case, which is one file
LINES = 50
#: and of these so many are handed over as strings, too
STRINGS = 5


@dataclass(frozen=True)
class Networks:
    """A small trained model, ready for commands and for Python, and metrics."""

    trained: Trained
    folder: Path
    setup: Setup
    translator: Any
    metrics: list[Metric]
    known: list[str]  # sentences that the model was trained on

    @classmethod
    def prepare(cls, folder: Path) -> Networks:
        """Trains a model, which takes a minute or two."""
        register()
        (folder / "trained").mkdir(parents=True, exist_ok=True)
        return cls.of(prepare(folder / "trained"), folder)

    @classmethod
    def of(cls, trained: Trained, folder: Path) -> Networks:
        """With a model that was trained before; `folder` is for all that is written."""
        logging.getLogger("fairseq").setLevel(logging.WARNING)  # it logs whole configurations
        known = trained.lines("train.en")
        encoder = folder / "encoder"
        save_toy_encoder(encoder, known + trained.lines("train.de"))
        setup = load(trained, trained.dual)
        setup.task.load_dataset("valid")
        translator = fairseq_mcts.load(
            trained.dual,
            data=trained.data,
            bpe="sentencepiece",
            sentencepiece_model=str(trained.sentencepiece),
        )
        specs = ("bleu", "chrf", f"mlbertscore:model={encoder}", f"bertscore:model={encoder}")
        return cls(trained, folder, setup, translator, [*map(build_metric, specs)], known)

    def translate_lines(self, choices: Choices) -> str:
        """A file of random lines and some of them as strings, translated and scored."""
        lines = [random_line(choices, self.known) for _ in range(LINES)]
        out = self.folder / "translated"
        shutil.rmtree(out, ignore_errors=True)
        texts = translated_file(choices, self.trained, lines, out)
        check_metrics(self.metrics, texts, lines)
        check_strings(choices, self.translator, lines[:STRINGS])
        return f"files of {LINES} lines"

    def run_command_line(self, choices: Choices) -> str:
        """Random options of fairseq-generate, or of this project's command."""
        arguments = random_arguments(choices)
        own_command = chance(choices, 50)
        reached = check_command_line(self.trained, self.setup, arguments, own_command=own_command)
        return "decoded" if reached else "refused"
