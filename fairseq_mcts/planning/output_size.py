"""How much the translations take on disk."""

import math
from typing import Any


def output_bytes(texts: dict[str, str], hypotheses: list[Any]) -> int:
    """Bytes of the lines that fairseq-generate writes for a sentence.

    `texts` are those of the lines S and T by their letters, and H: the best hypothesis as text,
    which also stands in D.
    """
    lines = [f"{letter}-{_NUMBER}\t{texts[letter]}" for letter in "ST" if letter in texts]
    for hypothesis in hypotheses:
        score = f"{hypothesis['score'] / math.log(2)}"
        lines += [f"{letter}-{_NUMBER}\t{score}\t{texts['H']}" for letter in "HD"]
        positional = (f"{one / math.log(2):.4f}" for one in hypothesis["positional_scores"])
        lines.append(f"P-{_NUMBER}\t{' '.join(positional)}")
        further = getattr(hypothesis, "lines", [])
        lines += [f"{letter}-{_NUMBER}\t{text}" for letter, text in further]
    return sum(len(line.encode()) + 1 for line in lines)


_NUMBER = 10_000_000  # as long as most numbers of a large corpus
