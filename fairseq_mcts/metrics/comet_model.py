"""Models of the package unbabel-comet: found, loaded and asked.

The package is asked without its Trainer, which is set up anew for each call: a search calls often,
with few translations at a time.
"""

from collections.abc import Mapping, Sequence
from importlib import import_module
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import torch

Sample = Mapping[str, str]  # "src", "mt" and, with a reference, "ref"

#: unbabel-comet asks for numpy < 2 and an old jsonargparse, but imports neither of the old ones
INSTALL = "pip install 'fairseq_mcts[comet]' && pip install --no-deps unbabel-comet"


class CometModel:
    """A loaded model of unbabel-comet, ready for inference."""

    def __init__(self, model: Any, *, batch_size: int, device: str | None) -> None:
        if device is None:
            device = "cuda" if torch.cuda.is_available() else "cpu"
        self._model = model.eval().to(device)
        self._device = torch.device(device)
        self._batch_size = batch_size

    @property
    def class_name(self) -> str:
        """What kind of model it is, in unbabel-comet's words."""
        return str(self._model.hparams.class_identifier)

    @property
    def reads(self) -> set[str]:
        """Which of src, mt and ref it was made to read."""
        kinds = {
            "referenceless_regression_metric": {"src", "mt"},
            "regression_metric": {"src", "mt", "ref"},
            "ranking_metric": {"src", "mt", "ref"},
        }
        segments = getattr(self._model.hparams, "input_segments", ())
        return kinds.get(self.class_name) or set(segments)

    @property
    def needs_references(self) -> bool:
        return bool(self._model.requires_references())

    @torch.no_grad()
    def predict(self, samples: Sequence[Sample]) -> list[float]:
        """[N] the scores that unbabel-comet's own `predict` gives, in its batches."""
        shortest_first = sorted(range(len(samples)), key=lambda one: len(samples[one]["src"]))
        scores = [0.0] * len(samples)
        for begin in range(0, len(samples), self._batch_size):
            places = shortest_first[begin : begin + self._batch_size]
            batch = self._model.prepare_for_inference([samples[place] for place in places])
            found = self._model.predict_step(_moved(batch, self._device))["scores"]
            for place, score in zip(places, found.reshape(-1).tolist(), strict=True):
                scores[place] = float(score)
        return scores


def load_comet(
    metric: str,  # that needs it, for messages
    model: str,  # a checkpoint file, the folder of a model, or a name on the hub
    encoder: str | None,  # folder that stands for the encoder that the checkpoint names
    *,
    batch_size: int,
    device: str | None,
) -> CometModel:
    """Loads a model; from a file or a folder without asking the network."""
    try:
        comet = import_module("comet")
    except ImportError as error:
        raise ImportError(
            f"{metric} needs unbabel-comet ({error}); it comes in two steps: {INSTALL}"
        ) from error
    path = _checkpoint(metric, model)
    if path is None:
        loaded = comet.load_from_checkpoint(comet.download_model(model))
    else:
        loaded = _load_local(metric, comet, path, encoder)
    return CometModel(loaded, batch_size=batch_size, device=device)


def comet_version() -> str:
    """Of the installed package."""
    try:
        return version("unbabel-comet")
    except PackageNotFoundError:
        return "unknown"


def _checkpoint(metric: str, model: str) -> Path | None:
    """The file that `model` names, if it is one of this machine."""
    path = Path(model).expanduser()
    if path.is_dir():
        path = path / "checkpoints" / "model.ckpt"  # as the hub lays models out
        if not path.is_file():
            raise FileNotFoundError(f"{metric}: the folder {model} has no checkpoints/model.ckpt")
    if path.is_file():
        if not _settings(path).is_file():
            raise FileNotFoundError(f"{metric}: {model} comes without {_settings(path)}")
        return path
    if path.suffix == ".ckpt":
        raise FileNotFoundError(f"{metric}: no checkpoint file {model}; give model=PATH or a name")
    return None


def _settings(checkpoint: Path) -> Path:
    """Where unbabel-comet looks for what kind of model a checkpoint holds."""
    return checkpoint.parent.parent / "hparams.yaml"


def _load_local(metric: str, comet: Any, path: Path, encoder: str | None) -> Any:
    import yaml

    try:
        settings = yaml.safe_load(_settings(path).read_text(encoding="utf-8"))
    except (yaml.YAMLError, UnicodeDecodeError) as error:
        raise ValueError(f"{metric}: {_settings(path)} is no YAML: {error}") from error
    classes = comet.models.str2model
    if not isinstance(settings, dict) or settings.get("class_identifier") not in classes:
        raise ValueError(f"{metric}: {_settings(path)} names no model of unbabel-comet")
    changes: dict[str, Any] = {}
    if settings.get("layer_transformation") == "sparsemax_patch":
        changes["layer_transformation"] = "softmax"  # as unbabel-comet itself reads it since 2.2.4
    if encoder is not None:
        changes["pretrained_model"] = encoder
    _require_encoder(metric, encoder or str(settings.get("pretrained_model")))
    return classes[settings["class_identifier"]].load_from_checkpoint(
        checkpoint_path=path,
        map_location="cpu",
        strict=False,
        load_pretrained_weights=False,  # all weights are in the checkpoint
        local_files_only=True,
        **changes,
    )


def _require_encoder(metric: str, encoder: str) -> None:
    """Refuses an encoder that would have to be fetched, over which transformers would crash."""
    from transformers import PretrainedConfig

    try:
        PretrainedConfig.get_config_dict(encoder, local_files_only=True)
    except OSError as error:
        raise ValueError(
            f"{metric}: the tokenizer and the configuration of the encoder {encoder!r} are not on "
            "this machine; give their folder as encoder=FOLDER"
        ) from error


def _moved(batch: Any, device: torch.device) -> Any:
    """A prepared batch, which is a mapping or several, on a device."""
    if isinstance(batch, torch.Tensor):
        return batch.to(device)
    if isinstance(batch, Mapping):
        return {name: _moved(part, device) for name, part in batch.items()}
    if isinstance(batch, tuple | list):
        return type(batch)(_moved(part, device) for part in batch)
    return batch
