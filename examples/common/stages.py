"""Stages that the demo and the study on Multi30k have in common, and what their commands share."""

from collections.abc import Sequence
from pathlib import Path

from examples.common.runner import Stage

# Paths are relative to the root of the repository, where `python -m examples.NAME` has to run.
PLUGIN = ("--user-dir", "user_dir", "--task", "translation_mcts")
SEED = "1"
LENGTHS = ("--max-len-a", "2", "--max-len-b", "10")  # of translations, by any decoder

#: a value head on a policy that stays as it is, and how it is trained but for rate and length
VALUE_ON_FROZEN_POLICY = (
    *("--arch", "policy_with_value", "--freeze-policy"),
    *("--criterion", "value", "--policy-weight", "0"),
    *("--optimizer", "adam", "--adam-betas", "(0.9, 0.98)", "--clip-norm", "1"),
    *("--lr-scheduler", "polynomial_decay", "--warmup-updates", "100"),
)

#: how far fairseq-generate is, for `Stage.progress`
DECODING_PROGRESS = r"(?P<done>\d+) / (?P<total>\d+) "
SWEEP_PROGRESS = r"^(?P<done>\d+)/(?P<total>\d+) --"
RELABELLING_PROGRESS = r"^\S+: (?P<done>[\d,]+)/(?P<total>[\d,]+) rows"
REPORT_PROGRESS = r"^(?:scoring|testing): (?P<done>[\d,]+)/(?P<total>[\d,]+) "
_BINARISED = r": \d+ sents, "  # of each file, once it is written


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
        progress=_BINARISED,
        total=len(splits) * len(languages),
        reads=(subwords,),
    )


def join_scored(name: str, valid: Stage, train: Sequence[Stage], out: Path) -> Stage:
    """Put the rows of several relabellings side by side, as training reads them."""
    return Stage(
        name=name,
        title="put scored rows side by side",
        command=(
            *("python", "-m", "examples.common.join_scored", "--out", str(out)),
            *("--valid", str(valid.output)),
            *("--train", *(str(part.output) for part in train)),
        ),
        output=out,
        reads=(valid, *train),
    )
