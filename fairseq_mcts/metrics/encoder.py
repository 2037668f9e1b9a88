"""Loads a transformers encoder and its tokenizer from a local folder or by its hub name."""

import hashlib
import json
import logging
import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
import transformers
from torch import Tensor, nn

INSTALL_HINT = 'pip install "fairseq_mcts[metrics]"'

_WEIGHTS = ("model.safetensors", "pytorch_model.bin")
_WANTED = (
    "Looked for a transformers model folder: config.json, model.safetensors (or "
    "pytorch_model.bin) and the tokenizer's files. Give such a folder as model=PATH, or a hub "
    "name such as bert-base-multilingual-cased."
)
# Tokenizers whose fast and slow versions give the same ids; bert-score uses the slow one, and for
# RoBERTa and GPT-2 the two differ (the slow one is asked to add a leading space).
_FAST_TOKENIZERS = {"BertTokenizerFast", "DistilBertTokenizerFast", "ElectraTokenizerFast"}
# Unless told so, transformers asks on stdin whether Python files of the folder may be run: there
# may be lines to translate, of which "y" means yes.
_NO_CODE = {"trust_remote_code": False}
# With transformers 5 `BertTokenizerFast` maps every word of a vocab.txt to [UNK], silently.
_FIRST_UNSUPPORTED_MAJOR = 5


class EncoderNotFoundError(FileNotFoundError):
    """No encoder where the user said; the message tells what was looked for and what to give."""


@dataclass
class Encoder:
    """A model that turns token ids into one vector per token, cut after the layer asked for."""

    name: str  # as the user gave it
    layer: int
    model: nn.Module
    tokenizer: Any
    fast_tokenizer: bool
    max_tokens: int

    def tokenize(self, texts: Sequence[str]) -> list[list[int]]:
        """Token ids of each text, special symbols included, cut at the encoder's longest input."""
        ids: list[list[int]] = [self.tokenizer.build_inputs_with_special_tokens([])] * len(texts)
        filled = [index for index, text in enumerate(texts) if text.strip()]
        stripped = [texts[index].strip() for index in filled]
        if not filled:
            return ids
        if self.fast_tokenizer:
            encoded = self.tokenizer(
                stripped,
                truncation=True,
                max_length=self.max_tokens,
                padding=False,
                return_attention_mask=False,
                return_token_type_ids=False,
            )["input_ids"]
        else:
            from bert_score.utils import sent_encode

            # bert-score trusts the tokenizer's own limit, which may be unset.
            encoded = [sent_encode(self.tokenizer, text)[: self.max_tokens] for text in stripped]
        for index, row in zip(filled, encoded, strict=True):
            ids[index] = row
        return ids

    def spans(self, text: str) -> npt.NDArray[np.int64]:
        """[T, 2] where the tokens of `tokenize` begin and end in the text; fast tokenizers only.

        Special symbols cover nothing: there begin and end are the same.
        """
        stripped = text.strip()
        if not stripped:
            return np.zeros((len(self.tokenizer.build_inputs_with_special_tokens([])), 2), np.int64)
        offsets = self.tokenizer(
            stripped,
            truncation=True,
            max_length=self.max_tokens,
            return_offsets_mapping=True,
        )["offset_mapping"]
        spans = np.array(offsets, np.int64)
        spans[spans[:, 1] > spans[:, 0]] += len(text) - len(text.lstrip())
        return spans

    @torch.inference_mode()
    def __call__(self, tokens: Tensor, mask: Tensor) -> Tensor:
        """Vectors of the chosen layer: tokens, mask [B, T] -> [B, T, D]."""
        output: Tensor = self.model(tokens, attention_mask=mask)[0]
        return output


def load_encoder(name: str, layer: int | None = None, device: str | None = None) -> Encoder:
    """Loads `name`, a local folder or a hub name, up to `layer` (default: see `default_layer`)."""
    major = int(transformers.__version__.split(".")[0])
    if major >= _FIRST_UNSUPPORTED_MAJOR:
        raise ImportError(
            f"transformers {transformers.__version__} is not supported (BERT tokenizers map words "
            f"to [UNK] there without a word); {INSTALL_HINT} installs one below 5"
        )
    check_local_folder(name)
    location = os.path.expanduser(name)
    with _quiet_transformers():
        try:
            _refuse_code(name, transformers.PretrainedConfig.get_config_dict(location)[0])
            config = transformers.AutoConfig.from_pretrained(location, **_NO_CODE)
            tokenizer = _load_tokenizer(location, use_fast=True)
            fast = type(tokenizer).__name__ in _FAST_TOKENIZERS
            if not fast:
                tokenizer = _load_tokenizer(location, use_fast=False)
            depth = int(config.num_hidden_layers)
            chosen = default_layer(name, depth) if layer is None else layer
            if not 1 <= chosen <= depth:
                raise ValueError(f"layer={chosen}: the encoder {name} has layers 1 to {depth}")
            model = _load_model(location, config, chosen)
        except OSError as error:
            raise EncoderNotFoundError(_not_found(name, error)) from error
    if tokenizer.pad_token_id is None:
        raise ValueError(f"the tokenizer of {name} has no padding symbol; choose another encoder")
    model.to(device or ("cuda" if torch.cuda.is_available() else "cpu")).eval()
    return Encoder(
        name=name,
        layer=chosen,
        model=model,
        tokenizer=tokenizer,
        fast_tokenizer=fast,
        max_tokens=_longest_input(tokenizer, config),
    )


def _refuse_code(name: str, settings: Any) -> None:
    """Refuses a configuration that lets code in although transformers is told not to.

    Versions 4.56 to 5.2 take attention from any repository that config.json names (CVE-2026-4372),
    and a config.json may allow the code of models within models (CVE-2026-5241).
    """
    if isinstance(settings, dict):
        for key, value in settings.items():
            from_repository = "attn_implementation" in key and "/" in str(value)
            if from_repository or (key == "trust_remote_code" and value):
                raise ValueError(
                    f"the encoder {name}: its config.json has {key} = {value!r}, which would run "
                    "code from elsewhere; remove the entry if you trust the rest"
                )
    entries = settings.values() if isinstance(settings, dict) else settings
    if isinstance(settings, (dict, list)):
        for one in entries:
            _refuse_code(name, one)


def default_layer(name: str, depth: int) -> int:
    """The layer bert-score found best for a public model, known by (folder) name; else the last."""
    from bert_score.utils import model2layers

    for candidate in (name, Path(name).name):
        if candidate in model2layers:
            return min(int(model2layers[candidate]), depth)
    return depth


def fingerprint(name: str) -> str:
    """A name that a reader elsewhere can check: the hub name, or folder name and weights' hash."""
    folder = Path(name).expanduser()
    if not folder.is_dir():
        return name
    states = [(path, path.stat()) for path in _weight_files(folder)]
    files = tuple((path, state.st_size, state.st_mtime_ns) for path, state in states)
    return f"{folder.resolve().name}@{_hash_of_weights(files)[:8]}"


@cache  # every cell of a table of scores asks for it, and weights may be gigabytes
def _hash_of_weights(files: tuple[tuple[Path, int, int], ...]) -> str:
    """The hash of the contents of files, each with its size and the time of its last change."""
    digest = hashlib.sha256()
    for path, _, _ in files:
        with path.open("rb") as stream:
            while block := stream.read(1 << 20):
                digest.update(block)
    return digest.hexdigest()


def _weight_files(folder: Path) -> list[Path]:
    """The files with the weights that are there: one, or several and an index of them."""
    found = {folder / name for name in _WEIGHTS if (folder / name).is_file()}
    for index in folder.glob("*.index.json"):
        try:
            parts = json.loads(index.read_text(encoding="utf-8"))["weight_map"].values()
            found |= {index, *(folder / part for part in parts)}
        except (ValueError, LookupError, TypeError, AttributeError) as error:
            raise ValueError(f"{index}: is no index of weights ({error!r})") from error
    return sorted(found)


def _load_tokenizer(location: str, *, use_fast: bool) -> Any:
    return transformers.AutoTokenizer.from_pretrained(location, use_fast=use_fast, **_NO_CODE)


def _load_model(location: str, config: Any, layer: int) -> nn.Module:
    """The encoder's lower layers only: those above the chosen one would be computed for nothing."""
    config.num_hidden_layers = layer
    if getattr(config, "encoder_layers", None) is not None:  # BART and its kin count separately
        config.encoder_layers = layer
    encoder_only = {"t5": "T5EncoderModel", "mt5": "MT5EncoderModel"}.get(config.model_type)
    loader: Any = getattr(transformers, encoder_only or "AutoModel")
    try:
        model: nn.Module = loader.from_pretrained(location, config=config, **_NO_CODE)
    except OSError:  # a folder without weights
        raise
    except Exception as error:  # a damaged file fails in any way
        what = f"{type(error).__name__}: {error}".partition("\n")[0]
        raise ValueError(f"the weights of the encoder {location} can't be read ({what})") from error
    has_decoder = config.is_encoder_decoder and encoder_only is None
    return model.get_encoder() if has_decoder else model  # type: ignore[operator]


def _longest_input(tokenizer: Any, config: Any) -> int:
    """What both the tokenizer and the position embeddings allow."""
    limit = int(min(tokenizer.model_max_length, 1 << 20))
    positions = getattr(config, "max_position_embeddings", None)
    if positions is None or int(positions) <= 0:  # relative positions have no limit
        return limit
    if config.model_type in ("roberta", "xlm-roberta", "camembert"):
        positions -= config.pad_token_id + 1  # its positions start after the padding index
    return min(limit, int(positions))


def check_local_folder(name: str) -> None:
    """Refuses early a path that is no model folder; transformers would ask the hub about it."""
    folder = Path(name).expanduser()
    if not folder.exists():
        if name.startswith((".", "/", "~")) or name.count("/") > 1:  # a hub name has one at most
            raise EncoderNotFoundError(f"no encoder at {name}: there is no such folder. {_WANTED}")
        return
    missing = [] if (folder / "config.json").is_file() else ["config.json"]
    if not _weight_files(folder):
        missing.append(" or ".join(_WEIGHTS))
    if missing:
        raise EncoderNotFoundError(
            f"no encoder at {name}: the folder lacks {' and '.join(missing)}. {_WANTED}"
        )


def _not_found(name: str, error: OSError) -> str:
    if Path(name).expanduser().exists():
        return f"the encoder in {name} cannot be read: {error}. {_WANTED}"
    from huggingface_hub.constants import HF_HUB_CACHE as cache

    reason = str(error).strip().splitlines()[0]
    return (
        f"no encoder {name!r}: neither a folder here ({Path.cwd() / name}), nor among the stored "
        f"models ({cache}), nor to be had from the Hugging Face hub ({reason}). Without a network, "
        f"fetch it elsewhere (huggingface-cli download {name} --local-dir DIR), copy the folder "
        "and give it as model=DIR"
    )


@contextmanager
def _quiet_transformers() -> Iterator[None]:
    """Silences the warnings about weights left out: leaving layers out is the purpose here.

    And those of every trial to reach the hub: if the last one fails, an error says so.
    """
    before = transformers.logging.get_verbosity()
    hub = logging.getLogger("huggingface_hub")
    level = hub.level
    transformers.logging.set_verbosity_error()
    hub.setLevel(logging.ERROR)
    try:
        yield
    finally:
        transformers.logging.set_verbosity(before)
        hub.setLevel(level)
