"""Named sizes through fairseq's own command line: defaults, flags on top, parameter counts."""

import importlib
from pathlib import Path
from typing import Any

import pytest
import torch
from fairseq import options, tasks
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq.models import ARCH_MODEL_REGISTRY, build_model

import fairseq_mcts.models
import fairseq_mcts.models.sizes
from fairseq_mcts.models.sizes import FAMILIES, SIZES, register_sizes
from tests.models.toys import (
    SOURCE_WORDS,
    SPECIAL_SYMBOLS,
    TARGET_WORDS,
    make_dictionary,
    make_model,
)


@pytest.fixture(scope="module")
def data_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What `fairseq-train` needs to build a model: two dictionaries."""
    folder = tmp_path_factory.mktemp("data-bin")
    make_dictionary(SOURCE_WORDS).save(str(folder / "dict.src.txt"))
    make_dictionary(TARGET_WORDS).save(str(folder / "dict.tgt.txt"))
    return folder


def configure(data_folder: Path, arch: str, *flags: str) -> Any:
    """The configuration that `fairseq-train --arch … flags` works with."""
    arguments = [str(data_folder), "-s", "src", "-t", "tgt", "--arch", arch, *flags]
    args = options.parse_args_and_arch(options.get_training_parser(), arguments)
    return convert_namespace_to_omegaconf(args)


def test_flags_win_over_the_named_size(data_folder: Path) -> None:
    flags = ["--decoder-layers", "3", "--value-buckets", "7", "--max-target-positions", "99"]
    cfg = configure(data_folder, "dual_head_multiquery_transformer_tiny", *flags)
    assert cfg.model.decoder_layers == 3
    assert cfg.model.encoder_layers == SIZES["tiny"]["encoder_layers"]
    assert cfg.model.max_source_positions == 128

    model = build_model(cfg.model, tasks.setup_task(cfg.task))
    assert len(model.decoder.layers) == 3
    assert len(model.encoder.layers) == SIZES["tiny"]["encoder_layers"]
    assert model.decoder.value_head.num_buckets == 7
    assert model.max_positions() == (128, 99)


@pytest.mark.parametrize("family", FAMILIES)
def test_the_bare_name_is_the_base_size(data_folder: Path, family: str) -> None:
    bare = configure(data_folder, family).model
    base = configure(data_folder, f"{family}_base").model
    assert {**bare, "_name": None} == {**base, "_name": None}


def test_flags_that_are_not_honoured_do_not_exist(
    data_folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    for flag in ("--encoder-normalize-before", "--decoder-layerdrop=0.1", "--value-buckets=9"):
        with pytest.raises(SystemExit):
            configure(data_folder, "multiquery_transformer_tiny", flag)
        assert f"unrecognized arguments: {flag}" in capsys.readouterr().err


def test_registering_again_is_harmless() -> None:
    before = dict(ARCH_MODEL_REGISTRY)
    register_sizes()
    importlib.reload(fairseq_mcts.models)
    assert before == ARCH_MODEL_REGISTRY


def attention_parameters(width: int, heads: int, head_dim: int) -> int:
    queries = width * heads * head_dim + heads * head_dim
    key = width * head_dim  # one, and without a bias
    value = width * head_dim + head_dim  # one
    output = heads * head_dim * width + width
    return queries + key + value + output


def parameters_by_hand(
    *, layers: int, width: int, hidden: int, heads: int, head_dim: int, buckets: int
) -> int:
    """All parameters of a model with separate embeddings and sinusoidal positions."""
    norm = 2 * width
    attention = attention_parameters(width, heads, head_dim) + norm
    feed_forward = width * hidden + hidden + hidden * width + width + norm
    encoder = layers * (attention + feed_forward) + norm
    decoder = layers * (2 * attention + feed_forward) + norm
    source_words, target_words = SOURCE_WORDS + SPECIAL_SYMBOLS, TARGET_WORDS + SPECIAL_SYMBOLS
    embeddings = width * (source_words + 2 * target_words)  # input twice, output once
    value_head = width * buckets + buckets
    return encoder + decoder + embeddings + value_head


# One attention block of the base size in full:
#   queries 512·2048 + 2048 = 1,050,624     key   512·128       =    65,536
#   value   512·128 + 128   =    65,664     output 2048·512 + 512 = 1,049,088
#   sum 2,230,912, with its layer norm (2·512) 2,231,936
# Feed-forward 512·3072 + 3072 + 3072·512 + 512 + 1024 = 3,150,336
# Encoder 6·(2,231,936 + 3,150,336) + 1024 = 32,294,656
# Decoder 6·(2·2,231,936 + 3,150,336) + 1024 = 45,686,272
BASE_WITHOUT_EMBEDDINGS = 32_294_656 + 45_686_272


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(
    ("size", "shape"),
    [
        ("base", {"layers": 6, "width": 512, "hidden": 3072, "heads": 16, "head_dim": 128}),
        ("small", {"layers": 3, "width": 256, "hidden": 1024, "heads": 4, "head_dim": 64}),
        ("tiny", {"layers": 2, "width": 128, "hidden": 256, "heads": 4, "head_dim": 32}),
    ],
)
def test_parameter_counts(family: str, size: str, shape: dict[str, int]) -> None:
    buckets = 500 if family.startswith("dual_head") else 0
    expected = parameters_by_hand(**shape, buckets=buckets)
    if size == "base":
        embeddings = 512 * (34 + 2 * 44)
        value_head = 512 * buckets + buckets
        assert expected == BASE_WITHOUT_EMBEDDINGS + embeddings + value_head

    model = make_model(f"{family}_{size}")
    assert sum(p.numel() for p in model.parameters()) == expected


@pytest.mark.parametrize("size", SIZES)
def test_weights_start_as_the_paper_says(size: str) -> None:
    """N(0, init_std/sqrt(layers)) for matrices; what enters the first layer has size 1.0."""
    model = make_model(f"dual_head_multiquery_transformer_{size}")
    std = SIZES[size]["init_std"] / SIZES[size]["encoder_layers"] ** 0.5
    for name, module in model.named_modules():
        if isinstance(module, torch.nn.Linear):
            assert module.weight.std().item() == pytest.approx(std, rel=0.05), name
            assert module.weight.mean().item() == pytest.approx(0, abs=std / 10), name
            assert module.bias is None or not module.bias.any(), name
    for stack in (model.encoder, model.decoder):
        table = stack.embed_scale * stack.embed_tokens.weight
        assert not table[stack.padding_idx].any()
        assert table.abs().max() <= 2.0  # truncated at two standard deviations …
        words = table[stack.padding_idx + 1 :]
        assert words.std().item() == pytest.approx(0.88, rel=0.05)  # … which leaves 0.88


def test_tied_embeddings_make_logits_of_size_one() -> None:
    """A table with entries of size 1.0, taken literally, would make them about 20 times larger."""
    depth = {"encoder_layers": 1, "decoder_layers": 1}
    options = {"share_all_embeddings": True, "joined": True, **depth}
    model = make_model("multiquery_transformer_base", **options)
    tokens = torch.randint(SPECIAL_SYMBOLS, TARGET_WORDS, (8, 12))
    with torch.no_grad():
        logits, _ = model(tokens, None, tokens)
    # An untrained tied model leans towards the token that it has just read: leave that out.
    others = torch.ones_like(logits).scatter_(2, tokens.unsqueeze(-1), 0.0).bool()
    assert logits[others].std().item() == pytest.approx(1.0, abs=0.2)
