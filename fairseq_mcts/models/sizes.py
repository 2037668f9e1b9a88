"""The named sizes of both architectures, for `--arch`.

A size is a set of defaults: a flag given on the command line wins over it.
"""

from functools import partial
from typing import Any

from fairseq.models import ARCH_MODEL_REGISTRY, register_model_architecture

FAMILIES = ("multiquery_transformer", "dual_head_multiquery_transformer")


def _symmetric(*, init_std: float, **sizes: int) -> dict[str, int | float]:
    """Encoder and decoder of the same sizes."""
    of_sides = {f"{side}_{name}": n for side in ("encoder", "decoder") for name, n in sizes.items()}
    return {**of_sides, "init_std": init_std}


SIZES: dict[str, dict[str, int | float]] = {
    # Leblond et al. (2021), appendix A
    "base": _symmetric(
        layers=6, embed_dim=512, ffn_embed_dim=3072, attention_heads=16, head_dim=128, init_std=0.02
    ),
    # for CPUs and corpora like Multi30k
    "small": _symmetric(
        layers=3, embed_dim=256, ffn_embed_dim=1024, attention_heads=4, head_dim=64, init_std=0.04
    ),
    # for tests and the demo: minutes on one core
    "tiny": _symmetric(
        layers=2, embed_dim=128, ffn_embed_dim=256, attention_heads=4, head_dim=32, init_std=0.08
    ),
}


def apply_size(size: str, cfg: Any) -> None:
    """Fills in what the command line left open (fairseq calls this with the bare arguments, and
    again with the complete configuration, which has nothing left to fill in)."""
    for name, value in SIZES[size].items():
        if not hasattr(cfg, name):
            setattr(cfg, name, value)


def register_sizes() -> None:
    """Registers every family in every size; a second call finds all of them registered."""
    for family in FAMILIES:
        for size in SIZES:
            if (name := f"{family}_{size}") not in ARCH_MODEL_REGISTRY:
                register_model_architecture(family, name)(partial(apply_size, size))
