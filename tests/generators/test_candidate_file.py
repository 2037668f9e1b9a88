"""--search-json: what it holds of every decoder, and what is refused."""

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

from tests.generators.harness import DECODERS, Setup, load, run_generate, run_interactive
from tests.generators.test_commands import sentencepiece
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow

SENTENCES = (3, 20, 21)
TEXT = {"search_post_process": "sentencepiece"}


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


def read(path: Path) -> dict[int, dict[str, Any]]:
    found = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    assert len({one["id"] for one in found}) == len(found)
    return {one["id"]: one for one in found}


@pytest.mark.parametrize("decoder", ["beam", *DECODERS])
def test_every_decoders_hypotheses(
    decoder: str, setup: Setup, trained: Trained, tmp_path: Path
) -> None:
    options = {**DECODERS.get(decoder, {"search": "beam", "beam": 3}), "max_len_b": 15, **TEXT}
    path = tmp_path / "candidates.jsonl"
    found = setup.generate(SENTENCES, batch_size=2, search_json=str(path), nbest=2, **options)
    written = read(path)
    assert written.keys() == set(SENTENCES)
    symbols = setup.task.target_dictionary.symbols
    for number, one in written.items():
        assert one["source"] == trained.lines("test.en")[number]
        assert one["reference"] == trained.lines("test.de")[number]
        assert one["search"] == options["search"]
        if decoder != "beam":
            counts = found[number][0]["evaluations"]
            assert (one["charged"], one["made"]) == tuple(counts)
        assert len(one["hypotheses"]) == len(found[number]) > 0
        for saved, hypothesis in zip(one["hypotheses"], found[number], strict=True):
            tokens = hypothesis["tokens"].tolist()
            assert saved["tokens"] == [symbols[token] for token in tokens]
            text = "".join(saved["tokens"][:-1]).replace("▁", " ").strip()
            assert saved["text"] == text
            assert saved["logprob"] == pytest.approx(
                hypothesis["positional_scores"].sum().item(), abs=1e-4
            )
            mean = saved["logprob"] / len(tokens)
            assert saved["likelihood"] == pytest.approx(math.exp(mean))
            assert saved["score"] == pytest.approx(
                float(hypothesis.get("search_score", hypothesis["score"]))
            )
            for name in ("value", "metric"):
                assert saved[name] == hypothesis.get(name)
            assert saved["visits"] == list(hypothesis.get("visits", ()))
            assert saved["weight"] == hypothesis.get("weight", 1.0) > 0


def test_samples_say_how_often_they_were_drawn(setup: Setup, tmp_path: Path) -> None:
    path = tmp_path / "candidates.jsonl"
    options = {"search": "sr", "sr_samples": 30, "sr_temperature": 0.5, "max_len_b": 15, **TEXT}
    setup.generate(SENTENCES, search_json=str(path), nbest=30, **options)
    for one in read(path).values():
        assert sum(hypothesis["weight"] for hypothesis in one["hypotheses"]) == 30


def test_commands_write_what_they_print(trained: Trained, tmp_path: Path) -> None:
    path = tmp_path / "generated.jsonl"
    text = ("--post-process", "sentencepiece", "--search-post-process", "sentencepiece")
    mcts = ("--search", "mcts", "--mcts-simulations", "4", "--max-len-b", "15", "--nbest", "2")
    output = run_generate(
        trained,
        *(*mcts, *text, "--gen-subset", "valid", "--search-json", str(path)),
        results=tmp_path,
    )
    printed: dict[int, list[str]] = {}
    for number, hypothesis in re.findall(r"^D-(\d+)\t\S+\t(.*)$", output, re.MULTILINE):
        printed.setdefault(int(number), []).append(hypothesis)
    written = read(path)
    assert printed == {
        number: [found["text"] for found in one["hypotheses"]] for number, one in written.items()
    }
    given = trained.lines("test.en")[:3]
    path = tmp_path / "interactive.jsonl"
    run_interactive(
        trained,
        [*given, given[0]],
        *(*mcts, *sentencepiece(trained), "--buffer-size", "4", "--search-json", str(path)),
        folder=tmp_path / "input",
    )
    written = read(path)
    assert [written[number]["source"] for number in range(4)] == [*given, given[0]]
    assert "reference" not in written[0]


def test_refusals(setup: Setup, tmp_path: Path) -> None:
    nowhere = str(tmp_path / "no" / "folder" / "file")
    with pytest.raises(ValueError, match=rf"^--search-json {nowhere}: can't write there"):
        setup.generator(search="sr", search_json=nowhere)
    path = str(tmp_path / "file")
    with pytest.raises(
        ValueError, match="text, not subwords: give --bpe, or --search-post-process"
    ):
        setup.generate(SENTENCES, search="beam", search_json=path)
