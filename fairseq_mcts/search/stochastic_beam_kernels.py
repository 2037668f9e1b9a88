"""Stochastic beam search, compiled: Gumbel-top-k over the prefix tree (Kool et al. 2019).

Every sentence y gets a perturbed log-probability G(y), Gumbel noise of location log p(y), and the
n greatest are n samples without replacement. They are found from the top down: the G of a prefix
is the greatest of all sentences below it. Given that, its children are drawn from the greatest G
on: the first child is drawn from the policy and has the parent's G; each later one is drawn from
what is left of the policy, and its G is a Gumbel variable of location log (what is left) that is
not greater than the G before.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.random_numbers import gumbel, uniform
from fairseq_mcts.search.tree import (
    NO_NODE,
    NO_TOKEN,
    Bool,
    Float64,
    Int32,
    Tree,
    allocate,
    release_branch,
)

Int64 = NDArray[np.int64]

SMALLEST_UNIFORM = 2.0**-54  # for 0, whose logarithm there is none of


class Beams(NamedTuple):
    """S sentences with up to k prefixes each, the greatest G first."""

    width: Int32  # [S] sentences wanted, k at most
    seed: Int64  # [S]
    steps: Int32  # [S] tokens drawn so far
    num_beams: Int32  # [S]
    node: Int32  # [S, k] slots
    finished: Bool  # [S, k] whether the prefix ends in eos
    log_share: Float64  # [S, k] log-probability at the temperature, filtered: log p
    perturbed: Float64  # [S, k] G
    threshold: Float64  # [S] the greatest G of all that was left out: the (k + 1)-th sentence's
    made: Int64  # [S] prefixes that were evaluated


class Proposals(NamedTuple):
    """What a sentence's next beams are chosen from: k finished ones, and k + 1 children of each."""

    beam: Int32  # [P] the beam that it is or comes from
    token: Int32  # [P] NO_TOKEN: the beam itself, which is finished
    logprob: Float64  # [P] the model's own of the token
    log_share: Float64  # [P]
    perturbed: Float64  # [P]


@compiled
def gumbel_below(location: float, greatest: float, number: float) -> float:
    """A Gumbel variable that is not greater than `greatest`, from a number in [0, 1)."""
    # -log of its distribution function is exp(location - G): there it is a sum of two terms
    one = location - greatest
    other = math.log(-math.log(max(number, SMALLEST_UNIFORM)))
    more = max(one, other)
    return location - more - math.log(math.exp(one - more) + math.exp(other - more))


@compiled
def begin(beams: Beams, sentence: int, root: int) -> None:
    """One beam, the empty prefix."""
    beams.num_beams[sentence] = 1
    beams.node[sentence, 0] = root
    beams.perturbed[sentence, 0] = gumbel(beams.seed[sentence], 0, 0)
    beams.threshold[sentence] = -math.inf


@compiled
def list_draws(
    beams: Beams,
    active: Int32,  # [a]
    slots: Int32,  # [n] out: the unfinished beams
    rows: Int32,  # [d] out: of them, ascending
    uniforms: Float64,  # [d] out
) -> tuple[int, int]:
    """One more draw than sentences are wanted of each unfinished beam; how many of both."""
    count, draws = 0, 0
    for sentence in active:
        each = beams.width[sentence] + 1
        for beam in range(beams.num_beams[sentence]):
            if beams.finished[sentence, beam]:
                continue
            slots[count] = beams.node[sentence, beam]
            for place in range(each):
                rows[draws] = count
                uniforms[draws] = uniform(
                    beams.seed[sentence], beam * each + place, 2 * beams.steps[sentence] + 1
                )
                draws += 1
            count += 1
            beams.made[sentence] += 1
    return count, draws


@compiled
def extend(
    tree: Tree,
    beams: Beams,
    active: Int32,  # [a]
    tokens: Int32,  # [d] drawn, in the order of `list_draws`
    logprobs: Float64,  # [d]
    shares: Float64,  # [d]
    left: Float64,  # [d]
    eos: int,
    proposals: Proposals,  # scratch
) -> None:
    """Goes on to the prefixes of greatest G, one token longer unless they are finished."""
    draw = 0
    for sentence in active:
        count = 0
        for beam in range(beams.num_beams[sentence]):
            if beams.finished[sentence, beam]:
                proposals.beam[count] = beam
                proposals.token[count] = NO_TOKEN
                proposals.log_share[count] = beams.log_share[sentence, beam]
                proposals.perturbed[count] = beams.perturbed[sentence, beam]
                count += 1
            else:
                end = draw + beams.width[sentence] + 1
                drawn = (tokens[draw:end], logprobs[draw:end], shares[draw:end], left[draw:end])
                count = _propose_children(beams, sentence, beam, drawn, proposals, count)
                draw = end
        _choose(tree, beams, sentence, proposals, count, eos)
        beams.steps[sentence] += 1


@compiled
def _propose_children(
    beams: Beams,
    sentence: int,
    beam: int,
    drawn: tuple[Int32, Float64, Float64, Float64],  # [k + 1] tokens, logprobs, shares, left
    proposals: Proposals,
    count: int,
) -> int:
    """Adds the drawn children of a beam, with their G; how many proposals there are now."""
    tokens, logprobs, shares, left = drawn
    bound = beams.perturbed[sentence, beam]
    for place in range(len(tokens)):
        if tokens[place] == NO_TOKEN:
            break
        if place > 0:
            location = beams.log_share[sentence, beam] + math.log(left[place])
            number = uniform(
                beams.seed[sentence], beam * len(tokens) + place, 2 * beams.steps[sentence] + 2
            )
            bound = gumbel_below(location, bound, number)
        proposals.beam[count] = beam
        proposals.token[count] = tokens[place]
        proposals.logprob[count] = logprobs[place]
        proposals.log_share[count] = beams.log_share[sentence, beam] + math.log(shares[place])
        proposals.perturbed[count] = bound
        count += 1
    return count


@compiled
def _choose(
    tree: Tree, beams: Beams, sentence: int, proposals: Proposals, count: int, eos: int
) -> None:
    """Makes the proposals of greatest G the sentence's beams, and frees what is left behind."""
    # a stable sort: of equal ones the earlier
    order = np.argsort(-proposals.perturbed[:count], kind="mergesort")
    kept = min(count, beams.width[sentence])
    if kept < count:
        best_left_out = proposals.perturbed[order[kept]]
        beams.threshold[sentence] = max(beams.threshold[sentence], best_left_out)
    before = beams.node[sentence, : beams.num_beams[sentence]].copy()
    stays = np.zeros(len(before), np.bool_)
    for place in range(kept):
        proposal = order[place]
        beam, token = proposals.beam[proposal], proposals.token[proposal]
        node = before[beam]
        if token == NO_TOKEN:
            stays[beam] = True
        else:
            node = allocate(tree, sentence, node, 0, token, proposals.logprob[proposal])
        beams.node[sentence, place] = node
        beams.finished[sentence, place] = token in (NO_TOKEN, eos)
        beams.log_share[sentence, place] = proposals.log_share[proposal]
        beams.perturbed[sentence, place] = proposals.perturbed[proposal]
    beams.num_beams[sentence] = kept
    beams.node[sentence, kept:] = NO_NODE
    for beam in range(len(before)):
        if not stays[beam] and tree.prefixes[before[beam]].num_children == 0:
            release_branch(tree, before[beam])
