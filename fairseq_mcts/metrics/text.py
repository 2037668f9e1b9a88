"""Text as a reader sees it: from token ids, with subwords joined and detokenised.

The one place where this happens, so that search, relabelling and reports score the same text that
`fairseq-generate` prints in its D lines.
"""

from collections.abc import Iterable, Sequence
from dataclasses import KW_ONLY, dataclass
from typing import Any, NamedTuple

# A plain word list can hold a stray "@@"; a subword dictionary is full of them.
_SUBWORD_SHARE = 0.05


@dataclass(eq=False)
class TextDecoder:
    """Turns token ids into text by the task's own BPE and tokenizer."""

    dictionary: Any  # fairseq's, of the language of the tokens
    bpe: Any = None  # what `task.build_bpe(cfg.bpe)` returned; None if there are no subwords
    tokenizer: Any = None  # of `task.build_tokenizer(cfg.tokenizer)`; None if not tokenised
    _: KW_ONLY
    post_process: str | None = None  # --post-process or --remove-bpe, applied before both
    ignore: Iterable[int] = ()  # further ids that no reader should see, such as language tags

    def __post_init__(self) -> None:
        self._ignored = {self.dictionary.pad(), *self.ignore}
        if self.bpe is None and self.post_process is None:
            _refuse_bare_subwords(self.dictionary)

    def decode(self, tokens: Any, *, escape_unk: bool = False) -> str:
        """The text of one sentence; `tokens` is a tensor, array or sequence of ids.

        Start, end and padding symbols disappear. `escape_unk` writes unknown words as `<<unk>>`,
        which fairseq does in references so that no hypothesis gets credit for its own `<unk>`.
        """
        # Plain integers: iterating over a tensor would make one tensor per token.
        ids: Sequence[int] = tokens.tolist() if hasattr(tokens, "tolist") else tokens
        text: str = self.dictionary.string(
            ids, self.post_process, escape_unk=escape_unk, extra_symbols_to_ignore=self._ignored
        )
        if self.bpe is not None:
            text = self.bpe.decode(text)
        if self.tokenizer is not None:
            text = self.tokenizer.decode(text)
        return text

    def decode_batch(self, rows: Iterable[Any], *, escape_unk: bool = False) -> list[str]:
        """The texts of several sentences; rows of a padded batch are fine."""
        return [self.decode(row, escape_unk=escape_unk) for row in rows]


class TextDecoders(NamedTuple):
    """The decoders of both languages of a task."""

    source: TextDecoder
    target: TextDecoder


def text_decoders(
    task: Any, bpe: Any = None, tokenizer: Any = None, *, post_process: str | None = None
) -> TextDecoders:
    """Makes the decoders of a task; the options are those of `TextDecoder`."""
    source, target = (
        TextDecoder(dictionary, bpe, tokenizer, post_process=post_process)
        for dictionary in (task.source_dictionary, task.target_dictionary)
    )
    return TextDecoders(source, target)


def refuse_stray_surrogates(text: str) -> None:
    """Refuses what no file can hold: tokenizers end on it with errors that name nothing.

    Python makes it of bytes that are no UTF-8, and JSON of \\ud800 alone.
    """
    try:
        text.encode()
    except UnicodeEncodeError as error:
        raise ValueError(
            f"character {error.start} is half of a surrogate pair, which is no text: {text[:40]!r}"
        ) from error


def _refuse_bare_subwords(dictionary: Any) -> None:
    """Refuses subwords without a BPE: metrics would see text that nobody writes."""
    symbols: Sequence[str] = getattr(dictionary, "symbols", ())
    marked = sum(symbol.startswith("\u2581") or symbol.endswith("@@") for symbol in symbols)
    if marked > _SUBWORD_SHARE * len(symbols):
        raise ValueError(
            f"{marked} of the dictionary's {len(symbols)} symbols are subwords, but no BPE is set: "
            "metrics need real text; give --bpe (sentencepiece, subword_nmt, …) or --post-process"
        )
