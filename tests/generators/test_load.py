"""`fairseq_mcts.load(path).translate(…)`."""

import shutil
from pathlib import Path
from typing import Any

import pytest

import fairseq_mcts
from fairseq_mcts.hub import Translator
from fairseq_mcts.metrics import build_metric
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow

MCTS: dict[str, Any] = {"search": "mcts", "mcts_simulations": 6}


def load(trained: Trained, *paths: Path, **more: Any) -> Translator:
    options = {"data": trained.data, "sentencepiece_model": str(trained.sentencepiece), **more}
    return fairseq_mcts.load(list(paths), bpe="sentencepiece", **options)


@pytest.fixture(scope="module")
def dual(trained: Trained) -> Translator:
    return load(trained, trained.dual)


@pytest.fixture(scope="module")
def plain(trained: Trained) -> Translator:
    return load(trained, trained.plain)


def test_a_search_returns_all_it_knows(dual: Translator, trained: Trained) -> None:
    lines = trained.lines("test.en")[:5]
    found = dual.translate(lines, **MCTS)
    assert [one.source for one in found] == lines
    for one in found:
        assert one.text == str(one) == one.candidates[0].text
        assert one.value is not None and 0 <= one.value <= 1
        assert one.metric is None
        assert len(one.visits) == len(one.candidates[0].tokens)
        assert one.charged is not None and one.made is not None and one.charged > one.made > 0
        assert "▁" not in one.text
    assert dual.translate(lines[2], **MCTS) == found[2]
    assert dual.translate([]) == []


@pytest.mark.parametrize("text", ["\ud800", "the dog\udcff sees"])
def test_half_of_a_pair_is_refused_by_its_sentence(dual: Translator, text: str) -> None:
    """sentencepiece alone says that a Python instance can't be cast."""
    with pytest.raises(ValueError, match=r"^translate: sentence 1: character \d+ is half of a"):
        dual.translate(["the dog", text], **MCTS)


def test_n_best_lists_are_as_long_as_asked_for(dual: Translator, trained: Trained) -> None:
    [line] = trained.lines("test.en")[:1]
    found = dual.translate(line, search="vgbs", vgbs_beam=4, nbest=3)
    scores = [one.score for one in found.candidates]
    assert len(scores) == 3 and scores == sorted(scores, reverse=True)
    beam = dual.translate(line, nbest=2)
    assert len(beam.candidates) == 2 and beam.charged is None


def test_a_plain_checkpoint_searches_by_a_metric(plain: Translator, trained: Trained) -> None:
    [line] = trained.lines("test.en")[:1]
    found = plain.translate(
        line, search="sr", sr_samples=6, sr_rank_by="metric", search_metric="vowels", nbest=2
    )
    for one in found.candidates:
        assert one.metric == pytest.approx(build_metric("vowels").score([one.text], [line])[0])
    with pytest.raises(ValueError, match="the checkpoint of --path has no value head"):
        plain.translate(line, **MCTS)
    assert plain.translate(line, **MCTS, value_path=str(trained.dual)).value is not None


def test_the_seed_decides_the_samples(plain: Translator, trained: Trained) -> None:
    lines = trained.lines("test.en")[:6]
    options: dict[str, Any] = {"search": "mbr", "search_metric": "chrf", "mbr_samples": 2}
    first, second, again = (plain.translate(lines, seed=seed, **options) for seed in (1, 2, 1))
    assert first == again != second


def test_an_ensemble_of_files_in_several_folders(trained: Trained) -> None:
    pair = load(trained, trained.dual, trained.folder / "dual" / "checkpoint_last.pt")
    assert len(pair.interface.models) == 2
    assert pair.translate(trained.lines("test.en")[0], **MCTS).value is not None


def test_dictionaries_and_subwords_beside_the_checkpoint_are_found(
    trained: Trained, tmp_path: Path
) -> None:
    for path in (*trained.data.glob("dict.*.txt"), trained.plain):
        shutil.copy(path, tmp_path)
    shutil.copy(trained.sentencepiece, tmp_path / "sentencepiece.bpe.model")
    path = tmp_path / trained.plain.name
    with pytest.raises(ValueError, match=r"give source_lang=… and target_lang=…$"):
        fairseq_mcts.load(path, bpe="sentencepiece")
    found = fairseq_mcts.load(path, bpe="sentencepiece", source_lang="en", target_lang="de")
    assert found.translate(trained.lines("test.en")[0]).text


def test_what_can_not_be_loaded_is_named(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"^load: no checkpoint .*none\.pt"):
        load(trained, tmp_path / "none.pt")
    with pytest.raises(FileNotFoundError, match=r"^load: data=.* is no folder with dict"):
        load(trained, trained.plain, data=tmp_path)
    with pytest.raises(FileNotFoundError, match=r"give data=FOLDER$"):
        load(trained, trained.plain, data=None)
    with pytest.raises(ValueError, match=r"^load: bep='x': there is no such option"):
        load(trained, trained.plain, bep="x")
    with pytest.raises(ValueError, match=r"subwords, but no BPE is set"):
        fairseq_mcts.load(trained.plain, data=trained.data)


def test_options_of_the_checkpoint_can_be_changed(trained: Trained) -> None:
    model = load(trained, trained.plain, dropout=0.42).interface.models[0]
    assert model.decoder.layers[0].dropout_module.p == 0.42
