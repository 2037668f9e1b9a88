"""The example of a user's own decoder: by decode, fairseq's commands, the hub and a sweep."""

import importlib
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.search import decode, decoder_names, registry
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained
from tests.search.toy_models import ToyEvaluator, ToyModel

EXAMPLE = Path(__file__).parents[3] / "examples" / "custom_decoder"
SEARCH = ("--search", "length_bonus", "--length-bonus-simulations", "8")


@pytest.fixture
def registered() -> Iterator[None]:
    """The decoder in this process, and afterwards no longer."""
    importlib.import_module("examples.custom_decoder")
    registry.register_decoder("length_bonus")(
        importlib.import_module("examples.custom_decoder.length_bonus").LengthBonus
    )
    yield
    registry.unregister_decoder("length_bonus")
    assert "length_bonus" not in decoder_names()


def test_it_is_short() -> None:
    assert len((EXAMPLE / "length_bonus.py").read_text().splitlines()) <= 60


@pytest.mark.usefixtures("registered")
@pytest.mark.parametrize("bonus", [-1.0, 0.0, 0.05, 2.0])
def test_it_returns_the_best_of_all_that_mcts_meets(bonus: float) -> None:
    model = ToyModel(vocab=7, eos=2, seed=4, policy="flat")
    common: dict[str, Any] = {"eos": 2, "min_len": 2, "max_len": 6, "simulations": 100}
    met = decode(ToyEvaluator(model, 2, range(3)), 3, search="mcts", n_best=1000, **common)
    found = decode(
        ToyEvaluator(model, 2, range(3)), 3, search="length_bonus", bonus=bonus, n_best=2, **common
    )
    for several, ours in zip(met, found, strict=True):
        assert len(several) > 2, "there would be nothing to choose from"

        def worth(one: Any) -> float:
            return one.logprob / len(one.tokens) + bonus * len(one.tokens)

        best = sorted(map(worth, several), reverse=True)
        assert [worth(one) for one in ours] == [one.score for one in ours] == best[:2]
        assert ours[0].evaluations == several[0].evaluations


def lines(text: str, letter: str) -> list[str]:
    return re.findall(rf"^{letter}-.*$", text, flags=re.MULTILINE)


@pytest.mark.slow
def test_fairseqs_commands_take_it_and_its_flags(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
) -> None:
    common = [
        *(str(trained.data), "--path", str(trained.dual), "--user-dir", str(EXAMPLE), "--cpu"),
        *("--task", "translation_mcts", "--max-len-b", "15", *SEARCH),
    ]
    outputs = {
        bonus: run("fairseq-generate", *common, "--length-bonus-bonus", bonus) for bonus in "02"
    }
    assert "with search=length_bonus" in outputs["0"]
    tokens = {bonus: sum(map(len, lines(text, "P"))) for bonus, text in outputs.items()}
    assert tokens["2"] > tokens["0"]
    assert len(lines(outputs["2"], "V")) == len(lines(outputs["2"], "H")) > 0

    text = tmp_path / "input"
    text.write_text("\n".join(trained.lines("test.en")[:3]) + "\n", encoding="utf-8")
    interactive = run(
        "fairseq-interactive",
        *(*common, "--source-lang", "en", "--target-lang", "de", "--input", str(text)),
        *("--bpe", "sentencepiece", "--sentencepiece-model", str(trained.sentencepiece)),
    )
    assert len(lines(interactive, "D")) == 3

    table = run(
        "fairseq-mcts-sweep",
        *(*common, "--post-process", "sentencepiece", "--sweep", "length-bonus-bonus"),
        *("--sweep-metric", "bleu", "--sweep-sentences", "4", "--sweep-out", str(tmp_path / "out")),
    )
    assert "best by bleu: --length-bonus-bonus" in table
    assert len(list((tmp_path / "out").glob("trial-*.json"))) == 3

    refused = run("fairseq-generate", *common, "--mcts-simulations", "4", fails=True)
    assert "--mcts-simulations 4: has no effect with --search length_bonus" in refused


@pytest.mark.slow
@pytest.mark.usefixtures("registered")
def test_the_hub_takes_it(trained: Trained) -> None:  # noqa: F811
    from fairseq import hub_utils

    loaded = hub_utils.from_pretrained(
        str(trained.folder),
        checkpoint_file=trained.dual.name,
        data_name_or_path=str(trained.data),
        bpe="sentencepiece",
        sentencepiece_model=str(trained.sentencepiece),
    )
    hub = hub_utils.GeneratorHubInterface(loaded["args"], loaded["task"], loaded["models"])
    sources = trained.lines("test.en")[:4]
    options = {"search": "length_bonus", "length_bonus_simulations": 8}
    short, long = (hub.translate(sources, length_bonus_bonus=one, **options) for one in (-2, 2))
    assert sum(map(len, short)) < sum(map(len, long))
    with pytest.raises(ValueError, match=r"^length_bonus_bonsu: the searches have no such option"):
        hub.translate(sources, length_bonus_bonsu=1, **options)


def run(command: str, *arguments: str, fails: bool = False) -> str:
    program = Path(sys.executable).parent / command
    done = subprocess.run([str(program), *arguments], capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == fails, done.stderr
    return done.stderr if fails else done.stdout
