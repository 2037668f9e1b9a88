"""The searches through fairseq's hub interface."""

import json
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import hub_utils
from fairseq.models.transformer import TransformerModel

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.tasks import TranslationMctsTask
from tests.generators.trained import SEEN, Trained

pytestmark = pytest.mark.slow


@pytest.fixture(scope="module")
def hub(trained: Trained) -> Any:
    """What `TransformerModel.from_pretrained` does for a model of any kind."""
    loaded = hub_utils.from_pretrained(
        str(trained.folder),
        checkpoint_file=trained.dual.name,
        data_name_or_path=str(trained.data),
        bpe="sentencepiece",
        sentencepiece_model=str(trained.sentencepiece),
    )
    return hub_utils.GeneratorHubInterface(loaded["args"], loaded["task"], loaded["models"])


def test_translate_takes_a_search_and_its_options(hub: Any, trained: Trained) -> None:
    sources, references = trained.lines("test.en")[-SEEN:], trained.lines("test.de")[-SEEN:]
    found = hub.translate(sources, search="mcts", mcts_simulations=8, mcts_c_puct=20.0)
    assert len(found) == SEEN
    assert sum(map(str.__eq__, found, references)) > SEEN / 5
    assert (
        hub.translate(sources[0], search="mcts", mcts_simulations=8, mcts_c_puct=20.0) == found[0]
    )


def test_a_file_with_settings_stands_for_the_options(
    hub: Any, trained: Trained, tmp_path: Path
) -> None:
    sources = trained.lines("test.en")[:12]
    options = {"mcts-simulations": 8, "mcts-c-puct": 20.0, "max-len-b": 9}
    path = tmp_path / "tuned.json"
    path.write_text(json.dumps({"search": "mcts", "options": options}))
    expected = hub.translate(
        sources, search="mcts", mcts_simulations=8, mcts_c_puct=20.0, max_len_b=9
    )
    assert hub.translate(sources, search_settings=str(path)) == expected
    assert hub.translate(sources, search="mcts", max_len_b=9) != expected
    assert hub.translate(
        sources, search_settings=str(path), mcts_simulations=2, max_len_b=200
    ) == hub.translate(sources, search="mcts", mcts_simulations=2, mcts_c_puct=20.0, max_len_b=9)
    with pytest.raises(ValueError, match=r"is for --search mcts, not for --search vgbs"):
        hub.translate(sources, search="vgbs", search_settings=str(path))


def test_generate_returns_what_the_search_knows(hub: Any, trained: Trained) -> None:
    tokens = [hub.encode(line) for line in trained.lines("test.en")[:3]]
    for hypotheses in hub.generate(tokens, search="vgbs", vgbs_beam=3, nbest=3):
        assert len(hypotheses) == 3
        assert [one["search_score"] for one in hypotheses] == sorted(
            (one["search_score"] for one in hypotheses), reverse=True
        )
        assert all(0 <= one["value"] <= 1 for one in hypotheses)
    [[best]] = hub.generate(tokens[:1], search="mcts", mcts_simulations=4)
    assert len(best["visits"]) == len(best["tokens"])
    assert best["evaluations"].charged > best["evaluations"].made > 0


def test_value_can_be_given_too(hub: Any, trained: Trained) -> None:
    [line] = trained.lines("test.en")[:1]
    untrained = str(trained.folder / "dual" / "checkpoint_last.pt")
    [[one]], [[other]] = (
        hub.generate([hub.encode(line)], search="mcts", mcts_simulations=4, **options)
        for options in ({}, {"value_path": untrained})
    )
    assert one["value"] != other["value"]


def test_metric_reads_text_by_the_tokenizer_and_bpe_of_the_interface(
    hub: Any, trained: Trained
) -> None:
    tokens = [hub.encode(line) for line in trained.lines("test.en")[:1]]
    options = {"search": "sr", "sr_samples": 4, "sr_rank_by": "metric", "search_metric": "vowels"}
    [[best]] = hub.generate(tokens, **options)
    assert best["metric"] is not None and best["value"] is None
    text = hub.decode(best["tokens"])
    [source] = trained.lines("test.en")[:1]
    assert best["metric"] == pytest.approx(build_metric("vowels").score([text], [source])[0])


def test_seed_of_torch_decides_the_samples(hub: Any, trained: Trained) -> None:
    sentences = trained.lines("test.en")[:6]
    found = []
    for seed in (1, 2, 1):
        torch.manual_seed(seed)
        found.append(hub.translate(sentences, search="sr", sr_samples=1, sr_temperature=1.5))
    assert found[0] == found[2] != found[1]


def from_pretrained(trained: Trained, task: str) -> Any:
    """An ordinary checkpoint, loaded as its users do."""
    return TransformerModel.from_pretrained(
        str(trained.plain.parent),
        checkpoint_file=trained.plain.name,
        data_name_or_path=str(trained.data),
        task=task,
        bpe="sentencepiece",
        sentencepiece_model=str(trained.sentencepiece),
    )


def test_a_search_of_a_checkpoint_without_this_task_is_refused(trained: Trained) -> None:
    plain = from_pretrained(trained, "translation")
    [line] = trained.lines("test.en")[:1]
    assert plain.translate(line)
    with pytest.raises(ValueError, match=r"^search='mcts': .*TranslationTask, which only knows"):
        plain.translate(line, search="mcts")
    with pytest.raises(ValueError, match=r"^mbr_samples=4: .* task='translation_mcts'"):
        plain.translate(line, mbr_samples=4)


def test_the_task_that_is_named_is_used(trained: Trained) -> None:
    plain = from_pretrained(trained, "translation_mcts")
    assert isinstance(plain.task, TranslationMctsTask)
    [line] = trained.lines("test.en")[:1]
    assert plain.translate(line) == from_pretrained(trained, "translation").translate(line)
    assert plain.translate(line, search="mbr", mbr_samples=4, search_metric="chrf")
    with pytest.raises(ValueError, match=r"^task='no_such': there is no such task; known: .*mcts"):
        from_pretrained(trained, "no_such")


def test_misspelt_and_unsupported_options_are_named(hub: Any) -> None:
    with pytest.raises(ValueError, match=r"^mcts_simulation: the searches have no such option"):
        hub.translate("Yes", search="mcts", mcts_simulation=8)
    with pytest.raises(ValueError, match=r"^--search mtcs: is none of beam, mbr, mcts, sr, vgbs"):
        hub.translate("Yes", search="mtcs")
    with pytest.raises(ValueError, match=r"^serach: the searches have no such option, nor has"):
        hub.translate("Yes", serach="mcts")
    with pytest.raises(ValueError, match=r"^--beam 1: not with --search mcts"):
        hub.translate("Yes", beam=1, search="mcts")
    with pytest.raises(ValueError, match="prefix_allowed_tokens_fn: not with --search mcts"):
        hub.translate("Yes", search="mcts", prefix_allowed_tokens_fn=lambda *_: [2])
    with pytest.raises(ValueError, match=r"input line 1 .* has 501 tokens"):
        hub.translate("a " * 500, search="mcts")
