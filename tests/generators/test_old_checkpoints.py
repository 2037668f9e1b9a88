"""Checkpoints as fairseq 0.9, 0.10 to 0.12 and its main branch saved them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.models.checkpoints import load_model
from tests.generators.harness import Setup, load
from tests.generators.trained import Trained
from tests.old_checkpoints import save_as_container, save_as_namespace, save_as_tree

pytestmark = pytest.mark.slow

SENTENCES = range(6)
SEARCHES: dict[str, dict[str, Any]] = {
    "beam": {"beam": 3},
    "sr": {
        **{"search": "sr", "sr_samples": 4, "sr_rank_by": "metric"},
        **{"search_metric": "vowels", "search_post_process": "sentencepiece"},
    },
}
FORMATS: dict[str, Callable[..., Path]] = {
    "namespace": save_as_namespace,
    "tree": save_as_tree,
    "container": save_as_container,
}


def translations(setup: Setup) -> list[tuple[list[int], float]]:
    return [
        (hypotheses[0]["tokens"].tolist(), float(hypotheses[0]["score"]))
        for options in SEARCHES.values()
        for hypotheses in setup.generate(SENTENCES, **options).values()
    ]


@pytest.fixture(scope="module")
def expected(trained: Trained) -> list[tuple[list[int], float]]:
    return translations(load(trained, trained.plain))


@pytest.mark.parametrize("name", list(FORMATS))
def test_checkpoints_of_every_format_translate_alike(
    name: str, trained: Trained, expected: Any, tmp_path: Path
) -> None:
    path = FORMATS[name](trained.plain, tmp_path / "old.pt")
    assert translations(load(trained, path)) == expected
    model, saved = load_model(
        "--path", path, load(trained, trained.plain).task, overrides={"dropout": 0.3}
    )
    assert model.decoder.layers[0].dropout_module.p == 0.3
    assert saved.task._name in ("translation", "translation_mcts")


@pytest.mark.parametrize("name", list(FORMATS))
def test_models_that_mark_languages_are_refused_by_name(
    name: str, trained: Trained, tmp_path: Path
) -> None:
    task = {"task" if name == "namespace" else "_name": "translation_multi_simple_epoch"}
    path = FORMATS[name](trained.plain, tmp_path / "old.pt", **task)
    with pytest.raises(
        ValueError, match=r"trained with --task translation_multi_simple_epoch, which marks lang"
    ):
        load(trained, path)
