"""Positions, which the stepper reads off fairseq's tables itself."""

import torch
from fairseq.modules import PositionalEmbedding

from fairseq_mcts.decoding.member import make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.decoding.stepper import position_rows
from fairseq_mcts.search import Run, make_decoder
from fairseq_mcts.search.constraints import make_constraints
from fairseq_mcts.search.driver import drive
from tests.decoding.networks import BATCH, VOCABULARY, sources
from tests.models.toys import DUAL, EOS, PAD, make_model


def test_a_longer_position_table_keeps_its_precision() -> None:
    table = PositionalEmbedding(4, 8, PAD, learned=False).to(torch.bfloat16)
    rows = position_rows(table, torch.tensor([0, 9]), 10)
    assert rows.dtype == table.weights.dtype == torch.bfloat16
    exact = PositionalEmbedding(10, 8, PAD, learned=False).weights
    torch.testing.assert_close(rows, exact[[PAD + 1, PAD + 10]].to(torch.bfloat16))


def test_the_last_position_needs_no_longer_table() -> None:
    positions = 20
    model = make_model(DUAL, max_target_positions=positions)
    table = model.decoder.embed_positions.weights
    length = positions - 2  # the start symbol comes before, eos, whose value is asked for, behind
    constraints = make_constraints(
        len(BATCH.src_lengths),
        **{"eos": EOS, "max_len": length, "min_len": length, "forbidden": VOCABULARY.forbidden},
    )
    search = make_decoder("vgbs", {"beam": 1}).search(Run(constraints))
    evaluator = NetworkEvaluator(make_members([model], [model], VOCABULARY), VOCABULARY)
    evaluator.begin(sources(BATCH))
    drive(search, evaluator)
    assert len(search.results()[0][0].tokens) >= length
    assert model.decoder.embed_positions.weights is table
