"""Stages that the demo and the study on Multi30k have in common, and what their commands share."""

from pathlib import Path

from examples.common.runner import Stage

# Paths are relative to the root of the repository, where `python -m examples.NAME` has to run.
PLUGIN = ("--user-dir", "user_dir", "--task", "translation_mcts")
SEED = "1"

#: how far fairseq-generate is, for `Stage.progress`
DECODING_PROGRESS = r"(?P<done>\d+) / (?P<total>\d+) "
RELABELLING_PROGRESS = r"train: (?P<done>[\d,]+)/(?P<total>[\d,]+) rows"


def split_into_subwords(corpus: Stage, languages: tuple[str, str], pieces: int, out: Path) -> Stage:
    """Learn one vocabulary of subwords for both languages and split the corpus into them."""
    return Stage(
        name="subwords",
        title="learn one set of subwords for both languages and split the text",
        command=(
            *("python", "-m", "examples.common.subwords", "--corpus", str(corpus.output)),
            *("--languages", *languages, "--pieces", str(pieces), "--out", str(out)),
        ),
        output=out,
        reads=(corpus,),
    )


def binarise(subwords: Stage, languages: tuple[str, str], out: Path) -> Stage:
    """Write the data that fairseq reads, with one dictionary for both languages."""
    source, target = languages
    splits = {f"--{split}pref": subwords.output / split for split in ("train", "valid", "test")}
    return Stage(
        name="binarise",
        title="binarise it for fairseq, with one dictionary for both languages",
        command=(
            *("fairseq-preprocess", *PLUGIN, "--source-lang", source, "--target-lang", target),
            *(part for option, path in splits.items() for part in (option, str(path))),
            *("--joined-dictionary", "--destdir", str(out)),
        ),
        output=out,
        reads=(subwords,),
    )
