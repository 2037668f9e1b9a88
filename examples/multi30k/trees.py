"""Search trees of test sentences: which are drawn, and which are worth showing."""

from pathlib import Path

from fairseq_mcts.pictures.tree_file import SearchTree, load_tree

SENTENCES, STEPS = "0-19", "2,4,6"
SHOWN = 3


def tree_options(folder: Path) -> tuple[str, ...]:
    """The options that make a command record its search trees."""
    return (
        *("--search-trees", str(folder)),
        *("--search-tree-sentences", SENTENCES, "--search-tree-steps", STEPS),
    )


def prior_gap(tree: SearchTree) -> float:
    """By how much the best prior exceeds that of the chosen token; 0 where the policy agrees."""
    children = [node for node in tree.nodes if node.parent == 0]
    return max(child.prior for child in children) - tree.nodes[tree.chosen[0]].prior


def pictures_by_prior_gap(folder: Path) -> list[Path]:
    """The pictures of the trees with the largest prior gap, one a sentence."""
    best: dict[int, tuple[float, Path]] = {}  # by sentence
    for path in sorted(folder.glob("*.json")):
        tree = load_tree(path)
        found = (prior_gap(tree), path.with_suffix(".svg"))
        if tree.sentence not in best or found[0] > best[tree.sentence][0]:
            best[tree.sentence] = found
    by_strength = sorted(best.values(), key=lambda found: (-found[0], found[1]))
    return [picture for _, picture in by_strength[:SHOWN]]
