"""The COMET adapter, with a stand-in of the same interface (no real weights are run here)."""

from types import SimpleNamespace

import pytest

from fairseq_mcts.metrics import CometQE, CometQEConfig, build_metric


class StandIn:
    """Judges by length; records what it was asked, as unbabel-comet's models are asked."""

    def __init__(self, references: bool = False) -> None:
        self.calls: list[list[dict[str, str]]] = []
        self._references = references

    def requires_references(self) -> bool:
        return self._references

    def predict(self, samples, *, batch_size, gpus, progress_bar):
        assert (batch_size, gpus, progress_bar) == (16, 0, False)
        self.calls.append(samples)
        scores = [len(sample["mt"]) / 4 - len(sample["src"]) / 8 for sample in samples]
        return SimpleNamespace(scores=scores, system_score=sum(scores) / len(scores))


def test_pairs_are_asked_once_and_scores_stay_in_range() -> None:
    model = StandIn()
    metric = CometQE(CometQEConfig(), checkpoint=model)
    scores = metric.score(["ab", "", "ab", "abcdefgh"], ["xy", "xy", "xy", "xy"])
    assert scores == [0.25, 0.0, 0.25, 1.0]
    assert model.calls == [
        [{"src": "xy", "mt": "ab"}, {"src": "xy", "mt": ""}, {"src": "xy", "mt": "abcdefgh"}]
    ]
    assert metric.score(["ab", "abc"], ["xy", "xy"]) == [0.25, 0.5]
    assert model.calls[1:] == [[{"src": "xy", "mt": "abc"}]]
    assert not metric.privileged and metric.range == (0.0, 1.0)


def test_raw_scores_on_demand() -> None:
    metric = CometQE(CometQEConfig(clamp=False), checkpoint=StandIn())
    assert metric.score(["", "abcdefgh"], ["xy", "xy"]) == [-0.25, 1.75]
    assert metric.range == (float("-inf"), float("inf"))
    assert "clamp:no" in metric.signature()


def test_reference_based_model_is_refused() -> None:
    with pytest.raises(ValueError, match="needs references; choose a quality-estimation model"):
        CometQE(CometQEConfig(), checkpoint=StandIn(references=True))


def test_loading_goes_through_the_package(monkeypatch, tmp_path) -> None:
    checkpoint = tmp_path / "model.ckpt"
    checkpoint.write_bytes(b"")
    loaded: list[str] = []

    def load_from_checkpoint(path: str) -> StandIn:
        loaded.append(path)
        return StandIn()

    package = SimpleNamespace(
        load_from_checkpoint=load_from_checkpoint, download_model=lambda name: f"/cache/{name}"
    )
    monkeypatch.setitem(__import__("sys").modules, "comet", package)
    build_metric("comet_qe", {"model": str(checkpoint)})
    build_metric("comet_qe:model=Unbabel/some-kiwi")
    assert loaded == [str(checkpoint), "/cache/Unbabel/some-kiwi"]
    with pytest.raises(FileNotFoundError, match=r"no checkpoint file .*missing\.ckpt"):
        build_metric("comet_qe", {"model": str(tmp_path / "missing.ckpt")})


def test_absent_package_is_named(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "comet", None)
    with pytest.raises(ImportError, match=r"fairseq_mcts\[comet\]"):
        build_metric("comet_qe")
