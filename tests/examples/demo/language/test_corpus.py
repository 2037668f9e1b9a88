"""The corpus as files: the same seed, the same bytes; no overlap; clean sentences."""

import itertools
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from examples.demo.language import corpus as module
from examples.demo.language.corpus import (
    MAX_WORDS,
    MIN_WORDS,
    Corpus,
    CorpusError,
    Extent,
    distinct_pairs,
    main,
    make_corpus,
)
from tests.console import REPOSITORY

CLEAN = re.compile(r"[A-ZÄÖÜ][A-Za-zÄÖÜäöüß',. -]*[A-Za-zÄÖÜäöüß'][.?!]")


@pytest.fixture(scope="module")
def corpus() -> Corpus:
    return make_corpus(train=2400, valid=300, test=300, seed=1)


def test_same_seed_same_bytes(tmp_path: Path) -> None:
    sizes = ["--train", "300", "--valid", "30", "--test", "30"]
    for folder, seed in (("a", "5"), ("b", "5"), ("c", "6")):
        assert main(["--out", str(tmp_path / folder), "--seed", seed, *sizes]) == 0
    names = sorted(path.name for path in (tmp_path / "a").iterdir())
    assert names == ["test.de", "test.en", "train.de", "train.en", "valid.de", "valid.en"]
    for file in names:
        first = (tmp_path / "a" / file).read_bytes()
        assert first == (tmp_path / "b" / file).read_bytes()
        assert first != (tmp_path / "c" / file).read_bytes()
        assert b"\r" not in first
        assert first.endswith(b"\n")


def test_sets_do_not_leak_their_order(tmp_path: Path) -> None:
    """Python shuffles sets of strings anew in every process: the files must not show it."""
    command = [sys.executable, "-m", "examples.demo.language.corpus", "--train", "200"]
    for hash_seed in ("1", "2"):
        subprocess.run(
            [*command, "--valid", "0", "--test", "0", "--out", str(tmp_path / hash_seed)],
            cwd=REPOSITORY,
            env={**os.environ, "PYTHONHASHSEED": hash_seed, "PYTHONIOENCODING": "utf-8"},
            check=True,
            capture_output=True,
        )
    first, second = (tmp_path / seed / "train.de" for seed in ("1", "2"))
    assert first.read_bytes() == second.read_bytes()


def test_no_overlap(corpus: Corpus) -> None:
    sources = {split: [en for en, _ in pairs] for split, pairs in corpus.splits()}
    everything = [source for part in sources.values() for source in part]
    assert len(everything) == 3000
    assert len(set(everything)) == len(everything)


def test_a_larger_training_set_keeps_the_test_set(corpus: Corpus) -> None:
    smaller = make_corpus(train=10, valid=300, test=300, seed=1)
    assert smaller.test == corpus.test
    assert smaller.valid == corpus.valid


def test_sentences_are_clean(corpus: Corpus) -> None:
    for _, pairs in corpus.splits():
        for pair in pairs:
            for text in pair:
                assert CLEAN.fullmatch(text), text
                assert not re.search(r"  | ,|,,|,[^ ]|None|_", text), text
                assert MIN_WORDS <= len(text.split()) <= MAX_WORDS


def test_lengths_vary(corpus: Corpus) -> None:
    lengths = [len(de.split()) for _, de in corpus.train]
    assert min(lengths) == MIN_WORDS
    assert max(lengths) >= 20
    assert 8 < sum(lengths) / len(lengths) < 13


def test_english_leaves_german_open(corpus: Corpus) -> None:
    """du, ihr and Sie, perfect and preterite, and both orders occur."""
    text = " ".join(de for _, de in corpus.train)
    for word in (" du ", " ihr ", " Sie ", " hat ", " weil ", " als ", " wenn ", " sich "):
        assert text.count(word) > 10, word


def test_more_than_fifty_thousand_pairs_exist() -> None:
    """Capture and recapture: few English sentences of one draw come again in another.

    The estimate n·n/overlap is too low if some sentences are more frequent than others, as they
    are here, so that it is a safe bound.
    """
    count = 2500
    first, second = (
        {source for source, _ in itertools.islice(distinct_pairs(seed), count)} for seed in (2, 3)
    )
    overlap = len(first & second)
    assert count * count / max(overlap, 1) > 50_000


def test_asking_too_much_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    few = itertools.cycle([("One two three.", "Eins zwei drei."), ("A b c.", "D e f.")])
    monkeypatch.setattr(module, "draw", lambda *_, **__: next(few))
    monkeypatch.setattr(module, "PATIENCE", 50)
    with pytest.raises(CorpusError, match=r"gave 2 distinct pairs.*ask for 9"):
        make_corpus(train=5, valid=2, test=2, seed=1)


def test_negative_sizes_are_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path), "--valid", "-1"]) == 1
    assert "--valid" in capsys.readouterr().err


def test_an_unusable_folder_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "file"
    file.write_text("")
    assert main(["--out", str(file), "--train", "1", "--valid", "1", "--test", "1"]) == 1
    assert str(file) in capsys.readouterr().err


def test_summary(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["--out", str(tmp_path), "--train", "20", "--valid", "5", "--test", "0"]) == 0
    shown = capsys.readouterr().out
    assert "20 pairs" in shown
    assert "0 pairs" in shown
    assert "→" in shown


def test_a_smaller_language_has_fewer_words_and_no_commands() -> None:
    whole = make_corpus(train=1500, valid=0, test=0, seed=2)
    small = make_corpus(train=1500, valid=0, test=0, seed=2, extent=Extent(words=8, simple=True))

    def words(corpus: Corpus) -> set[str]:
        return {word for _, german in corpus.train for word in german.split()}

    assert len(words(small)) < 0.7 * len(words(whole))
    assert any(german.endswith("!") for _, german in whole.train)
    assert not any(german.endswith("!") for _, german in small.train)


def test_a_language_of_one_word_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture) -> None:
    assert main(["--out", str(tmp_path), "--words", "1"]) == 1
    assert "--words must be at least 2, but is 1" in capsys.readouterr().err
