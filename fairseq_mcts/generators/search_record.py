"""`--search-record`: whole searches of chosen sentences, for fairseq-mcts-report.

One JSON line a sentence. What all kinds of search have: a tree of prefixes, as columns with an
entry a node, parents before their children, and `chosen`, the nodes of the translation.

    {"format": "fairseq_mcts search record 1", "id": 7, "search": …, "kind": …,
     "source": ["▁A", …], "output": ["▁Ein", …], "score": 0.81, …}

kind "tree" (MCTS) has a tree for each output token in `steps`: `parent`, `piece`, `prior`,
`visits`, `value` (Q at the end), `opened` (the node's own value), `landings` (the nodes in which
simulations ended, in their order) and `chosen`; beside them `backup`, `power` and `choice`, the
rules.
kind "beam" has one tree: `parent`, `piece`, `logprob`, `value`, `score`, `rank` (of beams that went
on; null: dropped) and `finished`.
Both have `deviation` if the network gives values with distributions: the standard deviation of the
network's value of each node, null where it was not asked.
kind "samples" has one tree: `parent`, `piece`, `logprob` (of the token), `score` (of finished
sentences), and `samples`, the nodes in which they end, in the order drawn.
"""

import gzip
import json
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from fairseq_mcts.decoding.deviations import Deviations
from fairseq_mcts.generators.number_list import parse_numbers, written
from fairseq_mcts.generators.tree_recorder import WatchedSentence
from fairseq_mcts.pictures.record_file import FORMAT
from fairseq_mcts.search import Decoder, Hypothesis, TreeSnapshot
from fairseq_mcts.search.recording import BeamProposal
from fairseq_mcts.search.tree import Float64

DEFAULT_SENTENCES = "0-49"
_DIGITS = 6  # significant ones
ROOT = 0

Columns = dict[str, list[Any]]


class SearchRecord:
    """The file, to which each batch adds its chosen sentences."""

    def __init__(
        self,
        path: Path,
        decoder: Decoder[Any],
        source_dictionary: Any,
        target_dictionary: Any,
        sentences: frozenset[int],
        *,
        complain: bool = True,  # if some of them never come
    ) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(b"")  # better refused now than after the first search
        self._path = path
        self._decoder = decoder
        self._source_dictionary = source_dictionary
        self._symbols = target_dictionary.symbols
        self._eos = target_dictionary.eos()
        self._sentences = sentences
        self._complain = complain
        self._written: set[int] = set()

    def watch(self, batch: Sequence[WatchedSentence]) -> "BatchRecord | None":
        """Who is to record the searches for these sentences; nobody if none was chosen."""
        wanted = {
            place for place, one in enumerate(batch) if self._sentences.intersection(one.numbers)
        }
        return BatchRecord(wanted) if wanted else None

    def write(
        self,
        batch: Sequence[WatchedSentence],
        record: "BatchRecord",
        hypotheses: Sequence[Sequence[Hypothesis]],  # [B], best first
    ) -> None:
        """Adds the chosen sentences of a batch, whose search is over."""
        lines = []
        for place, content in record.found.items():
            sentence, ranked = batch[place], content.ranked or hypotheses[place]
            numbers = self._sentences.intersection(sentence.numbers) - self._written
            self._written.update(numbers)
            entry = self._described(sentence, content, ranked)
            lines += [
                _json({"format": FORMAT, "id": number, **entry}) for number in sorted(numbers)
            ]
        data = "".join(f"{line}\n" for line in lines).encode()
        try:
            with self._path.open("ab") as file:
                # compressed parts one after the other are a compressed file
                file.write(gzip.compress(data) if self._path.suffix == ".gz" else data)
        except OSError as error:
            raise _no_room(self._path, error) from error

    def warnings(self) -> list[str]:
        """What was asked for by number and never came."""
        unseen = self._sentences - self._written
        if not unseen or not self._complain:
            return []
        return [f"--search-record-sentences: never decoded here: {written(unseen)}"]

    def _described(
        self,
        sentence: WatchedSentence,
        content: "_Content",
        hypotheses: Sequence[Hypothesis],  # best first
    ) -> dict[str, Any]:
        best = hypotheses[0]
        dictionary = self._source_dictionary
        source = [dictionary[token] for token in sentence.source if token != dictionary.eos()]
        head = {
            "search": self._decoder.name,
            "source": source,
            "output": [self._symbols[token] for token in best.tokens],
            "score": _rounded(best.score),
        }
        if content.trees:
            options = self._decoder.options
            rules = {name: getattr(options, name, None) for name in ("backup", "power", "leaf")}
            return {
                **head,
                **{"kind": "tree", "choice": content.trees[0].choice, **rules},
                "steps": list(map(self._tree, content.trees, content.tree_deviations)),
            }
        if content.beams:
            return {**head, "kind": "beam", **self._beam(content, best)}
        return {**head, "kind": "samples", **self._samples(content.samples, hypotheses)}

    def _tree(self, tree: TreeSnapshot, deviations: Float64) -> Columns:
        # finished sentences that the metric has scored are nothing that the network is unsure of
        scored = (tree.tokens == self._eos) & self._decoder.scores_finished
        return {
            **_deviation_column(np.where(scored, np.nan, deviations).tolist()),
            "parent": tree.parents.tolist(),
            "piece": [self._symbols[token] if token >= 0 else "" for token in tree.tokens.tolist()],
            "prior": _column(tree.priors.tolist()),
            "visits": tree.visits.tolist(),
            "value": _column(tree.values.tolist()),
            "opened": _column(tree.opened_values.tolist()),
            "landings": tree.landings.tolist(),
            "chosen": tree.chosen.tolist(),
        }

    def _beam(self, content: "_Content", best: Hypothesis) -> Columns:
        prefixes = _Prefixes(self._symbols)
        empty = BeamProposal((), 0.0, None, 0.0, 0, False)
        nodes = {ROOT: empty}
        deviations = {ROOT: math.nan}
        for step, of_step in zip(content.beams, content.beam_deviations, strict=True):
            for proposal, deviation in zip(step, of_step.tolist(), strict=True):
                node = prefixes.add(proposal.tokens)
                nodes[node], deviations[node] = proposal, deviation
        rows = [nodes[node] for node in range(len(prefixes.parent))]
        return {
            **_deviation_column([deviations[node] for node in range(len(rows))]),
            "parent": prefixes.parent,
            "piece": prefixes.piece,
            "logprob": _column(row.logprob for row in rows),
            "value": _column(row.value for row in rows),
            "score": _column(row.score for row in rows),
            "rank": [row.rank for row in rows],
            "finished": [row.finished for row in rows],
            "chosen": prefixes.path(best.tokens),
        }

    def _samples(self, samples: Sequence[Hypothesis], hypotheses: Sequence[Hypothesis]) -> Columns:
        prefixes = _Prefixes(self._symbols)
        ends = [prefixes.add(sample.tokens) for sample in samples]
        logprobs: dict[int, float] = {ROOT: 0.0}
        scores: dict[int, float | None] = {}
        # a decoder that ranks samples itself has scores of its own for them
        for one in (*samples, *hypotheses):
            path = prefixes.path(one.tokens)
            logprobs.update(zip(path, one.positional_logprobs, strict=True))
            scores[path[-1]] = one.value if one.utility is None else one.utility
        count = len(prefixes.parent)
        return {
            "parent": prefixes.parent,
            "piece": prefixes.piece,
            "logprob": _column(logprobs[node] for node in range(count)),
            "score": _column(scores.get(node) for node in range(count)),
            "samples": ends,
            "chosen": prefixes.path(hypotheses[0].tokens),
        }


class _Prefixes:
    """A tree that grows by token sequences."""

    def __init__(self, symbols: Sequence[str]) -> None:
        self.parent, self.piece = [-1], [""]
        self._symbols = symbols
        self._node: dict[tuple[int, ...], int] = {(): ROOT}

    def add(self, tokens: tuple[int, ...]) -> int:
        """The node of a prefix, which may be new, as may be those above it."""
        if tokens not in self._node:
            parent = self.add(tokens[:-1])
            self._node[tokens] = len(self.parent)
            self.parent.append(parent)
            self.piece.append(self._symbols[tokens[-1]])
        return self._node[tokens]

    def path(self, tokens: tuple[int, ...]) -> list[int]:
        """The nodes from the first token to the last."""
        return [self.add(tokens[: end + 1]) for end in range(len(tokens))]


@dataclass
class _Content:
    """What was seen of a sentence's search: one of these."""

    trees: list[TreeSnapshot] = field(default_factory=list)
    tree_deviations: list[Float64] = field(default_factory=list)  # [n] of the nodes of each tree
    beams: list[Sequence[BeamProposal]] = field(default_factory=list)
    beam_deviations: list[Float64] = field(default_factory=list)  # [n] of the proposals of each
    samples: Sequence[Hypothesis] = ()
    # beside them, if the decoder ranked finished sentences itself: these, best first
    ranked: Sequence[Hypothesis] = ()


@dataclass(frozen=True)
class BatchRecord:
    """Takes what the searches of a batch show; see `search.recording.SearchRecorder`."""

    wanted: set[int]  # places in the batch
    found: dict[int, _Content] = field(default_factory=dict)
    deviations: Deviations = field(default_factory=Deviations)  # of the batch, from its networks

    def wants(self, sentence: int) -> bool:
        return sentence in self.wanted

    def see_tree(self, tree: TreeSnapshot) -> None:
        content = self._content(tree.sentence)
        content.trees.append(tree)
        content.tree_deviations.append(self.deviations.read(tree.slots))

    def see_beam(self, sentence: int, proposals: Sequence[BeamProposal]) -> None:
        content = self._content(sentence)
        content.beams.append(proposals)
        slots = np.array([proposal.slot for proposal in proposals], np.int32)
        content.beam_deviations.append(self.deviations.read(slots))

    def see_samples(self, sentence: int, samples: Sequence[Hypothesis]) -> None:
        self._content(sentence).samples = samples

    def see_ranking(self, sentence: int, ranked: Sequence[Hypothesis]) -> None:
        self._content(sentence).ranked = ranked

    def _content(self, sentence: int) -> _Content:
        return self.found.setdefault(sentence, _Content())


def make_search_record(
    settings: Mapping[str, Any],
    decoder: Decoder[Any],
    source_dictionary: Any,
    target_dictionary: Any,
) -> SearchRecord | None:
    """The record that the configuration's fields ask for, if they do."""
    path, sentences = settings["search_record"], settings["search_record_sentences"]
    if path is None:
        return None
    numbers = DEFAULT_SENTENCES if sentences is None else sentences
    chosen = parse_numbers("--search-record-sentences", numbers, 0)
    try:
        return SearchRecord(
            Path(path),
            decoder,
            source_dictionary,
            target_dictionary,
            chosen,
            complain=sentences is not None,
        )
    except OSError as error:
        raise _no_room(path, error) from error


def _no_room(path: Path | str, error: OSError) -> ValueError:
    return ValueError(f"--search-record {path}: can't write there: {error}")


def _column(numbers: Iterable[float | None]) -> list[float | None]:
    return [_rounded(number) for number in numbers]


def _deviation_column(deviations: Sequence[float]) -> Columns:
    """The column of standard deviations, if any is known."""
    column = _column(deviations)
    return {} if all(one is None for one in column) else {"deviation": column}


def _rounded(number: float | None) -> float | None:
    if number is None or not math.isfinite(number):
        return None
    return float(f"{number:.{_DIGITS}g}")


def _json(entry: Any) -> str:
    return json.dumps(entry, ensure_ascii=False, allow_nan=False, separators=(",", ":"))
