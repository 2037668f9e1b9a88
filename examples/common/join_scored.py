"""Puts scored folders side by side, as training reads them: train, train1, … and valid.

python -m examples.common.join_scored --out FOLDER --valid FOLDER --train FOLDER…
"""

import argparse
import os
from pathlib import Path


def link_split(source: Path, split: str, out: Path, name: str) -> None:
    """Links the files of a split under another split's name."""
    files = sorted(source.glob(f"{split}.*"))
    if not files:
        raise FileNotFoundError(f"{source} has no split {split}")
    for path in out.glob(f"{name}.*"):  # an earlier join may have had more of them
        path.unlink()
    for path in files:
        link = out / f"{name}.{path.name.removeprefix(f'{split}.')}"
        os.link(path, link)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--valid", type=Path, required=True)
    parser.add_argument("--train", type=Path, nargs="+", required=True)
    args = parser.parse_args()
    args.out.mkdir(parents=True, exist_ok=True)
    link_split(args.valid, "valid", args.out, "valid")
    for number, folder in enumerate(args.train):
        link_split(folder, "train", args.out, f"train{number or ''}")
    for path in args.valid.glob("dict.*.txt"):
        (args.out / path.name).write_bytes(path.read_bytes())


if __name__ == "__main__":
    main()
