"""A BERT tokenizer for a small corpus: its frequent words whole, everything else by characters."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path

from tokenizers import normalizers, pre_tokenizers
from transformers import BertTokenizerFast

SPECIAL_SYMBOLS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def build_vocabulary(texts: Iterable[str], max_words: int) -> list[str]:
    """Word pieces, best first: special symbols, characters, then words by frequency.

    Each character is there as the beginning and as the continuation of a word, so that no text in
    the corpus's alphabet is unknown.
    """
    normalizer = normalizers.BertNormalizer(lowercase=False, strip_accents=False)
    splitter = pre_tokenizers.BertPreTokenizer()
    counts = Counter(
        word
        for text in texts
        for word, _ in splitter.pre_tokenize_str(normalizer.normalize_str(text))
    )
    characters = sorted({character for word in counts for character in word})
    # Equally frequent words by name: the vocabulary must not depend on the order of a set.
    ranked = sorted((word for word in counts if len(word) > 1), key=lambda w: (-counts[w], w))
    continuations = [f"##{character}" for character in characters]
    return [*SPECIAL_SYMBOLS, *characters, *continuations, *ranked[:max_words]]


def save_tokenizer(vocabulary: Iterable[str], folder: Path, max_tokens: int) -> BertTokenizerFast:
    """Write a tokenizer folder that transformers and bert-score load, and return the tokenizer."""
    folder.mkdir(parents=True, exist_ok=True)
    vocabulary_file = folder / "vocab.txt"
    pieces = list(vocabulary)
    vocabulary_file.write_text("\n".join(pieces) + "\n", encoding="utf-8")
    tokenizer = BertTokenizerFast(
        vocab_file=str(vocabulary_file),
        do_lower_case=False,
        strip_accents=False,
        model_max_length=max_tokens,
    )
    # transformers 5 takes vocab_file and ignores it: every word would be [UNK], without a word.
    sample = pieces[-1].removeprefix("##")
    if tokenizer.unk_token_id in tokenizer(sample, add_special_tokens=False)["input_ids"]:
        raise RuntimeError(
            f"this version of transformers did not read {vocabulary_file}: {sample!r} is unknown "
            "to the tokenizer; install transformers<5"
        )
    tokenizer.save_pretrained(folder)
    return tokenizer
