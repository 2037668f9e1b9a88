"""Beam search and VGBS without a value against fairseq's own generator on the same toy models."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from fairseq_mcts.search import decode
from tests.search.toy_models import Prefix, ToyEvaluator, ToyModel

torch = pytest.importorskip("torch")
pytest.importorskip("fairseq")

from fairseq.data import Dictionary  # noqa: E402
from fairseq.models import (  # noqa: E402
    FairseqDecoder,
    FairseqEncoder,
    FairseqEncoderDecoderModel,
)
from fairseq.sequence_generator import SequenceGenerator  # noqa: E402

EOS, PAD = 2, 1  # where fairseq's dictionaries put them
MAX_LEN = 7


class NumberEncoder(FairseqEncoder):
    """Hands the number of the sentence, its only source token, on to the decoder."""

    def forward(self, src_tokens: Any, src_lengths: Any = None, **_: Any) -> Any:
        return {"numbers": [src_tokens[:, 0]]}  # [B]

    def reorder_encoder_out(self, encoder_out: Any, new_order: Any) -> Any:
        return {"numbers": [encoder_out["numbers"][0].index_select(0, new_order)]}


class TableDecoder(FairseqDecoder):
    """Looks the log-probabilities up in a toy model."""

    def __init__(self, dictionary: Dictionary, model: ToyModel) -> None:
        super().__init__(dictionary)
        self.model = model

    def forward(self, prev_output_tokens: Any, encoder_out: Any = None, **_: Any) -> Any:
        rows = []
        numbers = encoder_out["numbers"][0].tolist()
        for number, tokens in zip(numbers, prev_output_tokens.tolist(), strict=True):
            prefix = tuple(tokens[1:])  # the first is the start symbol
            # Beams beyond those alive are extended too, past their end; they count -inf anyway.
            rows.append(self.model(number, prefix)[0])
        return torch.from_numpy(np.stack(rows))[:, None, :], None  # [B, 1, V]

    def get_normalized_probs(self, net_output: Any, log_probs: bool, sample: Any = None) -> Any:
        return net_output[0].clone()  # already normalised

    def max_positions(self) -> int:
        return 100


def fairseq_results(
    model: ToyModel, sentences: list[int], beam: int, prefixes: list[Prefix] | None, **options: Any
) -> list[list[Any]]:
    dictionary = Dictionary()
    for number in range(model.vocab - len(dictionary)):
        dictionary.add_symbol(f"word{number}")
    assert (len(dictionary), dictionary.eos(), dictionary.pad()) == (model.vocab, EOS, PAD)
    network = FairseqEncoderDecoderModel(NumberEncoder(dictionary), TableDecoder(dictionary, model))
    generator = SequenceGenerator(
        [network], dictionary, beam_size=beam, max_len_a=0, max_len_b=MAX_LEN, **options
    )
    source = torch.tensor([[sentence] for sentence in sentences])
    sample = {"net_input": {"src_tokens": source, "src_lengths": torch.ones(len(sentences))}}
    forced = None if prefixes is None else torch.tensor(prefixes)
    with torch.no_grad():
        return generator.generate([network], sample, prefix_tokens=forced)


def problems() -> list[Any]:
    """Policies without ties: fairseq leaves the order of equals to torch.topk."""
    rng = np.random.default_rng(20)
    return [
        pytest.param(
            ToyModel(
                vocab=int(rng.integers(13, 20)),
                eos=EOS,
                seed=seed,
                policy=("flat", "peaked")[seed % 2],
                ending=("fair", "at_once", "never")[seed % 3],
            ),
            int(rng.integers(1, 6)),
            int(rng.integers(0, 4)),
            id=f"seed{seed}",
        )
        for seed in range(30)
    ]


def assert_same(ours: list[list[Any]], theirs: list[list[Any]]) -> None:
    for row, other_row in zip(ours, theirs, strict=True):
        assert [h.tokens for h in row] == [tuple(o["tokens"].tolist()) for o in other_row]
        for hypothesis, other in zip(row, other_row, strict=True):
            assert hypothesis.score == pytest.approx(float(other["score"]), abs=1e-5)
            assert hypothesis.positional_logprobs == pytest.approx(
                other["positional_scores"].tolist(), abs=1e-5
            )


@pytest.mark.parametrize(("model", "beam", "min_len"), problems())
def test_beam_search_is_fairseqs(model: ToyModel, beam: int, min_len: int) -> None:
    sentences = [5, 6, 7]
    common = {"eos": EOS, "max_len": MAX_LEN, "min_len": min_len, "forbidden": (PAD,)}
    for length_penalty in (1.0, 0.4):
        theirs = fairseq_results(
            model, sentences, beam, None, min_len=min_len, len_penalty=length_penalty
        )
        evaluate = ToyEvaluator(model, EOS, sentences)
        search = {"search": "beam", "beam": beam, "n_best": beam}
        ours = decode(evaluate, 3, length_penalty=length_penalty, **search, **common)
        assert_same(ours, theirs)
    plain = fairseq_results(model, sentences, beam, None, min_len=min_len, normalize_scores=False)
    assert_same(decode(evaluate, 3, normalization="none", **search, **common), plain)


@pytest.mark.parametrize(("model", "beam", "min_len"), problems())
def test_vgbs_without_value_is_fairseqs_beam_search(
    model: ToyModel, beam: int, min_len: int
) -> None:
    sentences = [8, 9]
    theirs = fairseq_results(model, sentences, beam, None, min_len=min_len)
    ours = decode(
        ToyEvaluator(model, EOS, sentences),
        2,
        search="vgbs",
        alpha=0.0,
        beam=beam,
        n_best=beam,
        eos=EOS,
        max_len=MAX_LEN,
        min_len=min_len,
        forbidden=(PAD,),
    )
    assert_same(ours, theirs)


@pytest.mark.parametrize(("model", "beam", "min_len"), problems()[:10])
def test_forced_prefixes_are_fairseqs(model: ToyModel, beam: int, min_len: int) -> None:
    prefixes = [(4, 5), (6, 4)]
    theirs = fairseq_results(model, [1, 2], beam, prefixes, min_len=min_len)
    ours = decode(
        ToyEvaluator(model, EOS, [1, 2]),
        2,
        search="beam",
        beam=beam,
        n_best=beam,
        eos=EOS,
        max_len=MAX_LEN,
        min_len=min_len,
        forbidden=(PAD,),
        prefixes=prefixes,
    )
    assert_same(ours, theirs)
