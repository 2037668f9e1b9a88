"""COMET's quality estimation steers a search, through unbabel-comet's own model."""

import pytest

pytest.importorskip("comet", reason="unbabel-comet is not installed")

import comet

from fairseq_mcts.metrics.text import TextDecoder
from tests.generators.harness import load
from tests.generators.trained import Trained
from tests.metrics.comet_checkpoints import make_encoder, save_model

pytestmark = pytest.mark.slow

SENTENCES = range(50)


def test_samples_are_ranked_by_what_the_package_predicts(
    trained: Trained, tmp_path_factory: pytest.TempPathFactory
) -> None:
    folder = tmp_path_factory.mktemp("comet")
    lines = [line for name in ("train.en", "train.de") for line in trained.lines(name)[:300]]
    encoder = make_encoder(folder / "encoder", lines)
    path = save_model(folder / "qe", "referenceless_regression_metric", encoder)
    setup = load(trained, trained.plain)
    found = setup.generate(
        SENTENCES,
        batch_size=20,
        **{"search": "sr", "sr_samples": 4, "sr_rank_by": "metric", "nbest": 2},
        search_metric=f"comet_qe:model={path},clamp=no",
        search_post_process="sentencepiece",
    )
    text = TextDecoder(setup.task.target_dictionary, post_process="sentencepiece").decode
    best = [found[number][0] for number in SENTENCES]
    samples = [
        {"src": text(source), "mt": text(one["tokens"])}
        for source, one in zip(setup.sources(SENTENCES), best, strict=True)
    ]
    model = comet.load_from_checkpoint(str(path))
    expected = model.predict(samples, gpus=0, progress_bar=False).scores
    assert [one["metric"] for one in best] == pytest.approx(expected, abs=1e-5)
    several = [hypotheses for hypotheses in found.values() if len(hypotheses) == 2]
    assert len(several) > 25
    assert all(first["metric"] >= second["metric"] for first, second in several)
