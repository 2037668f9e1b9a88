"""Encoders load from a folder, to the layer asked for; what is missing is said plainly."""

import json
import shutil

import pytest
import torch
from bert_score.utils import get_tokenizer, sent_encode

from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.encoder import (
    EncoderNotFoundError,
    default_layer,
    fingerprint,
    load_encoder,
)


def test_token_ids_are_those_of_the_vocabulary_file(toy_encoder) -> None:
    encoder = load_encoder(str(toy_encoder))
    vocabulary = (toy_encoder / "vocab.txt").read_text(encoding="utf-8").split("\n")
    expected = ["[CLS]", "der", "Hund", "!", "[SEP]"]
    assert [vocabulary[i] for i in encoder.tokenize(["der Hund!"])[0]] == expected
    # A word unknown as a whole comes in pieces, never as [UNK].
    pieces = [vocabulary[i] for i in encoder.tokenize(["Hundgarten"])[0]]
    assert pieces[1] == "Hund" and "[UNK]" not in pieces


def test_tokens_are_those_of_bert_score(toy_encoder, toy_pairs) -> None:
    texts = [*toy_pairs.sources[:50], *toy_pairs.targets[:50], "", "  ", "[SEP] x", "a\u200bb 😀"]
    slow = get_tokenizer(str(toy_encoder))
    assert load_encoder(str(toy_encoder)).tokenize(texts) == [sent_encode(slow, t) for t in texts]


def test_layer_is_the_hidden_state_of_that_depth(toy_encoder) -> None:
    from transformers import BertModel

    tokens = torch.tensor([[2, 20, 21, 22, 3]])
    mask = torch.ones_like(tokens)
    full = BertModel.from_pretrained(toy_encoder, add_pooling_layer=False).eval()
    states = full(tokens, attention_mask=mask, output_hidden_states=True).hidden_states
    for layer in (1, 2, 3):
        encoder = load_encoder(str(toy_encoder), layer=layer)
        torch.testing.assert_close(encoder(tokens, mask), states[layer])
    assert load_encoder(str(toy_encoder)).layer == 3


def test_default_layer_is_bert_scores_for_public_models() -> None:
    assert default_layer("bert-base-multilingual-cased", 12) == 9
    assert default_layer("/some/where/bert-base-multilingual-cased", 12) == 9
    assert default_layer("/some/where/own", 4) == 4


def test_fingerprint_follows_the_weights_not_the_place(toy_encoder, tmp_path) -> None:
    copy = tmp_path / "elsewhere" / toy_encoder.name
    shutil.copytree(toy_encoder, copy)
    assert fingerprint(str(copy)) == fingerprint(str(toy_encoder))
    assert fingerprint(str(copy)).startswith("toy-encoder@")
    weights = copy / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[:-1] + b"\x01")
    assert fingerprint(str(copy)) != fingerprint(str(toy_encoder))
    assert fingerprint("bert-base-multilingual-cased") == "bert-base-multilingual-cased"


def test_fingerprint_follows_each_part_of_the_weights(tmp_path) -> None:
    parts = ("one.safetensors", "two.safetensors")
    weights = {f"weight {number}": part for number, part in enumerate(parts)}
    index = tmp_path / "model.safetensors.index.json"
    index.write_text(json.dumps({"weight_map": weights}), encoding="utf-8")
    for part in parts:
        (tmp_path / part).write_bytes(b"weights")
    seen = {fingerprint(str(tmp_path))}
    for part in parts:
        (tmp_path / part).write_bytes(b"other weights")
        seen.add(fingerprint(str(tmp_path)))
    assert len(seen) == 3


def test_unlimited_tokenizer_is_cut_at_the_encoders_positions(toy_encoder, tmp_path) -> None:
    copy = tmp_path / "unlimited"
    shutil.copytree(toy_encoder, copy)
    settings_file = copy / "tokenizer_config.json"
    settings = json.loads(settings_file.read_text(encoding="utf-8"))
    del settings["model_max_length"]
    settings_file.write_text(json.dumps(settings), encoding="utf-8")
    assert len(load_encoder(str(copy)).tokenize(["Hund " * 500])[0]) == 64


@pytest.mark.parametrize("layer", [0, 4])
def test_impossible_layer_is_refused(toy_encoder, layer) -> None:
    with pytest.raises(ValueError, match=f"layer={layer}: .* has layers 1 to 3"):
        load_encoder(str(toy_encoder), layer=layer)


@pytest.mark.parametrize("metric", ["bertscore", "mlbertscore"])
def test_missing_folder_says_what_was_looked_for(tmp_path, metric) -> None:
    folder = tmp_path / "nowhere"
    with pytest.raises(EncoderNotFoundError) as error:
        build_metric(metric, {"model": str(folder)})
    message = str(error.value)
    assert str(folder) in message and "no such folder" in message
    assert "config.json" in message and "model=PATH" in message


def test_folder_without_a_model_says_what_is_missing(tmp_path, toy_encoder) -> None:
    with pytest.raises(EncoderNotFoundError, match=r"lacks config.json and model.safetensors"):
        load_encoder(str(tmp_path))
    copy = tmp_path / "half"
    shutil.copytree(toy_encoder, copy)
    (copy / "model.safetensors").unlink()
    with pytest.raises(EncoderNotFoundError, match=r"lacks model.safetensors or pytorch_model"):
        load_encoder(str(copy))


@pytest.mark.parametrize(
    "content", ["", "{}", "[1]", '{"weight_map": {"a": 1}}', '{"weight_map": 1}']
)
def test_a_damaged_index_of_weights_is_named(tmp_path, toy_encoder, content) -> None:
    copy = tmp_path / "parts"
    shutil.copytree(toy_encoder, copy)
    index = copy / "model.safetensors.index.json"
    index.write_text(content, encoding="utf-8")
    with pytest.raises(ValueError, match=f"{index}: is no index of weights"):
        load_encoder(str(copy))


def test_hub_name_without_a_network_says_how_to_give_a_folder() -> None:
    with pytest.raises(EncoderNotFoundError) as error:
        load_encoder("nobody/never-stored-encoder")
    message = str(error.value)
    assert "neither a folder here" in message and "--local-dir DIR" in message
    assert "model=DIR" in message


@pytest.mark.parametrize("share", [0.0, 0.001, 0.5])
def test_half_a_file_of_weights_is_named(toy_encoder, tmp_path, share) -> None:
    folder = tmp_path / "half"
    shutil.copytree(toy_encoder, folder)
    weights = folder / "model.safetensors"
    weights.write_bytes(weights.read_bytes()[: int(share * weights.stat().st_size)])
    with pytest.raises(ValueError, match=rf"the weights of the encoder {folder} can't be read"):
        build_metric(f"mlbertscore:model={folder}").score(["ein Satz"], ["a sentence"])
