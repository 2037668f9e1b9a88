"""`--search-json`: hypotheses as JSON lines, for whoever wants to go on from there.

One line a sentence:

    {"id": 7, "source": "…", "reference": "…", "search": "…", "charged": 950, "made": 412,
     "hypotheses": [{"text": "…", "tokens": ["▁Ein", …], "logprob": -3.2, "likelihood": 0.7,
                     "score": 0.81, "value": null, "metric": 0.81, "weight": 3.0, "visits": []}]}

`weight` says how much a hypothesis counts beside the others: as often as it was drawn, without
replacement its inclusion weight. Of minimum Bayes risk it is what it counted as a reference; by
probability that is the model's probability of it over that of the likeliest.

Of fairseq's own beam search there are no counts and no metric, and `score` is what it ranks by. A
sentence whose search has failed (--skip-failed) has an entry `failed`, which says why; an empty
translation in its place has null for what it has not.
"""

import json
import math
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairseq_mcts.generators.search_metric import likelihood
from fairseq_mcts.metrics.text import TextDecoder, TextDecoders


class CandidateLines:
    """Sentences with their hypotheses as JSON."""

    def __init__(self, search: str, dictionary: Any) -> None:
        """`dictionary` is the target's."""
        self._search = search
        self._dictionary = dictionary

    def sentence(
        self,
        source: Any,  # [S] tokens, padded
        reference: Any,  # [R] or None
        found: Sequence[dict[str, Any]],  # in fairseq's form, best first
        texts: TextDecoders,
    ) -> dict[str, Any]:
        """What a line says, but for the sentence's number."""
        content = {"source": texts.source.decode(source)}
        if reference is not None:
            content["reference"] = texts.target.decode(reference)
        return content | self._of_sentence(found, texts)

    def line(self, number: int, content: dict[str, Any]) -> str:
        """A line, without its end."""
        return json.dumps({"id": number, **content}, ensure_ascii=False)

    def _of_sentence(self, found: Sequence[dict[str, Any]], texts: TextDecoders) -> dict[str, Any]:
        counts: dict[str, Any] = {}
        if found and "evaluations" in found[0]:
            counts = found[0]["evaluations"]._asdict()
        # of sentences whose search has failed alone, so that others are as they always were
        failed = {"failed": found[0]["failed"]} if found and found[0].get("failed") else {}
        return {
            "search": self._search,
            **counts,
            **failed,
            "hypotheses": [hypothesis_record(one, texts.target, self._dictionary) for one in found],
        }


class CandidateFile:
    """Takes the hypotheses of one batch after the other."""

    def __init__(
        self, path: Path, lines: CandidateLines, text_decoders: Callable[[], TextDecoders]
    ) -> None:
        """`text_decoders` is called when the first batch comes."""
        try:
            path.write_text("", encoding="utf-8")  # better refused now than after the first search
        except OSError as error:
            raise ValueError(f"--search-json {path}: can't write there: {error}") from error
        self._path = path
        self._lines = lines
        self._text_decoders = text_decoders
        self._written: set[int] = set()

    def check_text(self) -> None:
        """Refuses text that can't be decoded, before a batch is searched."""
        self._text_decoders()

    def write(
        self,
        numbers: Sequence[tuple[int, ...]],  # [B] of the sentences, as in the S and H lines
        sources: Any,  # [B, S] tokens, padded
        references: Any,  # [B, R] or None
        hypotheses: Sequence[Sequence[dict[str, Any]]],  # [B] in fairseq's form, best first
    ) -> None:
        """Adds a line for each sentence."""
        texts = self._text_decoders()
        lines = []
        for row, (several, found) in enumerate(zip(numbers, hypotheses, strict=True)):
            reference = None if references is None else references[row]
            content = self._lines.sentence(sources[row], reference, found, texts)
            # equal input lines come with the numbers of all of them, each time
            new = [number for number in several if number not in self._written]
            self._written.update(new)
            lines += [self._lines.line(number, content) for number in new]
        try:
            with self._path.open("a", encoding="utf-8") as file:
                file.writelines(f"{line}\n" for line in lines)
        except OSError as error:
            raise ValueError(f"--search-json {self._path}: can't write there: {error}") from error


def _number(given: float | None) -> float | None:
    # JSON has neither infinity nor NaN
    return given if given is not None and math.isfinite(given) else None


def hypothesis_record(one: dict[str, Any], text: TextDecoder, dictionary: Any) -> dict[str, Any]:
    """What is known of a hypothesis in fairseq's form, in plain numbers and texts."""
    tokens = one["tokens"].tolist()
    # of a plain dictionary: reading them is how output lines notice that they are printed
    logprob = float(sum(dict.__getitem__(one, "positional_scores").tolist()))
    score = one.get("search_score", one["score"])
    return {
        "text": text.decode(tokens),
        "tokens": [dictionary[token] for token in tokens],
        "logprob": _number(logprob),
        "likelihood": likelihood(logprob, len(tokens)),
        "score": _number(float(score)),
        "value": _number(one.get("value")),
        "metric": _number(one.get("metric")),
        "weight": one.get("weight", 1.0),
        "visits": list(one.get("visits", ())),
    }
