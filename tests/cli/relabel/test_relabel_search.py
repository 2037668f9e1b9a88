"""fairseq-mcts-relabel --method search: what a search finds, with its true score."""

import json
import re
import shlex
from functools import partial
from pathlib import Path

import numpy as np
import pytest
import sentencepiece
from fairseq.data import Dictionary

from fairseq_mcts.data.scored_folder import ScoredSplit, SplitNames, open_scored_split
from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.models.checkpoints import load_models
from fairseq_mcts.relabelling.corpus import open_task
from fairseq_mcts.search import make_decoder
from tests.cli.relabel.runs import (
    CHUNKS,
    POLICY,
    REPOSITORY,
    complaint,
    content,
    letters,
    logged,
    relabelled,
    succeed,
    train,
    training,
)

METHODS = ["greedy", "sample", "completion", "search"]
SEARCH = (*POLICY, *CHUNKS, "--subset", "valid", "--metric", "letters", "--method", "search")
VALUE = ("--value-path", "value/checkpoint_last.pt")
SPECS = ("vgbs:alpha=0.8,beam=4", "mcts:simulations=8,actions=5")


@pytest.fixture(scope="module")
def value(folder: Path, greedy: Path) -> None:
    """A value that knows little, but has opinions, and the policy beside it."""
    options = training("value")
    options[options.index("multiquery_transformer_tiny")] = "dual_head_multiquery_transformer_tiny"
    options[options.index("label_smoothed_cross_entropy")] = "value"
    more = ("--policy-loss", "nll", "--max-epoch", "2")
    succeed(partial(logged, train.cli_main), folder, "greedy", *options, *more)


@pytest.fixture(scope="module")
def found(folder: Path, value: None) -> Path:
    """The result of an undisturbed run."""
    more = ("--searches", *SPECS, "--nbest", "3", "--samples", "1", "--out", "found")
    report = relabelled(folder, *SEARCH, *VALUE, *more).out
    assert f"search in 4 rounds of 2 from the 3 best of {' and of '.join(SPECS)} and 1 sample" in (
        report
    )
    return folder / "found"


def opened(out: Path) -> ScoredSplit:
    return open_scored_split(SplitNames(out, "valid", "en", "de"))


def test_what_searches_find_are_rows_with_their_true_score(folder: Path, found: Path) -> None:
    split = opened(found)
    assert split.rows is not None
    task = open_task(folder / "bin", None, None)
    paths = ("model/checkpoint_best.pt", "value/checkpoint_last.pt")
    models, values = (load_models("--path", [folder / path], task) for path in paths)
    decoders = [
        make_decoder("vgbs", {"alpha": 0.8, "beam": 4}),
        make_decoder("mcts", {"simulations": 8, "actions": 5}),
    ]
    rows = split.rows
    of_source = [np.flatnonzero(rows["source"] == one).tolist() for one in range(21)]
    sources = [split.sources[several[0]] for several in of_source]
    for decoder in decoders:
        generator = SearchGenerator(
            models,
            task.target_dictionary,
            value_models=values,
            decoder=decoder,
            limits=Limits(max_len_b=12, n_best=3),
            seed=1,
        )
        for several, hypotheses in zip(of_source, generator.translate(sources), strict=True):
            known = {tuple(split.samples[row].tolist()): row for row in several}
            assert {one.tokens for one in hypotheses} <= known.keys()

    dictionary = Dictionary.load(str(found / "dict.de.txt"))
    texts = [[dictionary.string(one) for one in part] for part in (split.samples, split.sources)]
    assert split.scores.tolist() == np.array(list(map(letters, *texts)), np.float32).tolist()
    methods = [METHODS[one] for one in rows["method"]]
    searched = [row for row, method in enumerate(methods) if method == "search"]
    finished_only = [row for row in searched if rows["first"][row] == len(split.samples[row])]
    assert len(searched) > 21
    assert len(finished_only) > len(searched) / 2
    assert methods.count("greedy") == 21
    assert methods.count("completion") > 100
    assert 0 < methods.count("sample") <= 21


def test_the_record_tells_value_and_searches(found: Path) -> None:
    record = json.loads((found / "valid.en-de.relabel.json").read_text())
    assert record["decoding"]["searches"] == list(SPECS)
    assert record["decoding"]["nbest"] == 3
    assert record["origin"]["value"] == ["value/checkpoint_last.pt"]
    assert len(record["value"]["digest"]) == 1


def test_batches_do_not_matter(folder: Path, found: Path) -> None:
    more = ("--searches", *SPECS, "--nbest", "3", "--samples", "1", "--out", "found again")
    relabelled(folder, *SEARCH, *VALUE, *more, "--batch-size", "2")
    assert content(folder / "found again") == content(found)


def test_the_policys_own_value_and_searches_without_one_serve(folder: Path, value: None) -> None:
    own = ("--path", "value/checkpoint_last.pt", "--rounds", "0", "--nbest", "1")
    relabelled(folder, *SEARCH, *own, "--searches", "vgbs", "--out", "found by itself")
    rolled = ("--searches", "mcts:simulations=4,leaf=rollout,terminal=metric", "--rounds", "0")
    relabelled(folder, *SEARCH, *rolled, "--nbest", "2", "--out", "found by the metric")
    split = opened(folder / "found by the metric")
    assert split.rows is not None
    assert set(split.rows["method"].tolist()) == {0, 3}


REFUSED: dict[str, tuple[list[str], str]] = {
    "no value": ([], "--method search: the checkpoint of --value-path, or of --path if that"),
    "no value head": (["--value-path", "model/checkpoint_best.pt"], "has no value head"),
    "no value file": (["--value-path", "no.pt"], "--value-path no.pt: no such file"),
    "no search": ([*VALUE, "--searches", "vgsb"], "--searches vgsb:"),
    "no option": ([*VALUE, "--searches", "vgbs:beta=1"], "beta=1 is no OPTION=VALUE of vgbs"),
    "no number": ([*VALUE, "--searches", "vgbs:beam=x"], "--searches vgbs:beam=x: beam=x: invalid"),
    "bad option": ([*VALUE, "--searches", "vgbs:beam=0"], "--searches vgbs:beam=0:"),
    "too many": (
        [*VALUE, "--searches", "vgbs:beam=2", "--nbest", "3"],
        "--nbest 3: --searches vgbs:beam=2 finds no more than 2",
    ),
    "cheating": (
        [*VALUE, "--metric", "bleu", "--searches", "mcts:leaf=rollout,terminal=metric"],
        "--metric bleu needs the reference",
    ),
    "idle value": ([*VALUE, "--method", "completions"], "--value-path: has no effect without"),
    "idle searches": (["--searches", "vgbs", "--method", "greedy"], "--searches: has no effect"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_mistakes_are_refused_before_anything_is_written(
    folder: Path, value: None, case: str
) -> None:
    arguments, message = REFUSED[case]
    assert message in complaint(folder, *SEARCH, *arguments, "--out", "refused search")
    assert not list((folder / "refused search").rglob("*.*"))


@pytest.mark.slow
def test_the_commands_of_the_documentation_run(folder: Path, value: None) -> None:
    """docs/train-a-value.md on a tiny corpus: its file names stand for those of the tests."""
    page = (REPOSITORY / "docs" / "train-a-value.md").read_text(encoding="utf-8")
    commands = re.findall(r"^ *fairseq-mcts-relabel ((?:[^\\\n]|\\\n)*)$", page, re.M)
    assert len(commands) == 3
    sentencepiece.SentencePieceTrainer.train(
        input=str(folder / "train.en"),
        model_prefix=str(folder / "sp"),
        vocab_size=20,
        hard_vocab_limit=False,
        minloglevel=2,
    )
    names = {
        "data-bin": "bin",
        "policy.pt": "model/checkpoint_best.pt",
        "value.pt": "value/checkpoint_last.pt",
        "mlbertscore:model=FOLDER": "letters",
        "8000": "80",
        "150": "5",
        "5000:10000": "50:60",
        "grown": "grown as documented",
        "3500": "4",
        "user_dir": str(REPOSITORY / "user_dir"),
        "--save-dir": "--no-epoch-checkpoints",
        "value": "--save-dir=documented-value",
        "value/checkpoint_best.pt": "documented-value/checkpoint_best.pt",
    }

    def of_tests(command: str) -> list[str]:
        return [names.get(one, one) for one in shlex.split(command.replace("\\\n", " "))]

    for command in commands:
        relabelled(folder, *of_tests(command), "--cpu", "--max-len-b", "12")
    out = folder / "grown as documented"
    rows = [np.load(SplitNames(out, split, "en", "de").rows) for split in ("train", "train1")]
    assert [len(set(one["source"].tolist())) for one in rows] == [80, 10]

    training_command = re.search(r"^fairseq-train (grown (?:[^\\\n]|\\\n)*)$", page, re.M)
    assert training_command is not None
    # "value" is a criterion and a folder: only the last one is the folder
    arguments = of_tests(training_command[1])
    arguments[arguments.index("--criterion") + 1] = "value"
    succeed(partial(logged, train.cli_main), folder, *arguments, "--cpu")
    assert (folder / "documented-value" / "checkpoint_best.pt").is_file()
