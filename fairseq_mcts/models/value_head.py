"""The value of a prefix as a distribution over buckets of the score range.

A head of logits over buckets is trained by cross-entropy on the bucket of the score and read out
as the mean of the bucket means under its softmax. The formulas are pure functions; the module
keeps the weights and the range.
"""

import logging
import math
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor, nn

logger = logging.getLogger(__name__)

#: How far the float32 mean of some hundred buckets may be from the exact one, relative to them.
VALUE_ROUNDING = 1e-4


def make_bucket_edges(low: float, high: float, buckets: int) -> Tensor:
    """The borders [buckets + 1] of `buckets` equal parts of [low, high], ascending."""
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        raise ValueError(f"--value-min must be below --value-max, got {low} and {high}")
    if buckets < 2:
        raise ValueError(f"--value-buckets must be at least 2, got {buckets}")
    # float64 first: the rounding of 500 steps must not add up
    edges = torch.linspace(low, high, buckets + 1, dtype=torch.float64, device="cpu").float()
    if not bool((edges[1:] > edges[:-1]).all()):
        raise ValueError(
            f"--value-buckets {buckets} are too many for the range [{low}, {high}]: "
            "neighbouring buckets are equal in float32"
        )
    return edges


def bucket_options(cfg: Any) -> dict[str, Any]:
    """What a `ValueHead` takes of the options; an end that is not given is that of [0, 1]."""
    low = 0.0 if cfg.value_min is None else cfg.value_min
    high = 1.0 if cfg.value_max is None else cfg.value_max
    return {"low": low, "high": high, "buckets": cfg.value_buckets}


def bucket_means(edges: Tensor) -> Tensor:
    """[K] the mean of each bucket between edges [K + 1], its scores spread evenly: the middle."""
    return (edges[:-1] + edges[1:]) / 2


def target_bucket(scores: Tensor, edges: Tensor) -> Tensor:
    """int64: the bucket of each score (of any shape) between edges [K + 1]. Bucket i is
    [edge i, edge i+1), the last one closed; the first and the last take scores outside the range.
    """
    return torch.bucketize(scores.float(), edges[1:-1], right=True)


def hl_gauss_target(
    scores: Tensor,  # any shape [...]
    edges: Tensor,  # [K + 1]
    sigma: float = 0.75,  # as recommended by Farebrother et al. (2024)
) -> Tensor:  # float32 [..., K]
    """Soft targets: a normal distribution around the score, cut at the range and summed per
    bucket (Imani & White 2018). `sigma` is its standard deviation in bucket widths.

    Near scores share mass, so that a miss by one bucket costs less than a miss by a hundred.
    """
    if not sigma > 0:
        raise ValueError(f"the width of HL-Gauss targets must be positive, got {sigma}")
    low, high = edges[0], edges[-1]
    width = (high - low) / (len(edges) - 1)
    # A score outside the range is treated as its end: far outside no mass would be left.
    centre = scores.float().clamp(low, high).unsqueeze(-1)
    # 2·Φ - 1 of every edge; the factor and the offset cancel below.
    cumulative = torch.erf((edges - centre) / (math.sqrt(2.0) * sigma * width))
    return cumulative.diff(dim=-1) / (cumulative[..., -1:] - cumulative[..., :1])


def expected_value(logits: Tensor, means: Tensor) -> Tensor:
    """[...] the mean of the bucket means [K] under the softmax of the logits [..., K], in float32
    always: float16 cannot tell neighbouring buckets apart at the upper end of [0, 1]."""
    # A sum rather than a matrix product, which autocast would compute in half precision.
    return (torch.softmax(logits, dim=-1, dtype=torch.float32) * means).sum(dim=-1)


def has_value_head(model: Any) -> bool:
    """Whether a model gives values that were learned, or that a training is to learn."""
    is_untrained = getattr(model, "has_untrained_value", False)
    return hasattr(getattr(model, "decoder", None), "value_head") and not is_untrained


class ValueHead(nn.Module):
    """A linear map from decoder features to bucket logits, and the range of the buckets.

    The range is saved in checkpoints as a buffer: decoding needs no flag for it, and the range that
    a model was trained with wins over its configuration.
    """

    bucket_edges: Tensor  # float32 [K + 1]

    def __init__(self, embed_dim: int, *, low: float, high: float, buckets: int) -> None:
        super().__init__()
        self.projection = nn.Linear(embed_dim, buckets)
        self.register_buffer("bucket_edges", make_bucket_edges(low, high, buckets))

    @property
    def num_buckets(self) -> int:
        return len(self.bucket_edges) - 1

    @property
    def low(self) -> float:
        return float(self.bucket_edges[0])

    @property
    def high(self) -> float:
        return float(self.bucket_edges[-1])

    @property
    def highest_value(self) -> float:
        """No value is greater: it is a mean of bucket means, but for rounding.

        Searches prune by it. A head without this property is taken to have no upper bound.
        """
        return self.high + VALUE_ROUNDING * max(abs(self.low), abs(self.high))

    def set_range(self, low: float, high: float) -> None:
        """Spreads the buckets over another range, such as the observed one of training scores."""
        self.bucket_edges.copy_(make_bucket_edges(low, high, self.num_buckets))

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        """Features [..., embed_dim] -> the bucket logits [..., K] and the value, float32 [...]."""
        logits = self.projection(features)
        return logits, expected_value(logits, bucket_means(self.bucket_edges))

    def upgrade_state_dict_named(self, state_dict: dict[str, Any], name: str) -> None:
        """Lets a checkpoint without a value head be loaded (fairseq calls this before it loads),
        so that `--finetune-from-model` can start a dual-head model from a policy."""
        if not any(key.startswith(f"{name}.") for key in state_dict):
            logger.warning(f"the checkpoint has no {name}: it keeps its initial weights")
            for key, tensor in self.state_dict().items():
                state_dict[f"{name}.{key}"] = tensor

    def _apply(self, fn: Callable[[Tensor], Tensor], recurse: bool = True) -> "ValueHead":
        """Follows moves between devices, but keeps the range in float32 under half() and the
        like: rounded to float16 it would shift, and stay shifted in every checkpoint."""
        exact = self.bucket_edges
        super()._apply(fn, recurse)  # type: ignore[no-untyped-call]
        if self.bucket_edges.dtype != exact.dtype:
            self.bucket_edges = exact.to(self.bucket_edges.device)
        return self
