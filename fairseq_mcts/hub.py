"""Translation from Python: `fairseq_mcts.load(path).translate(sentences, search=…)`.

Checkpoints of fairseq's own tasks and of this plugin's are loaded alike.
"""

import logging
import os
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, overload

import torch
from omegaconf import DictConfig, OmegaConf

from fairseq_mcts.metrics.text import refuse_stray_surrogates
from fairseq_mcts.register import register

PathLike = str | Path


@dataclass(frozen=True)
class Candidate:
    """One translation of a sentence."""

    text: str
    """As a reader sees it: subwords joined, detokenised."""
    tokens: list[str]
    """Its symbols, eos included."""
    logprob: float | None
    """The model's own, of all tokens; None: it has said nothing (`failed`)."""
    likelihood: float
    """Geometric mean of the tokens' probabilities."""
    score: float | None
    """What the decoder ranked it by."""
    value: float | None
    """By the network, where the search goes by one."""
    metric: float | None
    """Of the finished sentence, where the search goes by a metric."""
    weight: float
    """Of a sample: how often it was drawn, or its inclusion weight."""
    visits: list[int]
    """Of each token when it was chosen (MCTS)."""


@dataclass(frozen=True)
class Translation:
    """What a search found for one sentence; the best candidate's properties are its own."""

    source: str
    """The sentence that was given."""
    candidates: list[Candidate]
    """Best first, `nbest` of them at most."""
    charged: int | None
    """Network evaluations by the paper's rule; None: fairseq's beam search."""
    made: int | None
    """Those that were needed."""
    failed: str | None = None
    """With skip_failed: why its search failed, and what answers it."""

    @property
    def text(self) -> str:
        """Of the best candidate."""
        return self.candidates[0].text

    @property
    def value(self) -> float | None:
        """Of the best candidate."""
        return self.candidates[0].value

    @property
    def metric(self) -> float | None:
        """Of the best candidate."""
        return self.candidates[0].metric

    @property
    def visits(self) -> list[int]:
        """Of the best candidate."""
        return self.candidates[0].visits

    def __str__(self) -> str:
        return self.text


class Translator:
    """A loaded model, with its tokenizer and its subwords."""

    def __init__(self, interface: Any) -> None:
        """`interface` is fairseq's, of the task translation_mcts."""
        self.interface = interface

    @overload
    def translate(self, sentences: str, **options: Any) -> Translation: ...

    @overload
    def translate(self, sentences: Sequence[str], **options: Any) -> list[Translation]: ...

    def translate(
        self,
        sentences: str | Sequence[str],
        *,
        search: str | None = None,
        nbest: int = 1,
        seed: int = 1,
        **options: Any,
    ) -> Translation | list[Translation]:
        """Translates a sentence, or several.

        Args:
            sentences: one text, or a list of them; the answer is one `Translation`, or a list.
            search: the name of a decoder; None: fairseq's beam search.
            nbest: at most so many candidates of each sentence.
            seed: of samples.
            options: flags of `fairseq-generate`, as `search_budget=50`, `beam=4`, `max_len_b=100`.
        """
        if isinstance(sentences, str):
            [translation] = self.translate(
                [sentences], search=search, nbest=nbest, seed=seed, **options
            )
            return translation
        if not sentences:
            return []
        if search is not None:
            options["search"] = search
        for number, sentence in enumerate(sentences):
            try:
                refuse_stray_surrogates(sentence)
            except ValueError as error:
                raise ValueError(f"translate: sentence {number}: {error}") from error
        tokens = [self.interface.encode(sentence) for sentence in sentences]
        with torch.random.fork_rng(devices=[]):
            torch.manual_seed(seed)
            found = self.interface.generate(tokens, nbest=nbest, **options)
        pairs = zip(sentences, found, strict=True)
        return [self._translation(source, hypotheses[:nbest]) for source, hypotheses in pairs]

    def _translation(self, source: str, hypotheses: Sequence[dict[str, Any]]) -> Translation:
        from fairseq_mcts.generators.candidate_file import hypothesis_record

        task = self.interface.task
        text, dictionary = task.text_decoders().target, task.target_dictionary
        counts = hypotheses[0].get("evaluations")
        return Translation(
            source,
            [Candidate(**hypothesis_record(one, text, dictionary)) for one in hypotheses],
            None if counts is None else counts.charged,
            None if counts is None else counts.made,
            hypotheses[0].get("failed"),
        )


def load(
    path: PathLike | Sequence[PathLike],
    *,
    data: PathLike | None = None,
    tokenizer: str | None = None,
    bpe: str | None = None,
    device: str | None = None,
    **overrides: Any,
) -> Translator:
    """Loads a checkpoint, or an ensemble of several.

    Args:
        path: one checkpoint, or several.
        data: the folder with dict.*.txt; by default that of the checkpoint, or the one it was
            trained on.
        tokenizer: fairseq's name of it, as moses.
        bpe: fairseq's name of it: sentencepiece, subword_nmt, fastbpe.
        device: by default a GPU if there is one.
        overrides: options of tokenizer and bpe (`sentencepiece_model=…`, `bpe_codes=…`),
            `value_path`, and options of the checkpoint to be changed, as in --model-overrides.

    Files that fairseq's archives have beside the model (bpecodes, sentencepiece.bpe.model) are
    found there.
    """
    register()
    from fairseq import checkpoint_utils, hub_utils

    paths = [path] if isinstance(path, str | Path) else list(path)
    files = [Path(one).expanduser().resolve() for one in paths]
    for file in files:
        if not file.is_file():
            raise FileNotFoundError(f"load: no checkpoint {file}")
    names = {"tokenizer": tokenizer, "bpe": bpe}
    given = {**{name: value for name, value in names.items() if value is not None}, **overrides}
    saved = checkpoint_utils.load_checkpoint_to_cpu(str(files[0]))["cfg"]
    folder = _dictionaries(files[0], saved, data)
    _require_languages(folder, {**_options_of_task(saved), **overrides})
    loaded = _quietly(
        hub_utils.from_pretrained,
        str(files[0].parent),
        checkpoint_file=os.pathsep.join(map(str, files)),
        data_name_or_path=str(folder),
        **{"task": "translation_mcts", **given},
    )
    text = loaded["args"].tokenizer, loaded["args"].bpe
    _refuse_unread(given, saved, loaded["task"].cfg, *text)
    for model in loaded["models"]:
        if getattr(model, "holds_only_a_value", False):
            raise ValueError(f"load: {files[0]} holds only a value; give it as value_path=…")
    interface = hub_utils.GeneratorHubInterface(loaded["args"], loaded["task"], loaded["models"])
    interface.task.text_decoders()  # subwords without a BPE are refused now, not after a search
    if device is None:
        device = "cuda" if torch.cuda.is_available() else "cpu"
    return Translator(interface.to(device).eval())


def _quietly(function: Any, *args: Any, **kwargs: Any) -> Any:
    """Without fairseq's page of its whole configuration."""
    logger = logging.getLogger("fairseq")
    level = logger.level
    logger.setLevel(logging.WARNING)
    try:
        return function(*args, **kwargs)
    finally:
        logger.setLevel(level)


def _dictionaries(checkpoint: Path, saved: Any, given: PathLike | None) -> Path:
    """The folder with the dictionaries of a checkpoint, whose configuration is `saved`."""
    if given is not None:
        folder = Path(given).expanduser().resolve()
        if not any(folder.glob("dict.*.txt")):
            raise FileNotFoundError(f"load: data={str(given)!r} is no folder with dict.*.txt")
        return folder
    if any(checkpoint.parent.glob("dict.*.txt")):
        return checkpoint.parent
    trained_on = Path(str(_options_of_task(saved).get("data") or "").split(os.pathsep)[0])
    if any(trained_on.glob("dict.*.txt")):
        return trained_on.resolve()
    raise FileNotFoundError(
        f"load: no dict.*.txt beside {checkpoint} or in {trained_on}, where it was trained; give "
        "data=FOLDER"
    )


def _options_of_task(saved: Any) -> dict[str, Any]:
    task = saved.task
    return vars(task) if isinstance(task, Namespace) else dict(task)


def _require_languages(folder: Path, options: dict[str, Any]) -> None:
    """Refuses a language pair that neither the checkpoint nor the names of files tell."""
    from fairseq.data import data_utils

    languages = [options.get("source_lang"), options.get("target_lang")]
    if None in languages and None in data_utils.infer_language_pair(str(folder)):
        raise ValueError(
            "load: the checkpoint does not say which languages it translates; give source_lang=… "
            "and target_lang=…"
        )


def _refuse_unread(given: dict[str, Any], *configurations: Any) -> None:
    """Refuses what fairseq has passed over, since no part of the configuration has such a name."""
    for name, value in given.items():
        if not any(_has(one, name) for one in configurations):
            raise ValueError(f"load: {name}={value!r}: there is no such option")


def _has(configuration: Any, name: str) -> bool:
    """Whether a tree of options, of which parts may be command lines, has one of this name."""
    if isinstance(configuration, Namespace):
        return name in vars(configuration)
    if not isinstance(configuration, DictConfig | dict):
        return False
    return name in configuration or any(
        _has(configuration[key], name)
        for key in configuration
        if not OmegaConf.is_missing(configuration, key)
    )
