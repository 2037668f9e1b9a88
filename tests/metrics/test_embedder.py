"""Nothing is computed twice, and memory stays bounded."""

import pytest
import torch

from fairseq_mcts.metrics.embedder import PairScorer, TextEmbedder
from fairseq_mcts.metrics.encoder import load_encoder
from fairseq_mcts.metrics.matching import TokenBatch, greedy_match


@pytest.fixture
def embedder(toy_encoder) -> TextEmbedder:
    return TextEmbedder(load_encoder(str(toy_encoder)), batch_size=4)


def test_each_text_is_encoded_once(embedder) -> None:
    scorer = PairScorer(embedder)
    first = scorer.precision_recall(["a", "b", "a", "a"], ["s", "s", "s", "t"])
    assert embedder.encoded_texts == 4  # a, b, s, t
    assert first[0] == first[2]
    assert scorer.precision_recall(["a", "b"], ["s", "s"]) == first[:2]
    assert embedder.encoded_texts == 4  # pairs are remembered
    scorer.precision_recall(["c"], ["s"])
    assert embedder.encoded_texts == 5  # and so is the source
    assert scorer.precision_recall([], []) == []


def test_kept_vectors_stay_within_their_bound(toy_encoder, toy_pairs) -> None:
    small = TextEmbedder(load_encoder(str(toy_encoder)), cache_mb=0)
    scorer = PairScorer(small, remembered_pairs=0)
    for _ in range(2):
        scorer.precision_recall(toy_pairs.targets[:10], toy_pairs.sources[:10])
    assert small.encoded_texts == 40  # nothing could be kept


def test_kept_vectors_do_not_hold_their_batch(embedder) -> None:
    kept = embedder.embed_kept(["der Hund", "der alte Lehrer sieht das Buch im Garten."])
    for vectors in kept.values():
        storage = vectors.embeddings.untyped_storage().nbytes()
        assert storage == vectors.embeddings.nbytes
    torch.testing.assert_close(
        kept["der Hund"].embeddings.norm(dim=-1), torch.ones(len(kept["der Hund"].tokens))
    )


def test_batches_are_sorted_by_length_and_bounded(embedder) -> None:
    texts = ["Hund " * n for n in (1, 40, 2, 39, 3, 38, 4, 37)]
    shapes = [tuple(tokens.shape) for _, _, tokens in embedder.embed_batches(texts)]
    assert shapes == [(4, 6), (4, 42)]


def test_greedy_match_equals_the_formula_token_by_token() -> None:
    torch.manual_seed(3)
    lengths = [(3, 5), (4, 2), (1, 1), (5, 4)]
    hypothesis = torch.nn.functional.normalize(torch.randn(4, 5, 6), dim=-1)
    other = torch.nn.functional.normalize(torch.randn(4, 5, 6), dim=-1)
    weights = torch.rand(2, 4, 5)
    masks = torch.zeros(2, 4, 5, dtype=torch.bool)
    for row, (own, others) in enumerate(lengths):
        masks[0, row, :own] = True
        masks[1, row, :others] = True
    weights = weights * masks
    precision, recall, *_ = greedy_match(
        TokenBatch(hypothesis, weights[0], masks[0]), TokenBatch(other, weights[1], masks[1])
    )
    for row, (own, others) in enumerate(lengths):
        best = [
            max(float(hypothesis[row, i] @ other[row, j]) for j in range(others))
            for i in range(own)
        ]
        total = sum(float(weights[0, row, i]) for i in range(own))
        expected = sum(float(weights[0, row, i]) * best[i] for i in range(own)) / total
        assert float(precision[row]) == pytest.approx(expected, abs=1e-6)
        best = [
            max(float(hypothesis[row, i] @ other[row, j]) for i in range(own))
            for j in range(others)
        ]
        total = sum(float(weights[1, row, j]) for j in range(others))
        expected = sum(float(weights[1, row, j]) * best[j] for j in range(others)) / total
        assert float(recall[row]) == pytest.approx(expected, abs=1e-6)
