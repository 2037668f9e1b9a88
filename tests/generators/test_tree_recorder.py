"""--search-trees: what fairseq-generate and fairseq-interactive write, and what they refuse."""

import logging
import sys
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.pictures.tree_file import SearchTree, load_tree
from tests.generators.harness import DECODERS, Setup, load, run_generate, run_interactive
from tests.generators.test_commands import lines, numbers, sentencepiece
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow

MCTS = ("--search", "mcts", "--mcts-simulations", "6", "--max-len-b", "20")
SENTENCES = (3, 20, 21)


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


def trees(folder: Path) -> dict[tuple[int, int], SearchTree]:
    """Everything in the folder, each tree with a picture of it."""
    found = [load_tree(path) for path in folder.glob("*.json")]
    assert {path.stem for path in folder.glob("*.json")} == {
        path.stem for path in folder.glob("*.svg")
    }
    assert len(list(folder.iterdir())) == 2 * len(found)
    return {(tree.sentence, tree.step): tree for tree in found}


@pytest.mark.parametrize("decoder", [name for name in DECODERS if name.startswith("mcts")])
def test_trees_of_every_kind_of_mcts(decoder: str, setup: Setup, tmp_path: Path) -> None:
    """Trees of a sentence inside a batch: they spell the hypothesis, with its visits."""
    options = {**DECODERS[decoder], "max_len_b": 15}
    plain = setup.generate(SENTENCES, **options)
    found = setup.generate(
        SENTENCES,
        search_trees=str(tmp_path),
        search_tree_sentences="20",
        search_tree_steps="1-3",
        **options,
    )
    for number in SENTENCES:
        assert found[number][0]["tokens"].tolist() == plain[number][0]["tokens"].tolist()
    saved = trees(tmp_path)
    assert saved.keys() == {(20, 1), (20, 2), (20, 3)}
    for tree in saved.values():
        assert_tree_of(tree, found[20][0], setup)
        assert tree.nodes[0].visits == 1 + options["mcts_simulations"]
        choice = options.get("mcts_choose", "visits")
        assert tree.choice == ("gumbel" if "mcts_root" in options else choice)


def assert_tree_of(tree: SearchTree, hypothesis: dict[str, Any], setup: Setup) -> None:
    """Holds a tree against what the same search says in its output."""
    tokens, place = hypothesis["tokens"].tolist(), tree.step - 1
    chosen = tree.nodes[tree.chosen[0]]
    assert (chosen.token, chosen.visits) == (tokens[place], hypothesis["visits"][place])
    symbols = setup.task.target_dictionary.symbols
    assert chosen.piece == symbols[tokens[place]]
    assert chosen.finished == (tree.step == len(tokens))
    assert tree.prefix == tuple(symbols[one] for one in tokens[:place])
    source = setup.task.dataset("test")[tree.sentence]["source"].tolist()[:-1]
    assert tree.source == tuple(setup.task.source_dictionary[one] for one in source)


def test_all_steps_to_the_end_are_the_default(setup: Setup, tmp_path: Path) -> None:
    options = {"search": "mcts", "mcts_simulations": 3, "max_len_b": 15}
    found = setup.generate([0, 1], search_trees=str(tmp_path), **options)
    saved = trees(tmp_path)
    assert saved.keys() == {(0, step + 1) for step in range(len(found[0][0]["tokens"]))}
    for tree in saved.values():
        assert_tree_of(tree, found[0][0], setup)


def test_generate_writes_chosen_steps_and_says_what_never_came(
    trained: Trained, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    asked = ("--search-tree-sentences", "2,5,999-1001", "--search-tree-steps", "1,3,21-30")
    folder = tmp_path / "new" / "trees"
    with caplog.at_level(logging.INFO):
        run_generate(
            trained,
            *(*MCTS, "--gen-subset", "valid", "--batch-size", "7"),
            *("--search-trees", str(folder), *asked),
            results=tmp_path / "results",
        )
    assert trees(folder).keys() == {(2, 1), (2, 3), (5, 1), (5, 3)}
    told = [one for one in caplog.records if "output_lines" in one.name]
    assert [one.getMessage() for one in told if one.levelno == logging.WARNING] == [
        "--search-tree-sentences: never decoded here: 999-1001",
        "--search-tree-steps: finished before output token 21-30: sentence 2,5",
    ]


def test_sentences_that_are_searched_anew_for_want_of_memory(setup: Setup, tmp_path: Path) -> None:
    """Their trees come twice and are written once, as if memory had been enough."""
    options = {"search": "mcts", "mcts_simulations": 20, "max_len_b": 15, "search_tree_steps": "1"}
    dataset = setup.task.dataset("test")
    sample = dataset.collater([dataset[one] for one in range(12)])
    for folder, memory, times in (("enough", None, 1), ("too little", 260 * 512 / 2**20, 2)):
        generator = setup.generator(
            search_trees=str(tmp_path / folder),
            search_tree_sentences=str(sample["id"].tolist()[0]),
            search_memory=memory,
            **options,
        )
        came = []
        keep = generator.trees.keep
        generator.trees.keep = lambda *given, keep=keep, came=came: came.append(keep(*given))
        setup.task.inference_step(generator, setup.models, sample)
        assert len(came) >= times
    [enough], [too_little] = (
        trees(tmp_path / folder).values() for folder in ("enough", "too little")
    )
    assert [node.visits for node in enough.nodes] == [node.visits for node in too_little.nodes]


def test_interactive_counts_as_its_output_does(
    trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Lines in buffers, sorted by length inside them, one of them twice."""
    text = trained.lines("test.en")
    given = [text[4], max(text, key=len), text[8], text[4], text[15], text[16], text[17]]
    run_interactive(
        trained,
        given,
        *(*MCTS, *sentencepiece(trained), "--search-trees", str(tmp_path / "trees")),
        *("--search-tree-sentences", "1,3,5", "--search-tree-steps", "1-2"),
        folder=tmp_path / "input",
    )
    output = capsys.readouterr().out
    found = trees(tmp_path / "trees")
    assert found.keys() == {(number, step) for number in (1, 3, 5) for step in (1, 2)}
    sources = dict(zip(numbers(output, "S"), lines(output, "S"), strict=True))
    hypotheses = dict(zip(numbers(output, "H"), lines(output, "H"), strict=True))
    for (number, step), tree in found.items():
        assert " ".join(tree.source) == sources[number]
        pieces = hypotheses[number].split("\t")[1].split()
        assert tree.nodes[tree.chosen[0]].piece == pieces[step - 1]


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({"search_tree_steps": "0"}, "^--search-tree-steps 0: 0 is too small, they count from 1"),
        ({"search_tree_steps": "last"}, "^--search-tree-steps last: expected numbers and ranges"),
        ({"search_tree_sentences": "S-1"}, "^--search-tree-sentences S-1: expected numbers"),
    ],
)
def test_bad_lists_are_named(
    options: dict[str, str], complaint: str, setup: Setup, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=complaint):
        setup.generator(search="mcts", search_trees=str(tmp_path), **options)


def test_folder_that_cannot_be_written_is_named(setup: Setup, tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for folder in (tmp_path / "file", tmp_path / "file" / "below"):
        with pytest.raises(ValueError, match=f"^--search-trees {folder}: can't write there: "):
            setup.generator(search="mcts", search_trees=str(folder))


def test_missing_matplotlib_is_named_before_anything_is_decoded(
    setup: Setup, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"^--search-trees .*: .* 'fairseq_mcts\[report\]'"):
        setup.generator(search="mcts", search_trees=str(tmp_path))
