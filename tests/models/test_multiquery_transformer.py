"""What both architectures promise as decoders: causality, padding, increments, gradients."""

from pathlib import Path
from typing import Any

import pytest
import torch
from torch import Tensor

from tests.models.toys import (
    DUAL,
    PAD,
    POLICY,
    TARGET_WORDS,
    Batch,
    make_batch,
    make_config,
    make_model,
    skip_unless_cpu_can,
    toy_task,
)

LEARNED = {"encoder_learned_pos": True, "decoder_learned_pos": True}

both = pytest.mark.parametrize("arch", [POLICY, DUAL])


@pytest.fixture
def batch() -> Batch:
    return make_batch()


def run(model: Any, batch: Batch) -> dict[str, Tensor]:
    """Everything that the heads say about each position of a batch: [B, T, …]."""
    with torch.no_grad():
        logits, extra = model(**batch.net_input)
    return {"logits": logits, **{k: extra[k] for k in ("value", "value_logits") if k in extra}}


def run_by_increments(model: Any, batch: Batch) -> dict[str, Tensor]:
    """The same, one position at a time through the incremental state."""
    steps = []
    state: dict[str, dict[str, Tensor]] = {}
    with torch.no_grad():
        encoder_out = model.encoder(batch.src_tokens, batch.src_lengths)
        for length in range(1, batch.prev_output_tokens.size(1) + 1):
            logits, extra = model.decoder(
                batch.prev_output_tokens[:, :length],
                encoder_out=encoder_out,
                incremental_state=state,
            )
            heads = {k: extra[k] for k in ("value", "value_logits") if k in extra}
            steps.append({"logits": logits, **heads})
    return {name: torch.cat([step[name] for step in steps], dim=1) for name in steps[0]}


def assert_same_where_not_padded(
    actual: dict[str, Tensor], expected: dict[str, Tensor], batch: Batch, atol: float
) -> None:
    assert actual.keys() == expected.keys()
    real = batch.prev_output_tokens != PAD
    for name, tensor in actual.items():
        torch.testing.assert_close(tensor[real], expected[name][real], atol=atol, rtol=0)


@both
@pytest.mark.parametrize("positions", [{}, LEARNED], ids=["sinusoidal", "learned"])
def test_increments_equal_the_full_pass(
    batch: Batch, arch: str, positions: dict[str, bool]
) -> None:
    model = make_model(arch, **positions)
    assert_same_where_not_padded(run_by_increments(model, batch), run(model, batch), batch, 1e-5)


@both
@pytest.mark.parametrize(
    ("precision", "atol"), [(torch.bfloat16, 0.1), (torch.float16, 0.02)], ids=str
)
def test_increments_equal_the_full_pass_in_half_precision(
    batch: Batch, arch: str, precision: torch.dtype, atol: float
) -> None:
    """Logits of size about 1 with 8 (bfloat16) or 11 (float16) bits of precision."""
    skip_unless_cpu_can(precision)
    exact = run(make_model(arch), batch)
    model = make_model(arch).to(precision)
    full = run(model, batch)
    assert full["logits"].dtype == precision
    assert_same_where_not_padded(run_by_increments(model, batch), full, batch, atol)
    for name, tensor in full.items():
        torch.testing.assert_close(tensor.float(), exact[name], atol=atol, rtol=0)


@both
def test_later_tokens_change_nothing_earlier(batch: Batch, arch: str) -> None:
    model = make_model(arch)
    before = run(model, batch)
    tokens = batch.prev_output_tokens.clone()
    cut = 6
    tokens[1, cut:] = tokens[1, cut:] % (TARGET_WORDS - 4) + 4
    assert (tokens != batch.prev_output_tokens).any()
    after = run(model, Batch(batch.src_tokens, batch.src_lengths, tokens))
    for name, tensor in before.items():
        torch.testing.assert_close(after[name][:, :cut], tensor[:, :cut], atol=0, rtol=0)
        assert not torch.equal(after[name][1, cut:], tensor[1, cut:])


@both
def test_a_sentence_does_not_notice_its_batch(batch: Batch, arch: str) -> None:
    model = make_model(arch)
    together = run(model, batch)
    for row in range(len(batch.src_tokens)):
        alone = run(model, batch.row(row))
        for name, tensor in alone.items():
            length = tensor.size(1)
            torch.testing.assert_close(together[name][row, :length], tensor[0], atol=1e-5, rtol=0)


def test_left_padded_targets_are_masked(batch: Batch) -> None:
    model = make_model(DUAL)
    rows = [row[row != PAD] for row in batch.prev_output_tokens]
    length = batch.prev_output_tokens.size(1)
    left = torch.stack([torch.nn.functional.pad(r, (length - len(r), 0), value=PAD) for r in rows])
    shifted = run(model, Batch(batch.src_tokens, batch.src_lengths, left))
    usual = run(model, batch)
    for name, tensor in shifted.items():
        assert torch.isfinite(tensor).all()
        for row, tokens in enumerate(rows):
            n = len(tokens)
            torch.testing.assert_close(
                tensor[row, length - n :], usual[name][row, :n], atol=1e-5, rtol=0
            )


@both
def test_reordered_state_goes_on_with_the_right_rows(batch: Batch, arch: str) -> None:
    """Rows move to other sentences and double, halfway through; the rest must follow."""
    model = make_model(arch)
    order = torch.tensor([3, 1, 1])
    tokens = torch.randint(4, TARGET_WORDS, (4, 6), generator=torch.Generator().manual_seed(3))
    state: dict[str, dict[str, Tensor]] = {}
    with torch.no_grad():
        encoder_out = model.encoder(batch.src_tokens, batch.src_lengths)
        for length in (1, 2, 3):
            model.decoder(tokens[:, :length], encoder_out, state)
        model.decoder.reorder_incremental_state_scripting(state, order)
        encoder_out = model.encoder.reorder_encoder_out(encoder_out, order)
        tokens = tokens[order]
        for length in (4, 5, 6):
            logits, _ = model.decoder(tokens[:, :length], encoder_out, state)
    full = run(model, Batch(batch.src_tokens[order], batch.src_lengths[order], tokens))
    torch.testing.assert_close(logits[:, 0], full["logits"][:, -1], atol=1e-5, rtol=0)


@both
def test_gradient_reaches_every_parameter(batch: Batch, arch: str) -> None:
    model = make_model(arch, **LEARNED).train()
    logits, extra = model(**batch.net_input)
    loss = logits.log_softmax(-1)[..., 5].sum()
    if "value_logits" in extra:
        loss = loss + extra["value_logits"].log_softmax(-1)[..., 7].sum()
    loss.backward()
    idle = [
        name
        for name, parameter in model.named_parameters()
        if parameter.grad is None or not parameter.grad.abs().max() > 1e-6
    ]
    assert idle == []


def test_extras_of_the_decoder(batch: Batch) -> None:
    cfg, model = make_config(DUAL), make_model(DUAL)
    rows, length = batch.prev_output_tokens.shape
    width, layers = cfg.decoder_embed_dim, cfg.decoder_layers
    logits, extra = model(**batch.net_input)
    assert logits.shape == (rows, length, len(toy_task().target_dictionary))
    assert extra["features"].shape == (rows, length, width)
    assert extra["value_logits"].shape == (rows, length, 500)
    assert extra["value"].shape == (rows, length)
    assert [state.shape for state in extra["inner_states"]] == [(length, rows, width)] * (
        layers + 1
    )
    torch.testing.assert_close(
        model.decoder.layer_norm(extra["inner_states"][-1]).transpose(0, 1),
        extra["features"],
    )
    (attention,) = extra["attn"]
    assert attention.shape == (rows, length, batch.src_tokens.size(1))
    torch.testing.assert_close(attention.sum(-1), torch.ones(rows, length))
    assert (attention.transpose(1, 2)[batch.src_tokens == PAD] == 0).all()


@both
def test_features_only_skips_the_policy_alone(batch: Batch, arch: str) -> None:
    model = make_model(arch)
    logits, full = model(**batch.net_input)
    features, extra = model(**batch.net_input, features_only=True)
    assert extra.keys() == full.keys()
    torch.testing.assert_close(features, full["features"])
    torch.testing.assert_close(model.decoder.output_layer(features), logits)


def test_encoder_states_on_demand(batch: Batch) -> None:
    encoder = make_model(POLICY).encoder
    assert encoder(batch.src_tokens)["encoder_states"] == []
    out = encoder(batch.src_tokens, return_all_hiddens=True)
    assert len(out["encoder_states"]) == len(encoder.layers) + 1
    torch.testing.assert_close(encoder.layer_norm(out["encoder_states"][-1]), out["encoder_out"][0])
    order = torch.tensor([2, 0])
    reordered = encoder.reorder_encoder_out(out, order)
    torch.testing.assert_close(reordered["encoder_states"][1], out["encoder_states"][1][:, order])


@both
def test_shared_embeddings_are_one_table(arch: str) -> None:
    model = make_model(arch, share_all_embeddings=True, joined=True)
    table = model.decoder.embed_tokens.weight
    assert model.encoder.embed_tokens.weight is table
    assert model.decoder.output_projection.weight is table

    model = make_model(arch, share_decoder_input_output_embed=True)
    assert model.decoder.output_projection.weight is model.decoder.embed_tokens.weight
    assert model.encoder.embed_tokens.weight is not model.decoder.embed_tokens.weight

    model = make_model(arch)
    assert model.decoder.output_projection.weight is not model.decoder.embed_tokens.weight


def test_widths_of_encoder_and_decoder_may_differ(batch: Batch) -> None:
    model = make_model(POLICY, encoder_embed_dim=48, encoder_attention_heads=3, decoder_head_dim=16)
    assert_same_where_not_padded(run_by_increments(model, batch), run(model, batch), batch, 1e-5)


@pytest.mark.parametrize("side", ["encoder", "decoder"])
def test_pretrained_embeddings_are_loaded(tmp_path: Path, side: str) -> None:
    vector = [0.25, -1.5, 3.0, 0.5]
    path = tmp_path / "vectors.txt"
    path.write_text("1 4\nw3 " + " ".join(map(str, vector)) + "\n", encoding="utf-8")
    embed_path = {f"{side}_embed_path": str(path)}
    table = getattr(make_model(POLICY, **{f"{side}_embed_dim": 4}, **embed_path), side).embed_tokens
    word = toy_task().source_dictionary.index("w3")
    assert table.weight[word].tolist() == vector
    assert table.weight[word + 1].tolist() != vector
    with pytest.raises(ValueError, match=r"vectors\.txt.*'w3' has 4 numbers.*is 128"):
        make_model(POLICY, **embed_path)


def test_dropouts_are_where_their_options_say() -> None:
    model = make_model(POLICY, dropout=0.3, attention_dropout=0.2, activation_dropout=0.4)
    for stack in (model.encoder, model.decoder):
        assert stack.dropout_module.p == 0.3
        for layer in stack.layers:
            assert layer.dropout_module.p == 0.3
            assert layer.self_attn.dropout_module.p == 0.2
            assert layer.activation_dropout_module.p == 0.4
    assert model.decoder.layers[0].encoder_attn.dropout_module.p == 0.2


def test_dropout_acts_in_training_and_under_retain_dropout_only(batch: Batch) -> None:
    model = make_model(POLICY, dropout=0.5)
    quiet = run(model, batch)["logits"]
    assert torch.equal(run(model, batch)["logits"], quiet)
    assert not torch.equal(run(model.train(), batch)["logits"], quiet)
    retained = {"retain_dropout": True, "retain_dropout_modules": ["MultiQueryDecoderLayer"]}
    model.make_generation_fast_(**retained)
    model.eval()
    assert not torch.equal(run(model, batch)["logits"], quiet)
    assert not model.encoder.layers[0].dropout_module.apply_during_inference


def test_learned_positions_refuse_what_they_do_not_know(batch: Batch) -> None:
    short = {"max_source_positions": 8, "max_target_positions": 12}
    learned = make_model(POLICY, **short, **LEARNED)
    assert learned.max_positions() == (8, 12)
    with pytest.raises(ValueError, match="10 tokens long, but --max-source-positions was 8"):
        learned(**batch.net_input)
    assert make_model(POLICY, **short)(**batch.net_input)[0].isfinite().all()


def test_learned_positions_of_sources_do_not_count_padding() -> None:
    encoder = make_model(POLICY, max_source_positions=20, **LEARNED).encoder
    source = make_batch((17,), (1,))
    wide = torch.nn.functional.pad(source.src_tokens, (6, 0), value=PAD)
    with torch.no_grad():
        [narrow], [padded] = (
            encoder(tokens, source.src_lengths)["encoder_out"]
            for tokens in (source.src_tokens, wide)
        )
    torch.testing.assert_close(padded[6:], narrow, atol=1e-5, rtol=0)
    long = make_batch((20,), (1,))
    with pytest.raises(ValueError, match="21 tokens long, but --max-source-positions was 20"):
        encoder(long.src_tokens, long.src_lengths)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"encoder_layers": 0}, "--encoder-layers must be at least 1, got 0"),
        ({"decoder_head_dim": -1}, "--decoder-head-dim must be at least 1, got -1"),
        ({"init_std": 0.0}, "--init-std must be positive"),
        ({"share_all_embeddings": True}, "--share-all-embeddings needs a joined dictionary"),
        (
            {"share_all_embeddings": True, "decoder_embed_dim": 64},
            "--encoder-embed-dim equal to --decoder-embed-dim, got 128 and 64",
        ),
        (
            {"share_all_embeddings": True, "decoder_embed_path": "somewhere"},
            "a different --decoder-embed-path contradicts it",
        ),
    ],
)
def test_impossible_options_are_refused_by_name(options: dict[str, Any], message: str) -> None:
    with pytest.raises(ValueError, match=message):
        make_model(POLICY, **options)
