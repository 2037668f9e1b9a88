"""Random networks that decode like trained ones."""

import networks
import pytest
import torch

from fairseq_mcts.search import make_decoder

MODELS = {
    "multi-query": lambda: networks.multiquery("multiquery_transformer", "tiny", 1),
    "multi-head": lambda: networks.multihead("tiny", 1),
}


@pytest.mark.parametrize("kind", MODELS)
def test_sentences_end_of_themselves_and_policies_are_peaked(kind: str) -> None:
    model = MODELS[kind]()
    sources = networks.make_sources(model.encoder.dictionary, 32, seed=1)
    assert all(12 <= len(source) - 1 <= 30 for source in sources)
    generator = networks.search_generator(model, make_decoder("beam", {"beam": 1}))
    results = generator.generate([model], networks.make_sample(model, sources))
    lengths = [len(tokens) - 1 for tokens in networks.best_tokens(results)]
    assert len(set(lengths)) > 4  # batches get smaller little by little
    ended_freely = sum(networks.MIN_LENGTH < one < networks.MAX_LENGTH for one in lengths)
    assert ended_freely > 24
    scores = torch.cat([one[0]["positional_scores"] for one in results])
    assert 0.5 < float(scores.exp().mean()) < 0.9


def test_padding_is_on_the_left_as_in_fairseq() -> None:
    model = networks.multihead("tiny", 1)
    sources = networks.make_sources(model.encoder.dictionary, 4, seed=1)
    tokens = networks.make_sample(model, sources)["net_input"]["src_tokens"]
    for row, source in zip(tokens, sources, strict=True):
        assert torch.equal(row[len(row) - len(source) :], source)
        assert (row[: len(row) - len(source)] == model.encoder.dictionary.pad()).all()
