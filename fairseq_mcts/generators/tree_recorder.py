"""`--search-trees`: files and pictures of search trees, of chosen sentences and output tokens."""

import tempfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq_mcts.generators.number_list import parse_numbers, written
from fairseq_mcts.pictures.drawing import draw_tree, require_matplotlib
from fairseq_mcts.pictures.tree_file import SearchTree, TreeNode, save_tree
from fairseq_mcts.search import TreeSnapshot

DEFAULT_SENTENCES = "0"


@dataclass(frozen=True)
class WatchedSentence:
    """A sentence of a batch."""

    numbers: tuple[int, ...]  # in the output's S and H lines; several if it was given repeatedly
    source: Sequence[int]  # tokens


class TreeRecorder:
    """Keeps and writes the trees that the options ask for, and remembers which there were."""

    def __init__(
        self,
        folder: Path,
        source_dictionary: Any,
        target_dictionary: Any,
        *,
        sentences: frozenset[int],
        steps: frozenset[int] | None = None,
    ) -> None:
        """`steps` None means all of them."""
        require_matplotlib()
        folder.mkdir(parents=True, exist_ok=True)
        with tempfile.TemporaryFile(dir=folder):
            pass  # better refused now than after the first search
        self._folder = folder
        self._source_dictionary = source_dictionary
        self._target_dictionary = target_dictionary
        self._sentences = sentences
        self._steps = steps
        self._written: dict[int, set[int]] = {}  # sentence -> steps
        # (sentence, step) -> source tokens and tree, of the batch that is being decoded
        self._seen: dict[tuple[int, int], tuple[Sequence[int], TreeSnapshot]] = {}

    def watch(self, batch: Sequence[WatchedSentence]) -> "BatchWatcher | None":
        """Who is to watch the search for these sentences; nobody if none of them was chosen."""
        chosen = [number for sentence in batch for number in self._chosen(sentence)]
        for number in chosen:
            self._written.setdefault(number, set())
        return BatchWatcher(self, batch) if chosen else None

    def wants(self, sentence: WatchedSentence, step: int) -> bool:
        """Whether the tree of this output token of the sentence was asked for."""
        return bool(self._chosen(sentence)) and (self._steps is None or step in self._steps)

    def keep(self, sentence: WatchedSentence, tree: TreeSnapshot) -> None:
        """Takes a tree; a batch that is searched once more, for want of memory, brings it again."""
        for number in self._chosen(sentence):
            self._seen[number, tree.step] = (sentence.source, tree)

    def _chosen(self, sentence: WatchedSentence) -> frozenset[int]:
        return self._sentences.intersection(sentence.numbers)

    def write(self) -> None:
        """Writes what was kept: behind the search, whose time it must not count as."""
        for (number, step), (source, snapshot) in self._seen.items():
            tree = self._described(number, source, snapshot)
            path = self._folder / f"sentence-{number}-step-{step:03d}.json"
            try:
                save_tree(tree, path)
                draw_tree(tree, path.with_suffix(".svg"))
            except OSError as error:
                raise _no_room(self._folder, error) from error
            self._written[number].add(step)
        self._seen.clear()

    def warnings(self) -> list[str]:
        """What was asked for and never came."""
        lines = []
        if unseen := self._sentences - self._written.keys():
            lines.append(f"--search-tree-sentences: never decoded here: {written(unseen)}")
        ended_before: dict[frozenset[int], list[int]] = {}
        for number, steps in self._written.items():
            if self._steps is not None and (missing := self._steps - steps):
                ended_before.setdefault(missing, []).append(number)
        for missing, numbers in ended_before.items():
            lines.append(
                f"--search-tree-steps: finished before output token {written(missing)}: "
                f"sentence {written(numbers)}"
            )
        return lines

    def _described(self, number: int, source: Sequence[int], tree: TreeSnapshot) -> SearchTree:
        dictionary, symbols = self._source_dictionary, self._target_dictionary.symbols
        eos = self._target_dictionary.eos()
        columns = (tree.parents, tree.tokens, tree.priors, tree.visits, tree.values)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return SearchTree(
            sentence=number,
            step=tree.step,
            source=tuple(dictionary[token] for token in source if token != dictionary.eos()),
            prefix=tuple(symbols[token] for token in tree.prefix),
            choice=tree.choice,
            chosen=tuple(tree.chosen.tolist()),
            nodes=tuple(
                TreeNode(
                    parent=parent,
                    token=token,
                    piece=symbols[token] if token >= 0 else "",
                    prior=prior,
                    visits=visits,
                    value=value,
                    finished=token == eos,
                )
                for parent, token, prior, visits, value in rows
            ),
        )


@dataclass(frozen=True)
class BatchWatcher:
    """Passes a batch's trees on to the recorder; see `search.TreeWatcher`."""

    recorder: TreeRecorder
    batch: Sequence[WatchedSentence]

    def wants(self, sentence: int, step: int) -> bool:
        return self.recorder.wants(self.batch[sentence], step)

    def see(self, tree: TreeSnapshot) -> None:
        self.recorder.keep(self.batch[tree.sentence], tree)


def make_recorder(
    settings: Mapping[str, Any], source_dictionary: Any, target_dictionary: Any
) -> TreeRecorder | None:
    """The recorder that the configuration's fields ask for, if they do."""
    folder = settings["search_trees"]
    if folder is None:
        return None
    sentences = settings["search_tree_sentences"]
    steps = settings["search_tree_steps"]
    sentences = DEFAULT_SENTENCES if sentences is None else sentences
    try:
        return TreeRecorder(
            Path(folder),
            source_dictionary,
            target_dictionary,
            sentences=parse_numbers("--search-tree-sentences", sentences, 0),
            steps=None if steps is None else parse_numbers("--search-tree-steps", steps, 1),
        )
    except ImportError as error:
        raise ImportError(f"--search-trees {folder}: {error}") from error
    except OSError as error:
        raise _no_room(folder, error) from error


def _no_room(folder: Path | str, error: OSError) -> ValueError:
    return ValueError(f"--search-trees {folder}: can't write there: {error}")
