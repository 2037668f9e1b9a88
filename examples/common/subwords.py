"""Learn one sentencepiece model for both languages and split all files of a corpus with it."""

import argparse
from collections.abc import Sequence
from pathlib import Path

import sentencepiece

SPLITS = ("train", "valid", "test")


def learn(
    corpus: Path, languages: Sequence[str], out: Path, pieces: int
) -> sentencepiece.SentencePieceProcessor:
    """Learn a joint vocabulary, which also lets the encoder read target text."""
    sentencepiece.SentencePieceTrainer.train(
        input=[str(corpus / f"train.{language}") for language in languages],
        model_prefix=str(out / "sentencepiece"),
        vocab_size=pieces,
        character_coverage=1.0,
        minloglevel=1,
    )
    return sentencepiece.SentencePieceProcessor(model_file=str(out / "sentencepiece.model"))


def split(model: sentencepiece.SentencePieceProcessor, source: Path, target: Path) -> None:
    """Write the lines of a file as pieces with spaces between them."""
    lines = source.read_text(encoding="utf-8").splitlines()
    pieces = (" ".join(line) for line in model.encode(lines, out_type=str))
    target.write_text("".join(f"{line}\n" for line in pieces), encoding="utf-8")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--corpus", type=Path, required=True, help="folder with train.en and so on")
    parser.add_argument("--out", type=Path, required=True, help="folder for model and split files")
    parser.add_argument("--pieces", type=int, default=2000, help="size of the vocabulary")
    parser.add_argument("--languages", nargs=2, default=["en", "de"], help="default: en de")
    args = parser.parse_args()

    model = learn(args.corpus, args.languages, args.out, args.pieces)
    for name in (f"{part}.{language}" for part in SPLITS for language in args.languages):
        split(model, args.corpus / name, args.out / name)
    with (args.out / f"test.{args.languages[1]}").open(encoding="utf-8") as lines:
        print(f"{model.get_piece_size()} pieces, e.g. {next(lines).strip()}")


if __name__ == "__main__":
    main()
