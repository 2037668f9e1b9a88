"""Search trees to draw: grown at random, and one made by hand."""

import random

from fairseq_mcts.pictures.tree_file import NO_PARENT, SearchTree, TreeNode

PIECES = (
    "▁der",
    "▁",
    "s",
    "▁Donaudampfschiff",
    ",",
    "$x_1$",
    "▁a$",
    "<unk>",
    "▁日本語",
    "&lt;",
    "…",
)
EOS = "</s>"


def grown(seed: int, simulations: int, depth_bias: float = 0.7) -> SearchTree:
    """A tree whose nodes have 1 + the visits of their children, as in a search."""
    rng = random.Random(seed)
    parents, pieces, visits = [NO_PARENT], [""], [1]
    children: list[list[int]] = [[]]
    for _ in range(simulations):
        path = [0]
        while pieces[path[-1]] != EOS:
            below = children[path[-1]]
            if below and rng.random() < depth_bias:
                path.append(below[min(int(rng.expovariate(1.0)), len(below) - 1)])
                continue
            below.append(len(parents))
            path.append(len(parents))
            parents.append(path[-2])
            pieces.append(EOS if rng.random() < 0.1 else rng.choice(PIECES))
            visits.append(0)
            children.append([])
            break
        for node in path:
            visits[node] += 1
    chosen = []
    node = 0
    while children[node]:
        node = max(children[node], key=lambda one: visits[one])
        chosen.append(node)
    return SearchTree(
        sentence=seed,
        step=3,
        source=("▁A", "▁man", "."),
        prefix=("▁Ein", "▁Mann"),
        choice="visits",
        chosen=tuple(chosen),
        nodes=tuple(
            TreeNode(parent, 4, piece, rng.random(), count, rng.uniform(-1, 1), piece == EOS)
            for parent, piece, count in zip(parents, pieces, visits, strict=True)
        ),
    )


def by_hand() -> SearchTree:
    r"""The root has 12 visits; chosen is the path 0 → 1 → 4, by value.

    0 (12) ─ a 1 (4) ─ d 4 (1)
           │         └ e 5 (2)
           ├ b 2 (6) ─ f 6 (3) ─ h 8 (2) ─ i 9 (1)
           │         └ g 7 (2)
           └ c 3 (1)
    """
    rows = [
        (NO_PARENT, "", 12, 0.5),
        (0, "▁a", 4, 0.9),
        (0, "▁b", 6, 0.4),
        (0, "c", 1, 0.3),
        (1, EOS, 1, 0.95),
        (1, "e", 2, 0.6),
        (2, "f", 3, 0.2),
        (2, "g", 2, 0.1),
        (6, "h", 2, 0.25),
        (8, "i", 1, 0.15),
    ]
    nodes = tuple(
        TreeNode(parent, number, piece, 0.5, visits, value, piece == EOS)
        for number, (parent, piece, visits, value) in enumerate(rows)
    )
    return SearchTree(7, 2, ("▁x", "y"), ("▁z",), "value", (1, 4), nodes)
