"""What must hold of every text: a translation for each line, and numbers for each pair of texts."""

from __future__ import annotations

import contextlib
import io
import json
import math
from pathlib import Path
from typing import Any

from fairseq_mcts.cli import generate
from fairseq_mcts.metrics.base import Metric
from tests.fuzz.choices import Choices, chance
from tests.fuzz.search_checks import Fault
from tests.generators.harness import DECODERS
from tests.generators.trained import Trained

#: half of a pair of UTF-16, as Python makes of bytes that are no UTF-8
STRAY = "\udc80"
SHORT = {"max_len_b": 6}


def translated_file(choices: Choices, trained: Trained, lines: list[str], out: Path) -> list[str]:
    """What fairseq-mcts-generate makes of a file with these lines: a text for each."""
    out.parent.mkdir(parents=True, exist_ok=True)
    path = out.parent / "lines.txt"
    end = choices.one_of(("\n", "\n", "\r\n", ""))  # of the last line
    path.write_bytes("\n".join(lines).encode() + end.encode())
    count = len(path.read_bytes().split(b"\n")) - (end != "")
    if not lines[-1] and not end:
        count -= 1  # the file then ends with the end of the line before
    given = DECODERS[choices.one_of([*DECODERS])]
    flags = [_flag(name, value) for name, value in {**given, **SHORT}.items()]
    if chance(choices, 30):
        flags += ["--tokenizer", "moses"]
    flags.append("--skip-invalid-size-inputs-valid-test")
    arguments = [
        *(str(trained.data), "--path", str(trained.dual), "--cpu", "--out", str(out)),
        *("--bpe", "sentencepiece", "--sentencepiece-model", str(trained.sentencepiece)),
        *("--source-lang", "en", "--target-lang", "de", "--input", str(path)),
        *("--plain-text", "--json-lines", "--chunk-sentences", "20", "--batch-size", "20", *flags),
    ]
    with contextlib.redirect_stdout(io.StringIO()):
        generate.run([one for one in arguments if "search-post-process" not in one])
    [plain], [candidates] = out.glob("translations-*.txt"), out.glob("hypotheses-*.jsonl")
    texts = plain.read_bytes().decode().split("\n")[:-1]
    if len(texts) != count:
        raise Fault(f"{len(texts)} translations of {count} lines, by {flags}")
    for line in candidates.read_bytes().decode().split("\n")[:-1]:
        json.loads(line)
    return texts + [""] * (len(lines) - count)


def _flag(name: str, value: Any) -> str:
    flag = f"--{name.replace('_', '-')}"
    return flag if value is True else f"{flag}={value}"


def check_strings(choices: Choices, translator: Any, lines: list[str]) -> None:
    """Texts as Python's callers have them: translated, or refused by an error that says why."""
    given = dict(DECODERS[choices.one_of([*DECODERS])])
    given.pop("search_post_process", None)
    lines = [line[:500] for line in lines]
    found = translator.translate(lines, **given, **SHORT)
    if [one.source for one in found] != lines:
        raise Fault("translations of other sources")
    try:
        translator.translate(STRAY + lines[0], **given, **SHORT)
    except ValueError as error:
        if "surrogate" not in str(error):
            raise Fault(f"an error that does not name the character: {error!r}") from error


def check_metrics(metrics: list[Metric], texts: list[str], lines: list[str]) -> None:
    """Every score is a number within its range, and no pair changes that of another."""
    for metric in metrics:
        together = metric.score(texts, lines)
        low, high = metric.range
        for text, line, score in zip(texts, lines, together, strict=True):
            if not (math.isfinite(score) and low <= score <= high):
                raise Fault(f"{metric.name} of {text!r} and {line[:200]!r} is {score}")
        [first] = metric.score(texts[:1], lines[:1])
        if not math.isclose(first, together[0], abs_tol=1e-5):
            raise Fault(f"{metric.name}: {first} alone, {together[0]} among others")
        metric.corpus_score(texts, lines)
