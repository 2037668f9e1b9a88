"""Which tokens may follow a prefix: the one place that enforces lengths, prefixes and bans."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.evaluator import EMPTY_NUMBERS, EMPTY_ROWS, Requests
from fairseq_mcts.search.tree import NO_TOKEN, Bool, Float64, Int32, Tree, path_slots


@dataclass(frozen=True)
class Constraints:
    """The rules of S sentences. Lengths count tokens without eos."""

    eos: int
    min_len: Int32  # [S] eos is not allowed after fewer tokens than this
    max_len: Int32  # [S] after so many tokens only eos is
    forbidden: tuple[int, ...]  # tokens that are never produced
    forced: Int32  # [S, P] tokens that a sentence must start with, then NO_TOKEN
    no_repeat_ngram_size: int  # no sequence of so many tokens twice in a sentence; 0: no rule

    def requests(
        self,
        tree: Tree,
        slots: Int32,
        draw_rows: Int32 = EMPTY_ROWS,
        draw_uniforms: Float64 = EMPTY_NUMBERS,
    ) -> Requests:
        """The evaluator's requests for `slots`, with what is allowed after each prefix."""
        rows = _new_prefix_rows(len(slots))
        _describe_prefixes(tree, slots, self.eos, self.min_len, self.max_len, self.forced, rows)
        # by position, which is faster: there is one of these per call of the evaluator
        bans, draws = self._banned(tree, slots, rows), (draw_rows, draw_uniforms)
        return Requests(slots, *rows, *bans, *draws)

    def _banned(self, tree: Tree, slots: Int32, rows: "_PrefixRows") -> tuple[Int32, Int32]:
        if self.no_repeat_ngram_size == 0 or len(slots) == 0:
            return EMPTY_ROWS, EMPTY_ROWS
        tokens = tree.token[path_slots(tree, slots)][:, 1:]  # [n, L]
        free_choice = (rows.only_token == NO_TOKEN) & ~rows.finished
        return _repeating_tokens(tokens, rows.depths, free_choice, self.no_repeat_ngram_size)


class _PrefixRows(NamedTuple):
    """See `Requests`; [n] each."""

    sentences: Int32
    parents: Int32
    tokens: Int32
    depths: Int32
    finished: Bool
    only_token: Int32
    eos_allowed: Bool


def _new_prefix_rows(count: int) -> _PrefixRows:
    sentences, parents, tokens, depths, only_token = np.empty((5, count), np.int32)
    finished, eos_allowed = np.empty((2, count), np.bool_)
    return _PrefixRows(sentences, parents, tokens, depths, finished, only_token, eos_allowed)


@compiled
def _describe_prefixes(
    tree: Tree,
    slots: Int32,  # [n]
    eos: int,
    min_len: Int32,  # [S]
    max_len: Int32,  # [S]
    forced: Int32,  # [S, P]
    rows: _PrefixRows,  # out
) -> None:
    """What the tree and the rules say of some prefixes: all in one call, for there is one per
    evaluation."""
    for row in range(len(slots)):
        prefix = tree.prefixes[slots[row]]
        sentence, depth = prefix.sentence, prefix.depth
        rows.sentences[row] = sentence
        rows.parents[row] = prefix.parent
        rows.tokens[row] = prefix.token
        rows.depths[row] = depth
        rows.finished[row] = prefix.token == eos
        rows.eos_allowed[row] = depth >= min_len[sentence]
        rows.only_token[row] = eos if depth >= max_len[sentence] else NO_TOKEN
        if depth < forced.shape[1] and forced[sentence, depth] != NO_TOKEN:
            rows.only_token[row] = forced[sentence, depth]


@compiled
def _repeating_tokens(
    tokens: Int32,  # [n, L]
    lengths: Int32,  # [n]
    free_choice: Bool,  # [n]
    size: int,
) -> tuple[Int32, Int32]:
    """Per row, the tokens that would complete an n-gram of `size` which the row already holds."""
    room = 0
    for row in range(len(lengths)):
        room += max(0, lengths[row] - size + 1)
    rows = np.empty(room, np.int32)
    banned = np.empty(room, np.int32)
    count = 0
    for row in range(len(lengths)):
        if not free_choice[row]:
            continue
        length = lengths[row]
        for start in range(length - size + 1):
            repeats = True
            for offset in range(size - 1):
                if tokens[row, start + offset] != tokens[row, length - size + 1 + offset]:
                    repeats = False
                    break
            if repeats:
                rows[count] = row
                banned[count] = tokens[row, start + size - 1]
                count += 1
    return rows[:count], banned[:count]


def per_sentence(name: str, given: int | Sequence[int], num_sentences: int) -> Int32:
    """An option that may be one number for all sentences or one for each."""
    if isinstance(given, (int, np.integer)):
        return np.full(num_sentences, given, np.int32)
    numbers = np.asarray(given)
    if numbers.shape != (num_sentences,) or not np.issubdtype(numbers.dtype, np.integer):
        raise ValueError(
            f"{name}: expected one whole number or {num_sentences} of them, one a sentence"
        )
    return numbers.astype(np.int32)


def make_constraints(
    num_sentences: int,
    *,
    eos: int,
    max_len: int | Sequence[int],
    min_len: int | Sequence[int] = 0,
    forbidden: Sequence[int] = (),
    prefixes: Sequence[Sequence[int]] | None = None,
    no_repeat_ngram_size: int = 0,
) -> Constraints:
    """Checks the rules against each other and brings them into arrays."""
    lowest = per_sentence("min_len", min_len, num_sentences)
    highest = per_sentence("max_len", max_len, num_sentences)
    if eos < 0:
        raise ValueError(f"eos: {eos} is not a token id")
    for sentence in range(num_sentences):
        if highest[sentence] < 1:
            raise ValueError(f"max_len: must be at least 1, is {highest[sentence]} for {sentence=}")
        if lowest[sentence] < 0:
            raise ValueError(f"min_len: must not be negative, is {lowest[sentence]}, {sentence=}")
        if lowest[sentence] > highest[sentence]:
            raise ValueError(
                f"min_len {lowest[sentence]} exceeds max_len {highest[sentence]} for {sentence=}"
            )
    for token in forbidden:
        if token < 0:
            raise ValueError(f"forbidden: {token} is not a token id")
    if eos in forbidden:
        raise ValueError("forbidden: holds eos, so no sentence could ever end")
    if no_repeat_ngram_size < 0:
        raise ValueError(f"no_repeat_ngram_size: must not be negative, is {no_repeat_ngram_size}")

    prefixes = prefixes if prefixes is not None else [()] * num_sentences
    if len(prefixes) != num_sentences:
        raise ValueError(f"prefixes: {len(prefixes)} given for {num_sentences} sentences")
    forced = np.full(
        (num_sentences, max((len(prefix) for prefix in prefixes), default=0)), NO_TOKEN, np.int32
    )
    for sentence, prefix in enumerate(prefixes):
        _check_prefix(sentence, prefix, eos, lowest[sentence], highest[sentence], forbidden)
        forced[sentence, : len(prefix)] = prefix
    return Constraints(
        eos=eos,
        min_len=lowest,
        max_len=highest,
        forbidden=tuple(sorted(set(forbidden))),
        forced=forced,
        no_repeat_ngram_size=no_repeat_ngram_size,
    )


def _check_prefix(
    sentence: int,
    prefix: Sequence[int],
    eos: int,
    min_len: int,
    max_len: int,
    forbidden: Sequence[int],
) -> None:
    where = f"prefixes[{sentence}]"
    words = len(prefix) - (eos in prefix)
    if eos in prefix[:-1]:
        raise ValueError(f"{where}: eos stands before its end")
    if words > max_len:
        raise ValueError(f"{where}: has {words} tokens, but max_len is {max_len}")
    if eos in prefix and words < min_len:
        raise ValueError(f"{where}: ends the sentence after {words} tokens, but min_len={min_len}")
    for token in prefix:
        if token < 0:
            raise ValueError(f"{where}: {token} is not a token id")
        if token in forbidden:
            raise ValueError(f"{where}: token {token} is forbidden")
