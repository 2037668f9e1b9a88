"""`--search-json`: hypotheses as JSON lines, for whoever wants to go on from there.

One line a sentence:

    {"id": 7, "source": "…", "reference": "…", "search": "…", "charged": 950, "made": 412,
     "hypotheses": [{"text": "…", "tokens": ["▁Ein", …], "logprob": -3.2, "likelihood": 0.7,
                     "score": 0.81, "value": null, "metric": 0.81, "weight": 3.0, "visits": []}]}

Of fairseq's own beam search there are no counts and no metric, and `score` is what it ranks by.
"""

import json
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from fairseq_mcts.generators.search_metric import likelihood
from fairseq_mcts.metrics.text import TextDecoder, TextDecoders


class CandidateFile:
    """Takes the hypotheses of one batch after the other."""

    def __init__(
        self, path: Path, search: str, dictionary: Any, text_decoders: Callable[[], TextDecoders]
    ) -> None:
        """`text_decoders` is called when the first batch comes; `dictionary` is the target's."""
        try:
            path.write_text("", encoding="utf-8")  # better refused now than after the first search
        except OSError as error:
            raise ValueError(f"--search-json {path}: can't write there: {error}") from error
        self._path = path
        self._search = search
        self._dictionary = dictionary
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
            sentence = {"source": texts.source.decode(sources[row])}
            if references is not None:
                sentence["reference"] = texts.target.decode(references[row])
            content = sentence | self._of_sentence(found, texts)
            # equal input lines come with the numbers of all of them, each time
            new = [number for number in several if number not in self._written]
            self._written.update(new)
            lines += [json.dumps({"id": number, **content}, ensure_ascii=False) for number in new]
        with self._path.open("a", encoding="utf-8") as file:
            file.writelines(f"{line}\n" for line in lines)

    def _of_sentence(self, found: Sequence[dict[str, Any]], texts: TextDecoders) -> dict[str, Any]:
        counts: dict[str, Any] = {}
        if found and "evaluations" in found[0]:
            counts = found[0]["evaluations"]._asdict()
        return {
            "search": self._search,
            **counts,
            "hypotheses": [hypothesis_record(one, texts.target, self._dictionary) for one in found],
        }


def hypothesis_record(one: dict[str, Any], text: TextDecoder, dictionary: Any) -> dict[str, Any]:
    """What is known of a hypothesis in fairseq's form, in plain numbers and texts."""
    tokens = one["tokens"].tolist()
    # of a plain dictionary: reading them is how output lines notice that they are printed
    logprob = float(sum(dict.__getitem__(one, "positional_scores").tolist()))
    score = one.get("search_score", one["score"])
    return {
        "text": text.decode(tokens),
        "tokens": [dictionary[token] for token in tokens],
        "logprob": logprob,
        "likelihood": likelihood(logprob, len(tokens)),
        "score": float(score),
        "value": one.get("value"),
        "metric": one.get("metric"),
        "weight": one.get("weight", 1.0),
        "visits": list(one.get("visits", ())),
    }
