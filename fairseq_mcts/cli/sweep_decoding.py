"""Decodes the same sentences again and again, with networks that stay in memory."""

import ast
import hashlib
import json
import time
from argparse import Namespace
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from fairseq import tasks, utils
from fairseq.dataclass.configs import GenerationConfig

from fairseq_mcts.cli.sweep_grid import Setting
from fairseq_mcts.cli.sweep_results import Trial
from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.generators.decoding_checks import OF_FILES, check_decoding
from fairseq_mcts.generators.search_settings import resolve
from fairseq_mcts.metrics import Metric
from fairseq_mcts.metrics.text import text_decoders
from fairseq_mcts.models.checkpoints import load_models
from fairseq_mcts.search.decoder import Decoder
from fairseq_mcts.tasks.search_config import search_field_names


class SubsetDecoder:
    """The first sentences of a split, the policy, and whatever the task remembers of values."""

    def __init__(self, cfg: Any, sentences: int | None) -> None:
        """`cfg` is fairseq's configuration of fairseq-generate."""
        self._cuda = torch.cuda.is_available() and not cfg.common.cpu
        self.task = tasks.setup_task(cfg.task)
        self._models = load_models(
            "--path",
            utils.split_paths(cfg.common_eval.path),
            self.task,
            overrides=ast.literal_eval(cfg.common_eval.model_overrides),
            needs_policy=True,
        )
        for model in self._models:
            if cfg.common.fp16:
                model.half()
            if self._cuda:
                model.cuda()
            model.prepare_for_inference_(cfg)
        self.task.load_dataset(cfg.dataset.gen_subset)
        self._dataset = self.task.dataset(cfg.dataset.gen_subset)
        size = len(self._dataset)
        if sentences is not None and sentences > size:
            raise ValueError(
                f"--sweep-sentences {sentences}: {cfg.dataset.gen_subset} has only {size}"
            )
        self._sentences = size if sentences is None else sentences
        # the task remembers both, for metrics that steer a search
        bpe = self.task.build_bpe(cfg.bpe)
        tokenizer = self.task.build_tokenizer(cfg.tokenizer)
        post_process = cfg.common_eval.post_process
        texts = text_decoders(self.task, bpe, tokenizer, post_process=post_process)
        self._target_text = texts.target
        rows = [self._dataset[index] for index in range(self._sentences)]
        self.sources = [texts.source.decode(row["source"]) for row in rows]
        self.references = [self._target_text.decode(row["target"], escape_unk=True) for row in rows]
        self._batches = self._make_batches(cfg.dataset.max_tokens, cfg.dataset.batch_size)

    def _make_batches(self, max_tokens: int | None, max_sentences: int | None) -> Any:
        order = self._dataset.ordered_indices()
        limits = utils.resolve_max_positions(
            self.task.max_positions(), *(model.max_positions() for model in self._models)
        )
        order = self.task.filter_indices_by_size(
            order[order < self._sentences], self._dataset, limits, ignore_invalid_inputs=False
        )
        return self._dataset.batch_by_size(
            order, max_tokens=max_tokens, max_sentences=max_sentences
        )

    def key(self, cfg: Any, metrics: Sequence[Metric]) -> str:
        """Differs wherever the outcome of a trial may."""
        paths = [cfg.common_eval.path, cfg.task.value_path]
        networks = [Path(file) for path in paths if path for file in utils.split_paths(path)]
        everything = [
            digest_of_files(networks),
            cfg.common_eval.model_overrides,
            {name: str(value) for name, value in sorted(vars(generator_options(cfg)).items())},
            [cfg.common.seed, cfg.common.fp16],
            [self.sources, self.references],
            [metric.signature() for metric in metrics],
        ]
        return hashlib.blake2b(json.dumps(everything).encode(), digest_size=8).hexdigest()

    def try_out(self, setting: Setting, cfg: Any, metrics: Sequence[Metric]) -> Trial:
        """Translates as the configuration of a setting says, and scores the translations."""
        options = generator_options(cfg)
        torch.manual_seed(cfg.common.seed)  # where the searches take theirs from
        generator = self.task.build_generator(self._models, options)
        hypotheses = [""] * self._sentences
        begun = time.perf_counter()
        for batch in self._batches:
            sample = self._dataset.collater([self._dataset[index] for index in batch])
            sample = utils.move_to_cuda(sample) if self._cuda else sample
            forced = sample["target"][:, : options.prefix_size] if options.prefix_size else None
            results = self.task.inference_step(
                generator, self._models, sample, prefix_tokens=forced
            )
            for index, result in zip(sample["id"].tolist(), results, strict=True):
                hypotheses[index] = self._target_text.decode(result[0]["tokens"])
        seconds = time.perf_counter() - begun
        scores = {}
        for metric in metrics:
            others = self.references if metric.privileged else self.sources
            scores[metric.name] = metric.corpus_score(hypotheses, others)
        return Trial(
            flags=setting.flags(),
            scores=scores,
            signatures={metric.name: metric.signature() for metric in metrics},
            hypotheses=hypotheses,
            tokens=generator.statistics.tokens,
            charged=generator.statistics.charged,
            made=generator.statistics.made,
            seconds=round(seconds, 2),
        )


def check_options(cfg: Any) -> None:
    """Refuses what a decoding would refuse, and what only fairseq-generate itself does."""
    if cfg.common_eval.path is None:
        raise ValueError("--path is required")
    for flag, path in (
        ("--search-trees", cfg.task.search_trees),
        ("--search-json", cfg.task.search_json),
        ("--search-record", cfg.task.search_record),
    ):
        if path is not None:
            raise ValueError(
                f"{flag} {path}: each setting would overwrite what the last has written; use "
                "fairseq-generate"
            )
    options = generator_options(cfg)
    if options.lm_path is not None:
        raise ValueError(f"--lm-path {options.lm_path}: not in a sweep; use fairseq-generate")
    if options.score_reference:
        raise ValueError("--score-reference: decodes nothing, so there is nothing to sweep")
    decoder_of(options)


def decoder_of(options: Namespace) -> Decoder[Any]:
    """The decoder that `generator_options` ask for."""
    settings = {name: getattr(options, name, None) for name in search_field_names()}
    return check_decoding(settings, options, GenerationConfig())


def generator_options(cfg: Any) -> Namespace:
    """What decides about translations in a configuration: fairseq's options and the searches'.

    What they say in a file of --search-settings stands in its place.
    """
    searches = {
        name: getattr(cfg.task, name) for name in search_field_names() if name not in OF_FILES
    }
    searches, generation = resolve(searches, Namespace(**cfg.generation))
    return Namespace(**{**vars(generation), **searches})
