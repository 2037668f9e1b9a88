"""Lay the files of Multi30k out as the later stages expect them: plain, train, valid and test."""

import argparse
from collections.abc import Sequence
from pathlib import Path

from fairseq_mcts.metrics.system_output import read_lines

#: names of the splits' files: in Multi30k's repository the validation set is called val
SPLITS = {"train": ("train",), "valid": ("val", "valid"), "test": ("test_2016_flickr",)}


def locate(data: Path, split: str, language: str) -> Path:
    """The file of a split, plain or compressed."""
    if not data.is_dir():
        raise FileNotFoundError(f"--data {data}: there is no such folder")
    names = [f"{name}.{language}{ending}" for name in SPLITS[split] for ending in ("", ".gz")]
    for name in names:
        if (data / name).is_file():
            return data / name
    raise FileNotFoundError(f"--data {data}: holds none of {', '.join(names)}")


def locate_all(data: Path, languages: Sequence[str]) -> dict[str, list[Path]]:
    """All files, by split, in the order of the languages; refuses a folder that lacks one."""
    return {split: [locate(data, split, language) for language in languages] for split in SPLITS}


def write(data: Path, languages: Sequence[str], out: Path) -> dict[str, int]:
    """Write split.language files and return the number of pairs in each split."""
    sizes = {}
    for split, paths in locate_all(data, languages).items():
        sides = [read_lines(path) for path in paths]
        if len({len(side) for side in sides}) > 1:
            counts = ", ".join(
                f"{path.name} {len(side)}" for path, side in zip(paths, sides, strict=True)
            )
            raise ValueError(f"--data {data}: the sides differ in length: {counts}")
        for language, lines in zip(languages, sides, strict=True):
            text = "".join(f"{line.strip()}\n" for line in lines)
            (out / f"{split}.{language}").write_text(text, encoding="utf-8")
        sizes[split] = len(sides[0])
    return sizes


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--data", type=Path, required=True, help="folder with train.en(.gz) etc.")
    parser.add_argument("--out", type=Path, required=True, help="folder for the plain files")
    parser.add_argument("--languages", nargs=2, required=True, help="source and target")
    args = parser.parse_args()

    args.out.mkdir(parents=True, exist_ok=True)
    try:
        sizes = write(args.data, args.languages, args.out)
    except (OSError, ValueError) as error:
        parser.exit(2, f"{error}\n")
    print(", ".join(f"{split}: {pairs} pairs" for split, pairs in sizes.items()))


if __name__ == "__main__":
    main()
