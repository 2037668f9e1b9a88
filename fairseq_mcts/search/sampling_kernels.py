"""The bookkeeping of sampling, compiled: samples that agree so far share their prefixes."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from fairseq_mcts.search.compiled import compiled
from fairseq_mcts.search.random_numbers import uniform
from fairseq_mcts.search.tree import NO_NODE, Float64, Int32, Tree, allocate, release_branch

Int64 = NDArray[np.int64]


class Samples(NamedTuple):
    """S sentences with up to n samples of up to L tokens (eos counted)."""

    num_samples: Int32  # [S] samples wanted
    seed: Int64  # [S]
    position: Int32  # [S] tokens drawn so far of every sample that goes on
    node: Int32  # [S, n] slot of a sample's prefix, NO_NODE once it is finished
    length: Int32  # [S, n] tokens drawn
    token: Int32  # [S, n, L]
    logprob: Float64  # [S, n, L] the model's own
    value: Float64  # [S, n] after eos
    end_node: Int32  # [S, n] slot of the finished sentence while its value is outstanding
    charged: Int64  # [S]
    made: Int64  # [S]


@compiled
def _child_of(tree: Tree, created: Int32, first: int, last: int, node: int, token: int) -> int:
    """The slot in created[first:last] that extends `node` by `token`, NO_NODE if there is none."""
    for index in range(first, last):
        slot = created[index]
        if tree.prefixes[slot].parent == node and tree.prefixes[slot].token == token:
            return slot
    return NO_NODE


@compiled
def extend(
    tree: Tree,
    samples: Samples,
    active: Int32,  # [a] sentences
    drawn_tokens: Int32,  # [d] for the unfinished samples of the active sentences, in order of rows
    drawn_logprobs: Float64,  # [d]
    draw_owner: Int32,  # [d] the sample that each draw is for
    draw_sentence: Int32,  # [d]
    eos: int,
    value_finished: bool,
    wanted: Int32,  # [w] out: slots to be evaluated
) -> int:
    """Appends the drawn tokens; how many new prefixes want evaluation."""
    created = 0
    draw = 0
    for sentence in active:
        first = created
        while draw < len(drawn_tokens) and draw_sentence[draw] == sentence:
            sample, token = draw_owner[draw], drawn_tokens[draw]
            node = samples.node[sentence, sample]
            length = samples.length[sentence, sample]
            samples.token[sentence, sample, length] = token
            samples.logprob[sentence, sample, length] = drawn_logprobs[draw]
            samples.length[sentence, sample] = length + 1
            samples.charged[sentence] += 1
            child = NO_NODE
            if token != eos or value_finished:
                child = _child_of(tree, wanted, first, created, node, token)
                if child == NO_NODE:
                    child = allocate(tree, sentence, node, 0, token, drawn_logprobs[draw])
                    wanted[created] = child
                    created += 1
            if token == eos:
                samples.end_node[sentence, sample] = child
                samples.node[sentence, sample] = NO_NODE
                if value_finished:
                    samples.charged[sentence] += 1
            else:
                samples.node[sentence, sample] = child
            draw += 1
        samples.position[sentence] += 1
        samples.made[sentence] += created - first
    return created


@compiled
def take_values(tree: Tree, samples: Samples, sentence: int) -> None:
    """Reads the values of the sentences that ended in the last step, and lets go of their slots."""
    for sample in range(samples.num_samples[sentence]):
        if samples.end_node[sentence, sample] != NO_NODE:
            samples.value[sentence, sample] = tree.prefixes[
                samples.end_node[sentence, sample]
            ].value
    # samples may share their last slot: release it with the first, after all have read it
    for sample in range(samples.num_samples[sentence]):
        node = samples.end_node[sentence, sample]
        if node == NO_NODE:
            continue
        for other in range(sample, samples.num_samples[sentence]):
            if samples.end_node[sentence, other] == node:
                samples.end_node[sentence, other] = NO_NODE
        release_branch(tree, node)


@compiled
def list_draws(
    samples: Samples,
    active: Int32,  # [a]
    row_of_slot: Int32,  # [N] row of a slot in the requests, only right for requested slots
    rows: Int32,  # [d] out, ascending within the whole
    owners: Int32,  # [d] out
    sentences: Int32,  # [d] out
    uniforms: Float64,  # [d] out
) -> int:
    """One draw for each unfinished sample of the active sentences; how many there are."""
    count = 0
    for sentence in active:
        begin = count
        for sample in range(samples.num_samples[sentence]):
            node = samples.node[sentence, sample]
            if node == NO_NODE:
                continue
            # insertion keeps the rows ascending, and the samples of a row in their order
            place = count
            row = row_of_slot[node]
            while place > begin and rows[place - 1] > row:
                rows[place] = rows[place - 1]
                owners[place] = owners[place - 1]
                uniforms[place] = uniforms[place - 1]
                place -= 1
            rows[place] = row
            owners[place] = sample
            uniforms[place] = uniform(samples.seed[sentence], sample, samples.position[sentence])
            sentences[count] = sentence
            count += 1
    return count
