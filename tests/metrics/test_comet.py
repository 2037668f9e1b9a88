"""COMET through unbabel-comet's own model classes: small checkpoints that the package has saved."""

import sys
from pathlib import Path
from typing import Any, NamedTuple

import pytest
import torch

from fairseq_mcts.metrics import build_metric, with_sources
from tests.conftest import ParallelTexts

comet = pytest.importorskip("comet", reason="unbabel-comet is not installed")

from tests.metrics.comet_checkpoints import make_encoder, save_model  # noqa: E402

KINDS: dict[str, tuple[str, dict[str, Any]]] = {
    "referenceless": ("referenceless_regression_metric", {}),
    "kiwi": ("unified_metric", {"input_segments": ["mt", "src"]}),
    "regression": ("regression_metric", {}),
    "unite": ("unified_metric", {"input_segments": ["mt", "src", "ref"]}),
}
SENTENCES = 40


class Models(NamedTuple):
    """The checkpoint of each kind, and the encoder that all were made of."""

    checkpoints: dict[str, Path]
    encoder: Path


@pytest.fixture(scope="module")
def models(tmp_path_factory: pytest.TempPathFactory, toy_pairs: ParallelTexts) -> Models:
    folder = tmp_path_factory.mktemp("comet")
    encoder = make_encoder(folder / "encoder", [*toy_pairs.sources[:200], *toy_pairs.targets[:200]])
    checkpoints = {
        name: save_model(folder / name, kind, encoder, **options)
        for name, (kind, options) in KINDS.items()
    }
    return Models(checkpoints, encoder)


class Texts(NamedTuple):
    sources: list[str]
    hypotheses: list[str]
    references: list[str]


@pytest.fixture
def texts(toy_pairs: ParallelTexts) -> Texts:
    references = toy_pairs.targets[:SENTENCES]
    hypotheses = [line.replace("der ", "die ").rstrip(".") for line in references]
    hypotheses[3] = ""
    return Texts(toy_pairs.sources[:SENTENCES], hypotheses, references)


def by_the_package(path: Path, samples: list[dict[str, str]]) -> list[float]:
    model = comet.load_from_checkpoint(str(path))
    scores: list[float] = model.predict(samples, gpus=0, progress_bar=False).scores
    return scores


@pytest.mark.parametrize("kind", ["referenceless", "kiwi", "unite"])
def test_quality_estimates_are_those_of_the_package(
    models: Models, texts: Texts, kind: str
) -> None:
    path = models.checkpoints[kind]
    expected = by_the_package(
        path,
        [{"src": s, "mt": t} for s, t in zip(texts.sources, texts.hypotheses, strict=True)],
    )
    assert max(expected) > min(expected)
    metric = build_metric(f"comet_qe:model={path},clamp=no")
    assert not metric.privileged
    assert metric.score(texts.hypotheses, texts.sources) == pytest.approx(expected, abs=1e-6)
    # as a search asks: a few at a time
    one_by_one = build_metric(f"comet_qe:model={path},clamp=no")
    for begin in range(0, SENTENCES, 3):
        part = slice(begin, begin + 3)
        found = one_by_one.score(texts.hypotheses[part], texts.sources[part])
        assert found == pytest.approx(expected[part], abs=1e-5)


@pytest.mark.parametrize("kind", ["regression", "unite"])
def test_scores_with_references_are_those_of_the_package(
    models: Models, texts: Texts, kind: str
) -> None:
    path = models.checkpoints[kind]
    samples = [{"src": s, "mt": t, "ref": r} for s, t, r in zip(*texts, strict=True)]
    metric = build_metric(f"comet:model={path.parent.parent},clamp=no")  # the folder serves too
    assert metric.privileged and metric.reads_source
    found = metric.score(texts.hypotheses, with_sources(texts.references, texts.sources))
    assert found == pytest.approx(by_the_package(path, samples), abs=1e-6)
    with pytest.raises(ValueError, match=r"^comet: reads sources beside references, and got none"):
        metric.score(texts.hypotheses, texts.references)


def test_scores_stay_in_range_unless_told_otherwise(models: Models, texts: Texts) -> None:
    path = models.checkpoints["regression"]
    others = with_sources(texts.references, texts.sources)
    raw = build_metric(f"comet:model={path},clamp=no")
    assert raw.range == (float("-inf"), float("inf"))
    assert "clamp:no" in raw.signature()
    scores = raw.score(texts.hypotheses, others)
    assert min(scores) < 0  # else the test shows nothing
    cut = build_metric(f"comet:model={path}").score(texts.hypotheses, others)
    assert cut == [min(max(score, 0.0), 1.0) for score in scores]


def test_pairs_are_asked_once(models: Models, texts: Texts, monkeypatch: Any) -> None:
    metric: Any = build_metric(f"comet_qe:model={models.checkpoints['kiwi']}")
    asked: list[int] = []
    predict = metric._model.predict
    monkeypatch.setattr(
        metric._model, "predict", lambda samples: (asked.append(len(samples)), predict(samples))[1]
    )
    places = [0, 1, 2, 0]
    twice = metric.score(
        [texts.hypotheses[place] for place in places], [texts.sources[place] for place in places]
    )
    assert twice[0] == twice[3]
    metric.score(texts.hypotheses[:4], texts.sources[:4])
    assert asked == [3, 1]


def test_models_of_the_other_kind_are_refused(models: Models) -> None:
    with pytest.raises(ValueError, match="needs references; choose a quality-estimation model"):
        build_metric(f"comet_qe:model={models.checkpoints['regression']}")
    for kind in ("referenceless", "kiwi"):
        with pytest.raises(ValueError, match="reads no references; use the metric comet_qe"):
            build_metric(f"comet:model={models.checkpoints[kind]}")


def test_an_encoder_that_is_not_here_can_be_given_as_a_folder(
    models: Models, texts: Texts, tmp_path: Path
) -> None:
    path = save_model(tmp_path / "moved", KINDS["referenceless"][0], models.encoder)
    settings = path.parent.parent / "hparams.yaml"
    expected = build_metric(f"comet_qe:model={path}").score(texts.hypotheses, texts.sources)
    state = torch.load(path, weights_only=False)
    state["hyper_parameters"]["pretrained_model"] = "no-such/encoder"
    torch.save(state, path)
    settings.write_text(settings.read_text().replace(str(models.encoder), "no-such/encoder"))

    with pytest.raises(ValueError, match=r"'no-such/encoder' are not on this machine; give"):
        build_metric(f"comet_qe:model={path}")
    metric = build_metric(f"comet_qe:model={path},encoder={models.encoder}")
    assert metric.score(texts.hypotheses, texts.sources) == expected


def test_missing_files_are_named(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError, match=r"no checkpoint file .*missing\.ckpt"):
        build_metric("comet_qe", {"model": str(tmp_path / "missing.ckpt")})
    with pytest.raises(FileNotFoundError, match=r"has no checkpoints/model\.ckpt"):
        build_metric("comet_qe", {"model": str(tmp_path)})
    lonely = tmp_path / "checkpoints" / "model.ckpt"
    lonely.parent.mkdir()
    lonely.touch()
    with pytest.raises(FileNotFoundError, match=r"comes without .*hparams\.yaml"):
        build_metric("comet_qe", {"model": str(lonely)})


@pytest.mark.parametrize("content", [b"", b"- list", b"class_identifier: other", b"\xff", b"a: ]"])
def test_damaged_settings_are_named(tmp_path: Path, content: bytes) -> None:
    checkpoint = tmp_path / "checkpoints" / "model.ckpt"
    checkpoint.parent.mkdir()
    checkpoint.touch()
    (tmp_path / "hparams.yaml").write_bytes(content)
    with pytest.raises(ValueError, match=r"^comet_qe: .*hparams\.yaml (names no model|is no YAML)"):
        build_metric("comet_qe", {"model": str(checkpoint)})


def test_absent_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "comet", None)
    with pytest.raises(ImportError, match=r"fairseq_mcts\[comet\].*--no-deps unbabel-comet"):
        build_metric("comet_qe")
