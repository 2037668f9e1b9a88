"""What is relabelled, and how: everything that a command line says."""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fairseq.tasks.translation import TranslationTask

from fairseq_mcts.data.files import by_content
from fairseq_mcts.data.loading import split_names
from fairseq_mcts.data.scored_folder import SplitNames
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoders, text_decoders
from fairseq_mcts.relabelling.corpus import Corpus, SourceRange, open_corpus, open_task
from fairseq_mcts.relabelling.decoding import Decoding
from fairseq_mcts.relabelling.errors import RelabellingError
from fairseq_mcts.relabelling.labeller import BatchLimits
from fairseq_mcts.relabelling.models import ModelFiles
from fairseq_mcts.relabelling.text_corpus import open_text
from fairseq_mcts.work import Settings


@dataclass(frozen=True)
class Folders:
    """Where data come from and go to."""

    data: Path
    out: Path
    splits: Sequence[str]
    source_lang: str | None = None
    target_lang: str | None = None
    made_split: str | None = None  # what the one split is called then, if not the same
    limit: SourceRange | None = None  # of the rows that are read
    monolingual: Path | None = None  # text that is read in place of the one split

    def open_task(self) -> TranslationTask:
        """Checks the folders and reads the dictionaries."""
        if self.out.resolve() == self.data.resolve():
            raise RelabellingError(f"--out {self.out}: must not be the folder of the data")
        return open_task(self.data, self.source_lang, self.target_lang)

    @property
    def made_splits(self) -> Sequence[str]:
        """The names of what is made."""
        return self.splits if self.made_split is None else [self.made_split]

    def open_corpora(self, task: TranslationTask, encode: Callable[[str], str]) -> list[Corpus]:
        """What is relabelled; `encode` splits a line of text into symbols."""
        if self.monolingual is not None:
            [made] = self.made_splits
            return [open_text(task, made, self.monolingual, encode, self.limit)]
        pairs = zip(self.splits, self.made_splits, strict=True)
        return [open_corpus(task, self.data, *names, self.limit) for names in pairs]

    def names(self, task: TranslationTask, split: str) -> SplitNames:
        """The files of the split to be made."""
        return split_names(task, split, self.out)


@dataclass(frozen=True)
class Recipe:
    """How rows are made."""

    policy: ModelFiles
    metric: Metric
    decoding: Decoding
    text: Settings  # the options of subwords and tokenisation, with paths
    value: ModelFiles | None = None  # of searches; None: the policy's own
    bpe: Any = None
    tokenizer: Any = None
    skip_too_long: bool = False
    chunk_rows: int = 1000
    without_matches: bool = False  # of tokens, although the metric could tell them

    @property
    def makes_matches(self) -> bool:
        """Whether rows get matches of their tokens: of samples with sources."""
        metric = self.metric
        return metric.matches_tokens and not metric.privileged and not self.without_matches

    def encode(self, line: str) -> str:
        """A line of text as the symbols of the dictionary, with spaces between them."""
        for encoder in (self.tokenizer, self.bpe):
            line = line if encoder is None else encoder.encode(line)
        return line

    def settings(self) -> Settings:
        """What a result depends on."""
        metric = self.metric
        value = {} if self.value is None else {"value": self.value.settings()}
        return {
            "format": 2,
            "policy": self.policy.settings(),
            **value,
            "metric": {
                "name": metric.name,
                "signature": metric.sentence_signature(),
                "privileged": metric.privileged,
                "range": [bound if math.isfinite(bound) else None for bound in metric.range],
            },
            "decoding": self.decoding.settings(),
            "text": {
                name: by_content(one) if isinstance(one, dict) else one
                for name, one in self.text.items()
            },
            "chunk_rows": self.chunk_rows,
            # not there otherwise: so are the settings of folders that were made before
            **({"similarities": True} if self.makes_matches else {}),
        }


@dataclass(frozen=True)
class Data:
    """What folders and files hold, opened."""

    task: TranslationTask
    corpora: Sequence[Corpus]
    texts: TextDecoders


@dataclass(frozen=True)
class Plan:
    """A whole command."""

    folders: Folders
    recipe: Recipe
    limits: BatchLimits
    cpu: bool = False  # even if there is a GPU

    def open(self) -> Data:
        """Opens the data; refuses what does not fit together."""
        task = self.folders.open_task()
        recipe = self.recipe
        if self.folders.monolingual is not None and recipe.metric.privileged:
            raise RelabellingError(
                f"--monolingual: --metric {recipe.metric.name} compares with references, and text "
                "without translations has none"
            )
        recipe.decoding.refuse_unfit(recipe.metric)
        corpora = self.folders.open_corpora(task, recipe.encode)
        # refuses subwords without a way to join them
        texts = text_decoders(
            task, recipe.bpe, recipe.tokenizer, post_process=recipe.text["post_process"]
        )
        return Data(task, corpora, texts)

    def origin(self) -> Settings:
        """Where everything came from, for people."""
        origin: Settings = {"data": str(self.folders.data)}
        origin["text"] = self.recipe.text
        origin["policy"] = [str(path) for path in self.recipe.policy.paths]
        if self.recipe.value is not None:
            origin["value"] = [str(path) for path in self.recipe.value.paths]
        if self.folders.monolingual is not None:
            origin["monolingual"] = str(self.folders.monolingual)
        return origin
