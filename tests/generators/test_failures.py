"""Sentences that can't be searched: named, or answered and named; their neighbours as ever."""

import copy
import os
import re
import subprocess
import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.generators.failures import (
    BEST_SO_FAR,
    EMPTY,
    GREEDY,
    FailedSentenceError,
    Failure,
    Retrying,
)
from fairseq_mcts.search.faults import FaultySentenceError
from tests.console import REPOSITORY
from tests.generators.faulty import NO_NUMBER
from tests.generators.harness import DECODERS, Setup, load, run_generate, run_interactive
from tests.generators.trained import Trained

SENTENCES = range(12)
FAULTY = 4  # the sentence whose source the encoder can't read
LIMITS = {"max_len_b": 10}


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


def poisoned(setup: Setup, change: Callable[[Any], None]) -> Setup:
    """The same models with other weights."""
    models = copy.deepcopy(setup.models)
    for model in models:
        change(model)
    return replace(setup, models=models, values=models)


@pytest.fixture(scope="module")
def unreadable(setup: Setup) -> Setup:
    """One that reads infinity where the source is that of one sentence: a token of it alone."""
    [source] = setup.sources([FAULTY])
    others = {
        token
        for number, one in zip(SENTENCES, setup.sources(SENTENCES), strict=True)
        if number != FAULTY
        for token in one.tolist()
    }
    own = next(token for token in source.tolist() if token not in others)

    def change(model: Any) -> None:
        embeddings = copy.deepcopy(model.encoder.embed_tokens)  # it shares them with the decoder
        embeddings.weight.data[own] = float("inf")
        model.encoder.embed_tokens = embeddings

    return poisoned(setup, change)


def values_are_nan(model: Any) -> None:
    model.decoder.value_head.projection.weight.data.fill_(float("nan"))


def said(found: dict[int, list[dict[str, Any]]]) -> dict[int, list[Any]]:
    """Tokens, scores and values of all hypotheses."""
    return {
        number: [[one["tokens"].tolist(), one["score"], one.get("value")] for one in several]
        for number, several in found.items()
    }


@pytest.mark.parametrize("options", DECODERS.values(), ids=DECODERS)
def test_a_failure_is_answered_and_changes_no_neighbour(
    setup: Setup, unreadable: Setup, options: dict[str, Any]
) -> None:
    expected = said(setup.generate(SENTENCES, **LIMITS, **options))
    found = unreadable.generate(SENTENCES, **LIMITS, **options, skip_failed=True)
    [failed] = found.pop(FAULTY)
    del expected[FAULTY]
    assert said(found) == expected
    # nothing can be known of this sentence: not even greedy search has an answer
    assert failed["tokens"].tolist() == [setup.task.target_dictionary.eos()]
    assert failed["score"] == float("-inf")
    what = f"the network's (policy|value) .* after \\[\\]; answered by {EMPTY}"
    assert re.fullmatch(what, failed["failed"])


@pytest.mark.parametrize("options", DECODERS.values(), ids=DECODERS)
def test_without_the_option_the_run_stops_with_the_sentences_number(
    unreadable: Setup, options: dict[str, Any]
) -> None:
    what = rf"^sentence {FAULTY}: the network's (policy|value) .*; --skip-failed goes on with"
    with pytest.raises(FailedSentenceError, match=what):
        unreadable.generate(SENTENCES, batch_size=5, **LIMITS, **options)


def test_fairseqs_beam_search_notices_too(setup: Setup, unreadable: Setup) -> None:
    with pytest.raises(FailedSentenceError, match=rf"^sentence {FAULTY}: the network's policy"):
        unreadable.generate(SENTENCES, **LIMITS)
    expected = setup.generate(SENTENCES, **LIMITS)
    found = unreadable.generate(SENTENCES, **LIMITS, skip_failed=True)
    [failed] = found.pop(FAULTY)
    assert failed["failed"] == f"the network's policy holds NaN; answered by {EMPTY}"
    for number, [one, *_] in found.items():
        assert one["tokens"].tolist() == expected[number][0]["tokens"].tolist()


@pytest.mark.parametrize("name", ["mcts_mean", "vgbs", "sr_value"])
def test_without_a_value_greedy_search_answers(setup: Setup, name: str) -> None:
    broken = poisoned(setup, values_are_nan)
    greedy = setup.generate(SENTENCES, beam=1, **LIMITS)
    found = broken.generate(SENTENCES, **LIMITS, **DECODERS[name], skip_failed=True)
    for number, [one] in found.items():
        assert re.fullmatch(
            rf"the network's value is nan after \[.*\]; answered by {GREEDY}", one["failed"]
        )
        assert one["tokens"].tolist() == greedy[number][0]["tokens"].tolist()
        assert one["value"] is None


def test_what_was_finished_before_is_better_than_greedy_search(setup: Setup) -> None:
    """The metric of samples fails, when all of them are there."""
    options = {**DECODERS["sr_metric"], "search_metric": "faulty-vowels"}
    found = setup.generate(range(1), **LIMITS, **options, skip_failed=True)
    [one] = found[0]  # about Frieda
    assert one["failed"].startswith("--search-metric faulty-vowels: gives nan for ")
    assert one["failed"].endswith(f"; answered by {BEST_SO_FAR}")
    assert one["metric"] is None
    drawn = setup.generate(range(1), **LIMITS, **DECODERS["sr_metric"], nbest=8)[0]
    assert one["tokens"].tolist() in [other["tokens"].tolist() for other in drawn]


SKIPPING = (
    *("--search", "mcts", "--mcts-leaf", "rollout", "--mcts-simulations", "3", "--max-len-b", "8"),
    *("--search-metric", "faulty-vowels", "--search-post-process", "sentencepiece"),
)


def test_the_output_says_what_failed(
    trained: Trained, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    faulty = [number for number, line in enumerate(trained.lines("test.en")) if NO_NUMBER in line]
    caplog.set_level("INFO")
    output = run_generate(trained, *SKIPPING, "--skip-failed", results=tmp_path)
    lines = re.findall(r"^F-(\d+)\t(.*)$", output, re.MULTILINE)
    assert sorted(int(number) for number, _ in lines) == faulty
    assert f"{len(faulty)} sentences failed:" in caplog.text
    for number, what in lines:
        assert "gives nan for" in what
        assert f"  sentence {number}: {what}" in caplog.text
    numbered = re.findall(r"^H-(\d+)", output, re.MULTILINE)
    assert sorted(map(int, numbered)) == list(range(len(trained.lines("test.en"))))


def test_input_lines_are_named_by_their_numbers(
    trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    pieces = (trained.folder / "subwords" / "test.en").read_text(encoding="utf-8").splitlines()
    faulty = next(one for one in pieces if NO_NUMBER in one)
    fine = [one for one in pieces if NO_NUMBER not in one][:2]
    lines = [fine[0], faulty, fine[1]]
    with pytest.raises(FailedSentenceError, match=r"^sentence 1: --search-metric faulty-vowels"):
        run_interactive(trained, lines, *SKIPPING, folder=tmp_path)
    capsys.readouterr()
    run_interactive(trained, lines, *SKIPPING, "--skip-failed", folder=tmp_path)
    printed = capsys.readouterr().out
    assert re.findall(r"^([FH])-(\d+)", printed, re.MULTILINE) == [
        ("H", "0"),
        ("H", "1"),
        ("F", "1"),
        ("H", "2"),
    ]


class TestRetrying:
    """The order of attempts, with searches that fit so much and no more."""

    @staticmethod
    def run(fits: int, faulty: Sequence[int] = (), huge: Sequence[int] = ()) -> Any:
        attempts: list[list[int]] = []

        def search(places: Sequence[int], *, ahead: bool) -> list[str]:
            attempts.append(list(places))
            if len(places) > fits or any(place in huge for place in places):
                raise RuntimeError("[enforce fail] DefaultCPUAllocator: can't allocate memory: you")
            broken = {row: "NaN" for row, place in enumerate(places) if place in faulty}
            if broken:
                raise FaultySentenceError(broken)
            return [f"translation {place}" for place in places]

        def failed(place: int, failure: Failure) -> str:
            return f"failed: {failure.reason[:22]}"

        return Retrying[str]().run(8, search, failed), attempts

    def test_a_batch_that_does_not_fit_is_halved(self) -> None:
        found, attempts = self.run(fits=3)
        assert found == [f"translation {place}" for place in range(8)]
        assert [len(one) for one in attempts] == [8, 4, 2, 2, 2, 2]

    def test_a_sentence_that_does_not_fit_fails_alone(self) -> None:
        found, attempts = self.run(fits=8, huge=[3])
        assert found[3] == "failed: memory is too little f"
        assert [one for place, one in enumerate(found) if place != 3] == [
            f"translation {place}" for place in range(8) if place != 3
        ]
        assert attempts[-1] == [4, 5, 6, 7]  # the size was that of the one sentence

    def test_all_faulty_sentences_of_a_batch_are_set_aside_at_once(self) -> None:
        found, attempts = self.run(fits=8, faulty=[1, 6])
        assert [found[1], found[6]] == ["failed: NaN"] * 2
        assert attempts == [[*range(8)], [1], [6], [0, 2, 3, 4, 5, 7]]

    @pytest.mark.parametrize(
        "words",
        [
            "std::bad_alloc",
            "CUDA error: out of memory\nCUDA kernel errors might be reported later",
            "CUDA error: CUBLAS_STATUS_ALLOC_FAILED when calling `cublasCreate(handle)`",
            "cuDNN error: CUDNN_STATUS_ALLOC_FAILED",
            "DefaultCPUAllocator: not enough memory: you tried to allocate 8 bytes",
        ],
    )
    def test_memory_is_lacking_in_many_words(self, words: str) -> None:
        def search(places: Sequence[int], *, ahead: bool) -> list[str]:
            if len(places) > 1:
                raise RuntimeError(words)
            return ["found"]

        assert Retrying[str]().run(3, search, lambda place, failure: "") == ["found"] * 3

    def test_other_errors_are_not_hidden(self) -> None:
        def search(places: Sequence[int], *, ahead: bool) -> list[str]:
            raise RuntimeError("a fault of the program")

        with pytest.raises(RuntimeError, match="a fault of the program"):
            Retrying[str]().run(2, search, lambda place, failure: "")


LIMITED = """
import resource, sys
from pathlib import Path
from fairseq_mcts.register import register
register()
import fairseq_mcts.generators.failures as failures
from tests.generators.harness import load
from tests.generators.trained import Trained

trained = Trained(Path(sys.argv[1]))
setup = load(trained, trained.dual)
sizes, attempt = [], failures._attempt

def watched(search, batch, **options):
    sizes.append(len(batch))
    return attempt(search, batch, **options)

def decode(sentences):
    sizes.clear()
    options = {"search": "mcts", "mcts_simulations": 300, "max_len_b": 2}
    found = setup.generate(sentences, **options)
    return {one: several[0]["tokens"].tolist() for one, several in found.items()}

failures._attempt = watched
decode(range(2))  # all kernels are loaded
used = int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()
resource.setrlimit(resource.RLIMIT_AS, (used + 24 * 2**20, resource.RLIM_INFINITY))
limited = decode(range(64))
assert sizes[0] == 64 > sizes[-1] >= 1, sizes
resource.setrlimit(resource.RLIMIT_AS, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
failures._attempt = attempt
assert decode(range(64)) == limited
print("the same in batches of", min(sizes or [0]))
"""


@pytest.mark.slow
def test_a_limit_of_the_operating_system_splits_batches_and_changes_nothing(
    trained: Trained, tmp_path: Path
) -> None:
    """Trees, keys and values of 64 sentences with 300 simulations each are more than that."""
    # the Makefile has processes keep what they have freed, which would be enough here
    environment = {name: one for name, one in os.environ.items() if not name.startswith("MALLOC_")}
    ended = subprocess.run(
        [sys.executable, "-c", LIMITED, str(trained.folder)],
        capture_output=True,
        text=True,
        check=False,
        cwd=tmp_path,
        env={**environment, "PYTHONPATH": str(REPOSITORY)},
    )
    assert ended.returncode == 0, ended.stderr[-3000:]
    assert "the same" in ended.stdout


def test_memory_that_is_too_little_for_one_fails_by_name_and_is_skipped(setup: Setup) -> None:
    """The longest limit of length needs most; of the others all fit."""
    options = {"search": "mcts", "mcts_simulations": 20, "max_len_b": 12}
    expected = said(setup.generate(SENTENCES, **options))
    too_little = {"search_memory": 0.02}
    with pytest.raises(FailedSentenceError, match=r"^sentence \d+: --search-memory is too little"):
        setup.generate(SENTENCES, **options, **too_little)
    found = setup.generate(SENTENCES, **options, **too_little, skip_failed=True)
    failed = {number for number, [one] in found.items() if one["failed"]}
    assert failed
    for number, [one] in found.items():
        if number in failed:
            assert "--search-memory is too little for a single sentence" in one["failed"]
        else:
            assert said({number: [one]})[number] == expected[number]
