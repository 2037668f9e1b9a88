"""A folder of decodings that is made once."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.report.runs import MARKUP, text_of, toy_search, write_generated

NUM_SENTENCES = 60
RECORDED = tuple(range(6))


@pytest.fixture(scope="session")
def decodings(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Results folders: beam, and three searches with their records."""
    folder = tmp_path_factory.mktemp("decodings")
    sources = [f"The {number} old houses of Anna." for number in range(NUM_SENTENCES)]
    references = [f"Die {number} alten Häuser von Anna." for number in range(NUM_SENTENCES)]
    sources[5] = f"Source with {MARKUP}"
    references[5] = f"Referenz mit {MARKUP}"
    worse = [f"Die {number} alten Haus." for number in range(NUM_SENTENCES)]
    worse[4] = "Die vier alten houses von Anna."
    write_generated(folder / "beam", sources, references, worse)
    searches: dict[str, dict[str, Any]] = {
        "mcts-4": {"search": "mcts", "simulations": 4},
        "mcts-20": {"search": "mcts", "simulations": 20, "deviation": 0.125},
        "vgbs": {"search": "vgbs", "beam": 3, "deviation": 0.25},
        "sr": {"search": "sr", "samples": 9},
    }
    for name, options in searches.items():
        (folder / name).mkdir()
        found = toy_search(RECORDED, folder / name / "searches.jsonl.gz", **options)
        texts = [f"Die {number} alten Häuser von Anna." for number in range(NUM_SENTENCES)]
        for number, one in zip(RECORDED, found, strict=True):
            texts[number] = text_of(one.tokens)
        texts[7] = "Die alten Häuser."  # loses a number and a name
        texts[20] = worse[20]
        charged = options.get("simulations", 12)
        values = [0.5 + number / 200 for number in range(NUM_SENTENCES)]
        write_generated(
            folder / name,
            sources,
            references,
            texts,
            search=options["search"],
            values=values,
            logprob=-1.0,
            charged=charged,
        )
    return folder
