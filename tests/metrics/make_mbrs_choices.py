"""Have mbrs choose among the candidates of `test_mbrs_choices.py`, and write down what it finds:

    pip install mbrs
    python -m tests.metrics.make_mbrs_choices

Candidates are sentences of the demo's grammar, whole and damaged.
"""

from __future__ import annotations

import tempfile
from importlib.metadata import version
from pathlib import Path
from random import Random
from typing import Any

import mbrs.decoders
import mbrs.metrics
import torch

from examples.demo.language.corpus import Extent, make_corpus
from tests.metrics.mbrs_choices import (
    FILE,
    LAYER,
    TASKS,
    Choices,
    Sentence,
    Task,
    save_encoder,
    write,
)

SENTENCES = 200
DRAWN = 9  # candidates of a sentence
DAMAGES = (0, 0, 0, 1, 1, 2, 3)  # that a candidate has
LONGEST = 40  # characters: the encoder reads 64 pieces, and words may come twice


def damaged(words: list[str], others: list[str], dice: Random) -> list[str]:
    """One word less, one twice, one at another place or one in place of another."""
    place = dice.randrange(len(words))
    before, word, behind = words[:place], words[place], words[place + 1 :]
    kind = dice.randrange(4)
    if kind == 0 and len(words) > 1:
        return [*before, *behind]
    if kind == 1:
        return [*before, word, word, *behind]
    if kind == 2:
        return [*before, dice.choice(others), *behind]
    rest = [*before, *behind]
    place = dice.randrange(len(words))
    return [*rest[:place], word, *rest[place:]]


def make_sentence(text: str, other: str, dice: Random) -> Sentence:
    kinds: list[str] = []
    for _ in range(DRAWN):
        words = text.split()
        for _ in range(dice.choice(DAMAGES)):
            words = damaged(words, other.split(), dice)
        kinds.append(" ".join(words))
    texts = list(dict.fromkeys(kinds))
    logprobs = [round(-2.0 - 4.0 * dice.random(), 3) for _ in texts]
    return Sentence(texts, logprobs, [texts.index(one) for one in kinds])


def make_sentences() -> list[Sentence]:
    corpus = make_corpus(0, 0, 4 * SENTENCES, seed=18, extent=Extent(words=40, simple=True))
    texts = [text for _, text in corpus.test if len(text) <= LONGEST][: SENTENCES + 1]
    dice = Random(18)
    return [make_sentence(texts[i], texts[i + 1], dice) for i in range(SENTENCES)]


def decoder_of(task: Task, encoder: Path) -> Any:
    metrics = mbrs.metrics
    cls, options = {
        # its compiled chrF knows no weights where references are aggregated
        "chrf": (metrics.MetricChrF, {"fastchrf": task.references == "pairwise"}),
        "bleu": (metrics.MetricBLEU, {"num_workers": 1}),
        "bertscore": (
            metrics.MetricBERTScore,
            {"model_type": str(encoder), "num_layers": LAYER, "cpu": True},
        ),
    }[task.metric]
    name = "DecoderAggregateMBR" if task.references == "aggregated" else "DecoderMBR"
    kind = getattr(mbrs.decoders, name)
    return kind(kind.Config(), cls(cls.Config(**options)))


def utilities(task: Task, sentences: list[Sentence], encoder: Path) -> list[list[float]]:
    """[H] of each sentence, in units of 1."""
    decoder = decoder_of(task, encoder)
    factor = 1.0 if task.metric == "bertscore" else 100.0
    found = []
    for texts, logprobs, drawn in sentences:
        references, weights = [texts[place] for place in drawn], None
        if task.weights == "probability":
            references, weights = texts, torch.tensor(logprobs)
        decoded = decoder.decode(texts, references, nbest=len(texts), reference_lprobs=weights)
        scores = dict(zip(decoded.idx, decoded.score, strict=True))
        found.append([scores[place] / factor for place in range(len(texts))])
    return found


def main() -> None:
    sentences = make_sentences()
    with tempfile.TemporaryDirectory() as folder:
        encoder = Path(folder) / "encoder"
        save_encoder(encoder, sentences)
        found = {task.name: utilities(task, sentences, encoder) for task in TASKS}
    names = ("mbrs", "sacrebleu", "bert-score", "fastchrf")
    write(Choices(sentences, found, {name: version(name) for name in names}))
    print(f"{FILE} ({FILE.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
