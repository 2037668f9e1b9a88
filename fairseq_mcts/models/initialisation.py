"""How the weights start: small normal numbers, and embeddings of unit size.

The paper draws every matrix from N(0, 0.02/sqrt(layers)) and embeddings from a truncated normal
with standard deviation 1.0. Taken literally, the latter would ruin tied output embeddings: the
final layer norm hands the output projection vectors of length sqrt(width), so that entries of size
1 make logits of size sqrt(width), about 23 at width 512, before any training.

fairseq's convention reconciles both: the table holds entries of size width**-0.5, and the input is
multiplied by `embed_scale` = sqrt(width). What enters the first layer is then exactly the paper's
embedding, and the same table as output projection gives logits of size 1. An untied output
projection is an ordinary matrix and gets the first rule.

One effect of tying remains: layers that start this small pass the embedding through almost
unchanged, so an untrained tied model favours repeating the token it has just read (at the base
size and 32,000 words its first loss is 16.4 instead of 10.4). A smaller initial gain of the final
layer norm prevents it, but short trials of the tiny size, one seed each, did not settle whether
that pays, so the gain starts at 1 as usual; a larger --init-std weakens the effect too.
"""

import math

from torch import nn

#: Draws further out than this many standard deviations are drawn again.
TRUNCATION = 2.0


def init_embedding(table: nn.Embedding, *, std: float) -> None:
    """Truncated normal entries; the padding row, which is no word, is zero."""
    nn.init.trunc_normal_(table.weight, std=std, a=-TRUNCATION * std, b=TRUNCATION * std)
    if table.padding_idx is not None:
        nn.init.zeros_(table.weight[table.padding_idx])


def init_linear(linear: nn.Linear, *, std: float) -> None:
    """Normal weights; a bias starts at zero."""
    nn.init.normal_(linear.weight, std=std)
    if linear.bias is not None:
        nn.init.zeros_(linear.bias)


def init_linear_modules(module: nn.Module, *, std: float) -> None:
    """`init_linear` for every linear map inside `module`."""
    for part in module.modules():
        if isinstance(part, nn.Linear):
            init_linear(part, std=std)


def depth_scaled(init_std: float, layers: int) -> float:
    """The standard deviation of the matrices of a stack with that many layers."""
    return init_std / math.sqrt(layers)
