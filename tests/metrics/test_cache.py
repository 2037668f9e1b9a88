"""The bounded memory forgets the right things."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from fairseq_mcts.metrics.cache import LruCache


def test_forgets_what_was_used_longest_ago() -> None:
    cache: LruCache[str, int] = LruCache(2)
    cache.put("a", 1)
    cache.put("b", 2)
    assert cache.get("a") == 1  # now "b" is the older one
    cache.put("c", 3)
    assert "b" not in cache
    assert cache.get("a") == 1 and cache.get("c") == 3
    cache.clear()
    assert len(cache) == 0 and cache.get("a") is None


def test_too_large_a_value_is_not_kept_and_drops_nothing() -> None:
    cache: LruCache[str, str] = LruCache(10)
    cache.put("a", "x", cost=9)
    cache.put("b", "y", cost=11)
    assert "a" in cache and "b" not in cache
    cache.put("a", "z", cost=11)  # its old value would be wrong
    assert "a" not in cache and cache.cost == 0


def test_negative_capacity_is_refused() -> None:
    with pytest.raises(ValueError, match="cannot be negative"):
        LruCache(-1)


@given(
    st.integers(0, 20),
    st.lists(st.tuples(st.integers(0, 8), st.integers(1, 8), st.booleans()), max_size=60),
)
def test_agrees_with_a_slow_model(capacity: int, actions: list[tuple[int, int, bool]]) -> None:
    cache: LruCache[int, int] = LruCache(capacity)
    model: list[tuple[int, int, int]] = []  # key, value, cost; oldest first
    for step, (key, cost, is_put) in enumerate(actions):
        known = next((entry for entry in model if entry[0] == key), None)
        if is_put:
            cache.put(key, step, cost)
            model = [entry for entry in model if entry[0] != key]
            if cost <= capacity:
                model.append((key, step, cost))
            while sum(entry[2] for entry in model) > capacity:
                model.pop(0)
        else:
            assert cache.get(key) == (known[1] if known else None)
            if known:
                model.remove(known)
                model.append(known)
        assert len(cache) == len(model)
        assert cache.cost == sum(entry[2] for entry in model)
