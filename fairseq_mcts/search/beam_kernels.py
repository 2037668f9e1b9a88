"""One step of beam search and of value-guided beam search, compiled.

The rules are fairseq's: each beam proposes its k best tokens (one more where eos is among them),
all proposals of a sentence are ranked together, those among the first k that end in eos are
finished, the k best others go on.

With a value, most proposals need not be evaluated to be ranked. The most probable ones are, until k
of them do not end in eos; the k-th best score of these is what the others have to reach, and a
proposal that would not with the greatest value there is has no part in the step. The idea is that
of best-first beam search (Meister et al. 2020): same result, fewer evaluations.
"""

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.tree import NO_NODE, Float64, Int32, Tree, allocate_child, release_branch

Int64 = NDArray[np.int64]

# phases of a sentence
PROPOSING = 0  # its beams' policies are known
COMPARING = 1  # the values of its most probable proposals are known
RANKING = 2  # the values of all proposals that may be kept are known
FINISHED = 3

# how a finished sentence's sum of log-probabilities becomes its score
NO_NORMALIZATION = 0
BY_LENGTH = 1
GNMT = 2
VALUE_GUIDED = 3


class Beams(NamedTuple):
    """Where each of S sentences stands; room for K beams and M = K (K + 1) proposals."""

    phase: Int32  # [S]
    width: Int32  # [S] k
    num_beams: Int32  # [S] beams at work
    node: Int32  # [S, K] slots, best first
    total: Float64  # [S, K] sums of log π_τ
    num_finished: Int32  # [S]
    finished_node: Int32  # [S, K]
    finished_score: Float64  # [S, K]
    num_proposals: Int32  # [S]
    proposal_beam: Int32  # [S, M] the beam that proposes
    proposal_action: Int32  # [S, M] which of its actions
    proposal_total: Float64  # [S, M]
    proposal_node: Int32  # [S, M] its slot, NO_NODE while it is not evaluated
    charged: Int64  # [S]
    made: Int64  # [S]


class Rules(NamedTuple):
    """The options that a step reads."""

    eos: int
    normalization: int
    length_penalty: float = 1.0
    alpha: float = 0.0  # weight of the value
    log_value: bool = False
    value_low: float = 0.0
    value_high: float = 0.0
    highest_value: float = math.inf  # no value is greater


@compiled
def scaled_value(value: float, rules: Rules) -> float:
    """The value as the ranking reads it."""
    if not rules.log_value:
        return value
    return math.log(min(max(value, rules.value_low), rules.value_high))


@compiled
def score_of(total: float, length: int, value: float, rules: Rules) -> float:
    """The score of a prefix of `length` tokens (eos counted) when it is finished."""
    if rules.normalization == VALUE_GUIDED:
        likelihood = (1.0 - rules.alpha) * total / length
        if rules.alpha == 0.0:
            return likelihood  # without a value there is none to add
        return likelihood + rules.alpha * scaled_value(value, rules)
    if rules.normalization == BY_LENGTH:
        return total / length**rules.length_penalty
    if rules.normalization == GNMT:
        return total / ((5.0 + length) / 6.0) ** rules.length_penalty
    return total


@compiled
def ranking_score(total: float, length: int, value: float, rules: Rules) -> float:
    """What proposals are ranked by; all have the same length, so only a value needs care."""
    if rules.normalization == VALUE_GUIDED:
        return score_of(total, length, value, rules)
    return total


@compiled
def propose(tree: Tree, beams: Beams, sentence: int, rules: Rules) -> None:
    """Lists the one-token extensions of all beams."""
    width = beams.width[sentence]
    count = 0
    for beam in range(beams.num_beams[sentence]):
        node = beams.node[sentence, beam]
        wanted = width
        for action in range(min(width, tree.prefixes[node].num_actions)):
            if tree.actions[node, action].token == rules.eos:
                wanted = width + 1
        for action in range(min(wanted, tree.prefixes[node].num_actions)):
            beams.proposal_node[sentence, count] = NO_NODE
            beams.proposal_beam[sentence, count] = beam
            beams.proposal_action[sentence, count] = action
            beams.proposal_total[sentence, count] = (
                beams.total[sentence, beam] + tree.actions[node, action].weight
            )
            count += 1
    beams.num_proposals[sentence] = count


@compiled
def ends_in_eos(tree: Tree, beams: Beams, sentence: int, proposal: int, rules: Rules) -> bool:
    """Whether a proposal finishes its sentence."""
    node = beams.node[sentence, beams.proposal_beam[sentence, proposal]]
    action = tree.actions[node, beams.proposal_action[sentence, proposal]]
    return bool(action.token == rules.eos)


@compiled
def open_proposal(tree: Tree, beams: Beams, sentence: int, proposal: int) -> int:
    """A slot for a proposal that is to be evaluated."""
    node = beams.node[sentence, beams.proposal_beam[sentence, proposal]]
    slot = allocate_child(tree, node, beams.proposal_action[sentence, proposal])
    beams.proposal_node[sentence, proposal] = slot
    return slot


@compiled
def open_most_probable(
    tree: Tree, beams: Beams, sentence: int, rules: Rules, wanted: Int32, count: int
) -> int:
    """Appends the most probable proposals to `wanted`, until k of them do not end in eos."""
    going_on = 0
    for _ in range(beams.num_proposals[sentence]):
        if going_on == beams.width[sentence]:
            break
        best = -1
        for proposal in range(beams.num_proposals[sentence]):
            if beams.proposal_node[sentence, proposal] == NO_NODE and (
                best < 0
                or beams.proposal_total[sentence, proposal] > beams.proposal_total[sentence, best]
            ):
                best = proposal
        wanted[count] = open_proposal(tree, beams, sentence, best)
        count += 1
        if not ends_in_eos(tree, beams, sentence, best, rules):
            going_on += 1
    return count


@compiled
def score_to_reach(tree: Tree, beams: Beams, sentence: int, rules: Rules) -> float:
    """The k-th best score of the evaluated proposals that do not end in eos."""
    length = tree.prefixes[beams.node[sentence, 0]].depth + 1
    best = np.full(beams.width[sentence], -np.inf)  # descending
    for proposal in range(beams.num_proposals[sentence]):
        slot = beams.proposal_node[sentence, proposal]
        if slot == NO_NODE or ends_in_eos(tree, beams, sentence, proposal, rules):
            continue
        total, value = beams.proposal_total[sentence, proposal], tree.prefixes[slot].value
        score = ranking_score(total, length, value, rules)
        for place in range(len(best)):
            if score > best[place]:
                best[place], score = score, best[place]
    return best[-1]


@compiled
def open_possible(
    tree: Tree, beams: Beams, sentence: int, rules: Rules, wanted: Int32, count: int
) -> int:
    """Appends all other proposals to `wanted` that may be kept, whatever their values are."""
    length = tree.prefixes[beams.node[sentence, 0]].depth + 1
    needed = score_to_reach(tree, beams, sentence, rules)
    for proposal in range(beams.num_proposals[sentence]):
        total = beams.proposal_total[sentence, proposal]
        if (
            beams.proposal_node[sentence, proposal] == NO_NODE
            # equal scores are ranked by other things
            and ranking_score(total, length, rules.highest_value, rules) >= needed
        ):
            wanted[count] = open_proposal(tree, beams, sentence, proposal)
            count += 1
    return count


class Ranked(NamedTuple):
    """What p proposals are ranked by, in this order; few arrays, since each costs a comparison."""

    score: Float64  # [p]
    prior: Float64  # [p]
    token: Int32  # [p]
    beam: Int32  # [p]


@compiled
def ranks_before(proposals: Ranked, one: int, other: int) -> bool:
    """Whether proposal `one` ranks before `other`."""
    if proposals.score[one] != proposals.score[other]:
        return bool(proposals.score[one] > proposals.score[other])
    if proposals.prior[one] != proposals.prior[other]:
        return bool(proposals.prior[one] > proposals.prior[other])
    if proposals.token[one] != proposals.token[other]:
        return bool(proposals.token[one] < proposals.token[other])
    return bool(proposals.beam[one] < proposals.beam[other])


@compiled
def to_be_ranked(
    tree: Tree, beams: Beams, sentence: int, rules: Rules, with_values: bool
) -> Ranked:
    """The proposals of a sentence; those that were not evaluated come last, where nothing is kept,
    since k others stand before them."""
    count = beams.num_proposals[sentence]
    length = tree.prefixes[beams.node[sentence, 0]].depth + 1
    scores, priors = np.empty(count, np.float64), np.empty(count, np.float64)
    tokens, proposing = np.empty(count, np.int32), np.empty(count, np.int32)
    for proposal in range(count):
        slot = beams.proposal_node[sentence, proposal]
        total = beams.proposal_total[sentence, proposal]
        if not with_values:
            scores[proposal] = ranking_score(total, length, 0.0, rules)
        elif slot == NO_NODE:
            scores[proposal] = -np.inf
        else:
            scores[proposal] = ranking_score(total, length, tree.prefixes[slot].value, rules)
        beam = beams.proposal_beam[sentence, proposal]
        action = tree.actions[beams.node[sentence, beam], beams.proposal_action[sentence, proposal]]
        priors[proposal] = action.weight
        tokens[proposal] = action.token
        proposing[proposal] = beam
    return Ranked(scores, priors, tokens, proposing)


@compiled
def rank(proposals: Ranked, width: int) -> Int32:
    """The first proposals in the order of their rank: enough for k of them not to end in eos."""
    # each beam proposes eos at most once, so among 2k there are k others if there are so many
    count = len(proposals.score)
    order = np.arange(count).astype(np.int32)
    needed = min(count, 2 * width)
    for place in range(needed):
        best = place
        for candidate in range(place + 1, count):
            if ranks_before(proposals, order[candidate], order[best]):
                best = candidate
        order[place], order[best] = order[best], order[place]
    return order[:needed]


@compiled
def keep_best(tree: Tree, beams: Beams, sentence: int, rules: Rules, with_values: bool) -> None:
    """Ranks the proposals: some finish, the best others become the beams of the next step."""
    width = beams.width[sentence]
    length = tree.prefixes[beams.node[sentence, 0]].depth + 1
    order = rank(to_be_ranked(tree, beams, sentence, rules, with_values), width)
    old_nodes = beams.node[sentence, : beams.num_beams[sentence]].copy()
    kept = np.zeros(beams.num_proposals[sentence], np.bool_)
    going_on = 0
    for place in range(len(order)):
        proposal = order[place]
        node = old_nodes[beams.proposal_beam[sentence, proposal]]
        action = beams.proposal_action[sentence, proposal]
        total = beams.proposal_total[sentence, proposal]
        ends = tree.actions[node, action].token == rules.eos
        room = beams.num_finished[sentence] if ends else going_on
        if room == width or (ends and place >= width):
            continue
        kept[proposal] = True
        if with_values:
            child = beams.proposal_node[sentence, proposal]
        else:
            child = allocate_child(tree, node, action)
        if ends:
            value = tree.prefixes[child].value if with_values else 0.0
            beams.finished_node[sentence, room] = child
            beams.finished_score[sentence, room] = score_of(total, length, value, rules)
            beams.num_finished[sentence] += 1
        else:
            beams.node[sentence, going_on] = child
            beams.total[sentence, going_on] = total
            going_on += 1
    beams.num_beams[sentence] = going_on
    _release_rest(tree, beams, sentence, old_nodes, kept, with_values)
    if going_on == 0 or beams.num_finished[sentence] == width:
        for beam in range(going_on):
            release_branch(tree, beams.node[sentence, beam])
        beams.phase[sentence] = FINISHED


@compiled
def _release_rest(
    tree: Tree,
    beams: Beams,
    sentence: int,
    old_nodes: Int32,  # [b] the beams that made the proposals
    kept: NDArray[np.bool_],  # [number of proposals]
    with_values: bool,
) -> None:
    """Frees the proposals that were not kept, and the beams that none came from."""
    for beam in range(len(old_nodes)):
        if tree.prefixes[old_nodes[beam]].num_children == 0:
            release_branch(tree, old_nodes[beam])
    if with_values:
        for proposal in range(len(kept)):
            if not kept[proposal] and beams.proposal_node[sentence, proposal] != NO_NODE:
                release_branch(tree, beams.proposal_node[sentence, proposal])


@compiled
def advance(
    tree: Tree,
    beams: Beams,
    active: Int32,  # [a]
    rules: Rules,
    with_values: bool,
    wanted: Int32,  # [w] out: slots to be evaluated
) -> int:
    """Brings each active sentence to its next point in a step; how many slots the network is
    asked about there, which may be none.

    With values a step has three such points, at which all sentences are together: the values of the
    most probable proposals, those of others, the policies of those kept.
    """
    count = 0
    for sentence in active:
        if beams.phase[sentence] == RANKING:
            beams.phase[sentence] = PROPOSING
            keep_best(tree, beams, sentence, rules, with_values)
            count = _list_beams(beams, sentence, wanted, count)
            continue
        before = count
        if beams.phase[sentence] == COMPARING:
            beams.phase[sentence] = RANKING
            count = open_possible(tree, beams, sentence, rules, wanted, count)
            beams.made[sentence] += count - before
            continue
        beams.charged[sentence] += beams.num_beams[sentence]
        propose(tree, beams, sentence, rules)
        if with_values:
            beams.charged[sentence] += beams.num_proposals[sentence]
            beams.phase[sentence] = COMPARING
            count = open_most_probable(tree, beams, sentence, rules, wanted, count)
        else:
            keep_best(tree, beams, sentence, rules, with_values)
            count = _list_beams(beams, sentence, wanted, count)
        beams.made[sentence] += count - before
    return count


@compiled
def _list_beams(beams: Beams, sentence: int, wanted: Int32, count: int) -> int:
    """Appends the beams that go on to `wanted`, where there are `count` already."""
    if beams.phase[sentence] != FINISHED:
        for beam in range(beams.num_beams[sentence]):
            wanted[count] = beams.node[sentence, beam]
            count += 1
    return count
