"""Builds the generators of the searches: their metric, their value, their text, their trees."""

import dataclasses
import logging
from collections.abc import Mapping, Sequence
from typing import Any, Optional

import torch
from fairseq import utils

from fairseq_mcts.generators import output_lines
from fairseq_mcts.generators.batch_progress import batch_bar
from fairseq_mcts.generators.decoder_flags import as_flag
from fairseq_mcts.generators.decoding_checks import BYTES, value_caution
from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.generators.search_record import make_search_record
from fairseq_mcts.generators.tree_recorder import make_recorder
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.models.checkpoints import load_models
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.value_head import has_value_head
from fairseq_mcts.search import Decoder, make_decoder
from fairseq_mcts.tasks.text import TaskText

logger = logging.getLogger(__name__)


class GeneratorFactory:
    """Builds the generators of one task; keeps its value networks, for hub calls build one each."""

    def __init__(self, task: Any, text: TaskText) -> None:
        self._task = task
        self._text = text
        self._value_models: dict[str, list[Network]] = {}  # by --value-path

    def build(
        self,
        models: Sequence[Network],
        decoder: Decoder[Any],
        settings: Mapping[str, Any],
        generation: Any,
    ) -> SearchGenerator:
        """A generator for checked `settings` (see `generators.decoding_checks`)."""
        memory = settings["search_memory"]
        metric = _build_metric(settings["search_metric"], decoder)
        value_models = self._value_sources(models, settings) if decoder.needs_value else []
        if settings["cheating_value"]:
            self._allow_cheating()
        dictionaries = (self._task.source_dictionary, self._task.target_dictionary)
        trees = make_recorder(settings, *dictionaries)
        record = make_search_record(settings, decoder, *dictionaries)
        generator = SearchGenerator(
            models,
            self._task.target_dictionary,
            value_models=value_models,
            decoder=decoder,
            limits=_limits(generation),
            # fairseq's commands seed torch with --seed before they build a generator
            seed=torch.initial_seed(),
            metric=metric,
            text_decoders=lambda: self._text.decoders(settings["search_post_process"]),
            max_bytes=None if memory is None else int(memory * BYTES),
            value_caution=value_caution(settings),
            cheating_value=settings["cheating_value"],
            translate_empty=settings["translate_empty"],
            skip_failed=settings["skip_failed"],
            trees=trees,
            record=record,
        )
        warning = [one.warnings for one in (trees, record) if one is not None]
        if output_lines.install(
            generator.statistics, lambda: [line for lines in warning for line in lines()]
        ):
            generator.progress = batch_bar
        return generator

    def build_greedy(self, models: Sequence[Network], generation: Any) -> SearchGenerator:
        """What answers sentences for which fairseq's own search has failed."""
        return SearchGenerator(
            models,
            self._task.target_dictionary,
            value_models=[],
            decoder=make_decoder("beam", {"beam": 1}),
            limits=_limits(generation),
            seed=torch.initial_seed(),
        )

    def _allow_cheating(self) -> None:
        if self._task.source_dictionary != self._task.target_dictionary:
            raise ValueError(
                "--cheating-value: the value's encoder would read the target language, which "
                "needs a joined dictionary"
            )
        logger.warning("--cheating-value: the value reads the references; for analysis only")

    def _value_sources(
        self, models: Sequence[Network], settings: Mapping[str, Any]
    ) -> Sequence[Network]:
        """The models whose values count: those of --value-path, or those of --path."""
        path = settings["value_path"]
        if path is None:
            if not all(has_value_head(model) for model in models):
                raise ValueError(
                    f"--search {settings['search']}: the checkpoint of --path has no value head "
                    "that was trained; give one with --value-path, or a search that goes by a "
                    "metric"
                )
            return models
        if path not in self._value_models:
            self._value_models[path] = self._load_value(path)
        like = next(models[0].parameters())
        return [model.to(like) for model in self._value_models[path]]

    def _load_value(self, path: str) -> list[Network]:
        models = load_models("--value-path", utils.split_paths(path), self._task)
        for model in models:
            if not has_value_head(model):
                raise ValueError(
                    f"--value-path {path}: holds a model without a value head that was trained"
                )
            model.make_generation_fast_()
        return models


def _limits(generation: Any) -> Limits:
    """fairseq's generation options, as far as they are given."""
    names = {"n_best": "nbest", "unk_penalty": "unkpen"}  # others have fairseq's names
    fields = {field.name: names.get(field.name, field.name) for field in dataclasses.fields(Limits)}
    given = {ours: getattr(generation, theirs, None) for ours, theirs in fields.items()}
    return Limits(**{name: value for name, value in given.items() if value is not None})


def _build_metric(spec: Optional[str], decoder: Decoder[Any]) -> Optional[Metric]:
    if spec is None:
        return None
    try:
        metric = build_metric(spec, with_likelihood=True)
    except (OSError, ValueError) as error:
        raise ValueError(f"--search-metric {spec}: {error}") from error
    if metric.privileged and not decoder.compares_finished:
        raise ValueError(
            f"--search-metric {spec}: needs the reference, which a search must not see; train a "
            "value for it instead"
        )
    aggregating = decoder.aggregating_option
    if aggregating is not None and not metric.aggregates:
        setting = as_flag(decoder.name)(aggregating, getattr(decoder.options, aggregating))
        raise ValueError(f"{setting}: --search-metric {spec} can't aggregate references")
    return metric
