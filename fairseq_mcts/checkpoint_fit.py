"""Whether the embeddings of a checkpoint fit the dictionaries of a task."""

from collections.abc import Mapping
from typing import Any


def other_vocabulary(weights: Mapping[str, Any], task: Any) -> str | None:
    """What tells that the embeddings are not of as many types as the task's dictionaries have."""
    sides = {"encoder": task.source_dictionary, "decoder": task.target_dictionary}
    for side, dictionary in sides.items():
        embeddings = weights.get(f"{side}.embed_tokens.weight")
        # tasks of one language have a single dictionary, or none
        if embeddings is None or dictionary is None or len(embeddings) == len(dictionary):
            continue
        return (
            f"its {side} has a vocabulary of {len(embeddings)} types, but the dictionary of "
            f"the data has {len(dictionary)}"
        )
    return None
