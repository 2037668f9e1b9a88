"""Multi-query attention against the textbook: every head on its own, with the shared key."""

import pytest
import torch
from torch import Tensor

from fairseq_mcts.models.multiquery_attention import MultiQueryAttention
from tests.models.toys import skip_unless_cpu_can

BATCH, QUERIES, KEYS, WIDTH, HEADS, HEAD_DIM = 3, 5, 7, 12, 4, 6


@pytest.fixture
def attention() -> MultiQueryAttention:
    torch.manual_seed(0)
    return MultiQueryAttention(WIDTH, HEADS, HEAD_DIM, source_dim=10).eval()


@pytest.fixture
def query() -> Tensor:
    return torch.randn(BATCH, QUERIES, WIDTH, generator=torch.Generator().manual_seed(1))


@pytest.fixture
def source() -> Tensor:
    return torch.randn(BATCH, KEYS, 10, generator=torch.Generator().manual_seed(2))


def head_by_head(
    attention: MultiQueryAttention, query: Tensor, source: Tensor, hidden: Tensor
) -> tuple[Tensor, Tensor]:
    """Attention written as its definition; `hidden` is a boolean [B, T, S]."""
    key, value = attention.k_proj(source), attention.v_proj(source)
    outputs, weights = [], []
    for q in attention.q_proj(query).split(HEAD_DIM, dim=-1):
        scores = torch.einsum("btd,bsd->bts", q, key) / HEAD_DIM**0.5
        weights.append(scores.masked_fill(hidden, -torch.inf).softmax(dim=-1))
        outputs.append(torch.einsum("bts,bsd->btd", weights[-1], value))
    return attention.out_proj(torch.cat(outputs, dim=-1)), torch.stack(weights).mean(dim=0)


def test_equals_the_definition(
    attention: MultiQueryAttention, query: Tensor, source: Tensor
) -> None:
    hidden = torch.rand(BATCH, QUERIES, KEYS, generator=torch.Generator().manual_seed(3)) < 0.4
    hidden[..., 0] = False
    output, weights = attention(query, source, mask=hidden, need_weights=True)
    expected_output, expected_weights = head_by_head(attention, query, source, hidden)
    torch.testing.assert_close(output, expected_output)
    torch.testing.assert_close(weights, expected_weights)


def test_masks_broadcast_over_sentences_and_queries(
    attention: MultiQueryAttention, query: Tensor, source: Tensor
) -> None:
    of_keys = torch.zeros(BATCH, 1, KEYS, dtype=torch.bool)
    of_keys[1, 0, 4:] = True
    of_queries = torch.ones(QUERIES, KEYS, dtype=torch.bool).triu(1)
    for mask in (of_keys, of_queries):
        output, _ = attention(query, source, mask=mask)
        hidden = mask.expand(BATCH, QUERIES, KEYS)
        torch.testing.assert_close(output, head_by_head(attention, query, source, hidden)[0])


def test_query_without_visible_key_stays_finite(
    attention: MultiQueryAttention, query: Tensor, source: Tensor
) -> None:
    output, weights = attention(
        query, source, mask=torch.ones(QUERIES, KEYS, dtype=torch.bool), need_weights=True
    )
    assert torch.isfinite(output).all()
    torch.testing.assert_close(weights, torch.full_like(weights, 1 / KEYS))


def test_weights_only_on_demand(
    attention: MultiQueryAttention, query: Tensor, source: Tensor
) -> None:
    assert attention(query, source)[1] is None


def test_half_precision_survives_large_scores(
    attention: MultiQueryAttention, query: Tensor, source: Tensor
) -> None:
    """Scores of several thousand: exp() of them overflows every type, their softmax must not."""
    skip_unless_cpu_can(torch.float16)
    attention.half()
    output, weights = attention(query.half() * 200, source.half() * 200, need_weights=True)
    assert torch.isfinite(output).all()
    torch.testing.assert_close(weights.sum(-1), torch.ones(BATCH, QUERIES))


def test_one_key_and_value_per_position_are_remembered() -> None:
    attention = MultiQueryAttention(WIDTH, HEADS, HEAD_DIM).eval()
    state: dict[str, dict[str, Tensor]] = {}
    for step in range(3):
        x = torch.randn(BATCH, 1, WIDTH)
        attention(x, x, incremental_state=state)
        (cache,) = state.values()
        assert {name: rows.shape for name, rows in cache.items()} == {
            "prev_key": (BATCH, step + 1, HEAD_DIM),
            "prev_value": (BATCH, step + 1, HEAD_DIM),
        }


def test_static_source_is_projected_once(
    attention: MultiQueryAttention, query: Tensor, source: Tensor
) -> None:
    state: dict[str, dict[str, Tensor]] = {}
    calls: list[int] = []
    attention.k_proj.register_forward_hook(lambda *_: calls.append(1))
    first, _ = attention(query, source, incremental_state=state, static_source=True)
    second, _ = attention(query, source, incremental_state=state, static_source=True)
    assert len(calls) == 1
    torch.testing.assert_close(first, second)


def test_reordering_moves_rows_across_sentences(
    attention: MultiQueryAttention, query: Tensor, source: Tensor
) -> None:
    """As many rows as before, but another sentence's: the case that fairseq's own skips."""
    order = torch.tensor([2, 0, 0])
    state: dict[str, dict[str, Tensor]] = {}
    attention(query, source, incremental_state=state, static_source=True)
    attention.reorder_incremental_state(state, order)
    moved, _ = attention(query, source[order], incremental_state=state, static_source=True)
    torch.testing.assert_close(moved, attention(query, source[order])[0])


def test_reordering_an_empty_state_is_harmless(attention: MultiQueryAttention) -> None:
    state: dict[str, dict[str, Tensor]] = {}
    attention.reorder_incremental_state(state, torch.tensor([0]))
    assert state == {}
