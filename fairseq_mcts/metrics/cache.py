"""A bounded memory that forgets what was used longest ago."""

from collections import OrderedDict
from collections.abc import Hashable, Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class LruCache(Generic[Key, Value]):
    """Keeps values until their summed cost exceeds `capacity`, then drops the least recently used.

    A single value that costs more than the whole capacity is not kept at all.
    """

    def __init__(self, capacity: int) -> None:
        if capacity < 0:
            raise ValueError(f"the capacity of a cache cannot be negative: {capacity}")
        self.capacity = capacity
        self.cost = 0
        self._entries: OrderedDict[Key, tuple[Value, int]] = OrderedDict()

    def get(self, key: Key) -> Value | None:
        """The value kept for `key`, now the most recently used one, or None."""
        entry = self._entries.get(key)
        if entry is None:
            return None
        self._entries.move_to_end(key)
        return entry[0]

    def partition(self, keys: Iterable[Key]) -> tuple[dict[Key, Value], list[Key]]:
        """What is kept for the keys, and those for which nothing is; repetitions count once."""
        kept: dict[Key, Value] = {}
        missing: list[Key] = []
        for key in dict.fromkeys(keys):
            value = self.get(key)
            if value is None:
                missing.append(key)
            else:
                kept[key] = value
        return kept, missing

    def put(self, key: Key, value: Value, cost: int = 1) -> None:
        """Keeps `value`, forgetting older ones as far as its cost demands."""
        previous = self._entries.pop(key, None)
        if previous is not None:
            self.cost -= previous[1]
        if cost > self.capacity:
            return
        self._entries[key] = (value, cost)
        self.cost += cost
        while self.cost > self.capacity:
            _, (_, dropped) = self._entries.popitem(last=False)
            self.cost -= dropped

    def clear(self) -> None:
        """Forgets everything."""
        self._entries.clear()
        self.cost = 0

    def __len__(self) -> int:
        return len(self._entries)

    def __contains__(self, key: Key) -> bool:
        return key in self._entries
