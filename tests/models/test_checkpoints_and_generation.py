"""The architectures in fairseq's own hands: beam search, ensembles, checkpoints, the cache."""

from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import checkpoint_utils
from fairseq.models.transformer import TransformerConfig, TransformerModelBase
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fairseq_mcts import compat
from tests.models.toys import (
    DUAL,
    EOS,
    POLICY,
    make_batch,
    make_model,
    save_checkpoint,
    toy_task,
)

both = pytest.mark.parametrize("arch", [POLICY, DUAL])


def beam_search(models: list[Any], **options: Any) -> list[list[dict[str, Tensor]]]:
    generator = SequenceGenerator(
        models, toy_task().target_dictionary, **{"beam_size": 3, "max_len_b": 12, **options}
    )
    batch = make_batch()
    sample = {"net_input": {"src_tokens": batch.src_tokens, "src_lengths": batch.src_lengths}}
    hypotheses: list[list[dict[str, Tensor]]] = generator.generate(models, sample)
    return hypotheses


def rescored(models: list[Any], sentence: int, tokens: Tensor) -> Tensor:
    """Log-probabilities of a hypothesis by one full pass over the sentence alone."""
    source = make_batch().row(sentence).src_tokens
    previous = torch.cat([torch.tensor([EOS]), tokens[:-1]])[None]
    with torch.no_grad():
        probabilities = [m(source, None, previous)[0].softmax(-1) for m in models]
    mean = torch.stack(probabilities).mean(dim=0)[0]  # [T, vocabulary]
    return mean.gather(1, tokens[:, None])[:, 0].log()


@both
@pytest.mark.parametrize("members", [1, 2])
def test_beam_search_scores_what_the_models_say(arch: str, members: int) -> None:
    """Sentences of different length, so that finished ones leave the batch midway."""
    # Larger weights than at the start of training: hypotheses that differ clearly.
    models = [make_model(arch, seed=seed, init_std=0.5) for seed in range(members)]
    hypotheses = beam_search(models)
    assert len(hypotheses) == 4
    for sentence, beam in enumerate(hypotheses):
        assert len(beam) == 3
        for hypothesis in beam:
            torch.testing.assert_close(
                hypothesis["positional_scores"],
                rescored(models, sentence, hypothesis["tokens"]),
                atol=1e-4,
                rtol=0,
            )


def test_beam_of_one_is_greedy() -> None:
    model = make_model(POLICY, init_std=0.5)
    for sentence, beam in enumerate(beam_search([model], beam_size=1, max_len_b=8)):
        tokens = beam[0]["tokens"]
        source = make_batch().row(sentence).src_tokens
        previous = torch.cat([torch.tensor([EOS]), tokens[:-1]])[None]
        logits = model(source, None, previous)[0][0]
        logits[:, :2] = -torch.inf  # bos and padding are never chosen
        free = len(tokens) - 1 if len(tokens) == 9 else len(tokens)  # EOS is forced at the limit
        logits[0, EOS] = -torch.inf  # min_len 1
        assert logits.argmax(-1)[:free].tolist() == tokens[:free].tolist()


@both
def test_ensembles_load_with_model_overrides(tmp_path: Path, arch: str) -> None:
    compat.apply()
    models = [make_model(arch, seed=seed) for seed in (1, 2)]
    paths = [save_checkpoint(tmp_path, f"{i}.pt", arch, m) for i, m in enumerate(models)]
    task = toy_task()
    overrides = {"dropout": 0.42, "max_target_positions": 77, "decoder_ffn_embed_dim": 256}
    loaded, _ = checkpoint_utils.load_model_ensemble(paths, arg_overrides=overrides, task=task)
    for model, original in zip(loaded, models, strict=True):
        assert type(model) is type(original)
        assert model.decoder.layers[0].dropout_module.p == 0.42
        assert model.max_decoder_positions() == 77
        for name, tensor in original.state_dict().items():
            assert torch.equal(model.state_dict()[name], tensor), name
    expected = beam_search(models)
    found = beam_search([model.eval() for model in loaded])
    assert [h["tokens"].tolist() for b in found for h in b] == [
        h["tokens"].tolist() for b in expected for h in b
    ]


def test_a_reload_keeps_the_range_the_value_was_trained_with(tmp_path: Path) -> None:
    """Saved from a half-precision model, as fp16 training does."""
    compat.apply()
    model = make_model(DUAL)
    model.decoder.value_head.set_range(0.1234567, 0.7654321)
    edges = model.decoder.value_head.bucket_edges.clone()
    path = save_checkpoint(tmp_path, "half.pt", DUAL, model.half())
    (loaded,), _ = checkpoint_utils.load_model_ensemble([path], task=toy_task())
    assert torch.equal(loaded.decoder.value_head.bucket_edges, edges)


def test_averaged_weights_load(tmp_path: Path) -> None:
    """The mean of two checkpoints, tensor by tensor, is a checkpoint again."""
    states = [make_model(DUAL, seed=seed).state_dict() for seed in (1, 2)]
    mean = {name: (tensor + states[1][name]) / 2 for name, tensor in states[0].items()}
    model = make_model(DUAL)
    model.load_state_dict(mean)
    assert (model.decoder.value_head.low, model.decoder.value_head.high) == (0.0, 1.0)


def cache_bytes_per_position(model: Any, steps: int) -> dict[str, float]:
    """Measured size of a decoder layer's keys and values, per row and position."""
    batch = make_batch()
    state: dict[str, dict[str, Tensor | None]] = {}
    with torch.no_grad():
        encoder_out = model.encoder(batch.src_tokens, batch.src_lengths)
        for length in range(1, steps + 1):
            model.decoder(
                torch.full((4, length), EOS), encoder_out=encoder_out, incremental_state=state
            )
    sizes = {"self": 0, "cross": 0}
    for cache in state.values():
        for name in ("prev_key", "prev_value"):
            tensor = cache[name]
            assert tensor is not None
            positions = tensor.size(-2)
            assert positions in (steps, batch.src_tokens.size(1))
            sizes["self" if positions == steps else "cross"] += tensor.nbytes
    per_layer = {kind: size / len(model.decoder.layers) for kind, size in sizes.items()}
    rows, source_length = batch.src_tokens.shape
    return {
        "self": per_layer["self"] / (rows * steps),
        "cross": per_layer["cross"] / (rows * source_length),
    }


def test_the_cache_is_sixteen_times_smaller_than_with_a_key_and_value_per_head() -> None:
    """The base size against fairseq's transformer with as many heads of the same size."""
    heads = {"decoder_attention_heads": 16, "decoder_embed_dim": 16 * 128}
    # Whatever does not touch the decoder's cache is as small as can be.
    rest = {"encoder_embed_dim": 32, "encoder_layers": 1, "decoder_layers": 1}
    cfg = TransformerConfig.from_namespace(Namespace(**heads, **rest, decoder_ffn_embed_dim=8))
    multihead = TransformerModelBase.build_model(cfg, toy_task()).eval()
    multiquery = make_model("multiquery_transformer_base")

    theirs = cache_bytes_per_position(multihead, steps=5)
    ours = cache_bytes_per_position(multiquery, steps=5)
    assert theirs == {"self": 16 * ours["self"], "cross": 16 * ours["cross"]}
    assert ours["self"] > 0
