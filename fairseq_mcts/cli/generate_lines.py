"""The output lines of sentences, as fairseq-generate prints them, and their best translations."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from fairseq import utils


class Printed(NamedTuple):
    """A sentence in the output."""

    lines: str  # S, T, H, D, P and a decoder's own, each with its end
    best: str  # the best hypothesis as a reader sees it


@dataclass(frozen=True)
class LineWriter:
    """Turns tokens into lines by the task's own dictionaries, BPE and tokenizer."""

    task: Any
    bpe: Any
    tokenizer: Any
    post_process: str | None
    n_best: int
    print_alignment: str | None
    ignored: set[int]  # symbols of the target that are not printed

    def sentence(
        self,
        number: int,
        source: Any,  # [S] tokens, padded
        target: Any,  # [R] tokens, padded, or None
        hypotheses: Sequence[dict[str, Any]],  # in fairseq's form, best first
    ) -> Printed:
        """All lines of a sentence."""
        dictionary = self.task.target_dictionary
        source_text = self._text(
            self.task.source_dictionary.string(
                utils.strip_pad(source, dictionary.pad()), self.post_process
            )
        )
        lines = [f"S-{number}\t{source_text}"]
        if target is not None:
            text = dictionary.string(
                utils.strip_pad(target, dictionary.pad()).int().cpu(),
                self.post_process,
                escape_unk=True,
                extra_symbols_to_ignore=self.ignored,
            )
            lines.append(f"T-{number}\t{self._text(text)}")
        best = ""
        for place, hypothesis in enumerate(hypotheses[: self.n_best]):
            text, of_hypothesis = self._hypothesis(number, hypothesis, source_text)
            lines += of_hypothesis
            best = text if place == 0 else best
        return Printed("".join(f"{line}\n" for line in lines), best)

    def _hypothesis(
        self, number: int, hypothesis: dict[str, Any], source_text: str
    ) -> tuple[str, list[str]]:
        _, text, alignment = utils.post_process_prediction(
            hypo_tokens=hypothesis["tokens"].int().cpu(),
            src_str=source_text,
            alignment=hypothesis["alignment"],
            align_dict=None,
            tgt_dict=self.task.target_dictionary,
            remove_bpe=self.post_process,
            extra_symbols_to_ignore=self.ignored,
        )
        readable = self._text(text)
        score = hypothesis["score"] / math.log(2)  # fairseq prints logarithms to base 2
        positional = hypothesis["positional_scores"] / math.log(2)
        lines = [
            f"H-{number}\t{score}\t{text}",
            f"D-{number}\t{score}\t{readable}",
            f"P-{number}\t{' '.join(f'{one:.4f}' for one in positional.tolist())}",
        ]
        if self.print_alignment == "hard":
            pairs = (f"{source}-{target}" for source, target in alignment)
            lines.append(f"A-{number}\t{' '.join(pairs)}")
        elif self.print_alignment == "soft":
            lines.append(f"A-{number}\t{' '.join(','.join(weights) for weights in alignment)}")
        lines += [f"{letter}-{number}\t{line}" for letter, line in getattr(hypothesis, "lines", ())]
        return readable, lines

    def _text(self, text: str) -> str:
        for decoder in (self.bpe, self.tokenizer):
            text = text if decoder is None else decoder.decode(text)
        return text
