"""Decodes sentences of a split again and again, with networks that stay in memory."""

from argparse import Namespace
from collections.abc import Sequence
from typing import Any

import torch
from fairseq import tasks, utils

from fairseq_mcts.metrics.text import text_decoders
from fairseq_mcts.models.checkpoints import load_models
from fairseq_mcts.models.network import Network
from fairseq_mcts.subset.options import generator_options, model_overrides

Batch = Sequence[int]  # rows of the split


def uses_cuda(cfg: Any) -> bool:
    """Whether networks go to a GPU."""
    return torch.cuda.is_available() and not cfg.common.cpu


def load_policies(cfg: Any, task: Any) -> list[Network]:
    """The networks of --path, ready to decode as fairseq-generate makes them."""
    models = load_models(
        "--path",
        utils.split_paths(cfg.common_eval.path),
        task,
        overrides=model_overrides(cfg.common_eval.model_overrides),
        needs_policy=True,
    )
    for model in models:
        prepare(model, cfg)
    return models


def prepare(model: Network, cfg: Any) -> None:
    """Makes a network ready to decode, where and in which precision the options say."""
    if cfg.common.fp16:
        model.half()
    if uses_cuda(cfg):
        model.cuda()
    model.prepare_for_inference_(cfg)


class Subset:
    """The first sentences of a split, as tokens and as texts."""

    def __init__(self, cfg: Any, sentences: int | None, flag: str) -> None:
        """`cfg` is fairseq's configuration of fairseq-generate; `flag` asks for `sentences`."""
        self.task = tasks.setup_task(cfg.task)
        self.task.load_dataset(cfg.dataset.gen_subset)
        self._dataset = self.task.dataset(cfg.dataset.gen_subset)
        size = len(self._dataset)
        if sentences is not None and sentences > size:
            raise ValueError(f"{flag} {sentences}: {cfg.dataset.gen_subset} has only {size}")
        self.num_sentences = size if sentences is None else sentences
        # the task remembers both, for metrics that steer a search
        bpe = self.task.build_bpe(cfg.bpe)
        tokenizer = self.task.build_tokenizer(cfg.tokenizer)
        post_process = cfg.common_eval.post_process
        self._texts = text_decoders(self.task, bpe, tokenizer, post_process=post_process)

    def source(self, row: int) -> str:
        return self._texts.source.decode(self._dataset[row]["source"])

    def source_length(self, row: int) -> int:
        """In tokens, eos counted."""
        return int(self._dataset.src_sizes[row])

    def reference(self, row: int) -> str:
        return self._texts.target.decode(self._dataset[row]["target"], escape_unk=True)

    def hypothesis(self, result: Any) -> str:
        """The text of a hypothesis as fairseq returns it."""
        return self._texts.target.decode(result["tokens"])


class SubsetDecoder(Subset):
    """With the policy, and whatever the task remembers of values."""

    def __init__(self, cfg: Any, sentences: int | None, flag: str) -> None:
        super().__init__(cfg, sentences, flag)
        self._cuda = uses_cuda(cfg)
        self._models = load_policies(cfg, self.task)
        self._max_tokens = cfg.dataset.max_tokens
        self._max_sentences = cfg.dataset.batch_size

    def batches(self, parts: int = 1) -> list[list[Batch]]:
        """The batches of each part; sentence n is in part n % `parts`, so all are alike."""
        order = self._dataset.ordered_indices()
        limits = utils.resolve_max_positions(
            self.task.max_positions(), *(model.max_positions() for model in self._models)
        )
        order = self.task.filter_indices_by_size(
            order[order < self.num_sentences], self._dataset, limits, ignore_invalid_inputs=False
        )
        return [
            self._dataset.batch_by_size(
                order[order % parts == part],
                max_tokens=self._max_tokens,
                max_sentences=self._max_sentences,
            )
            for part in range(parts)
        ]

    def build_generator(self, cfg: Any) -> Any:
        """Decodes as a configuration says, which may differ from the first in its settings."""
        torch.manual_seed(cfg.common.seed)  # where the searches take theirs from
        return self.task.build_generator(self._models, generator_options(cfg))

    def decode(self, generator: Any, batch: Batch, options: Namespace) -> dict[int, Any]:
        """The hypotheses of each row, best first, as fairseq returns them."""
        sample = self._dataset.collater([self._dataset[index] for index in batch])
        sample = utils.move_to_cuda(sample) if self._cuda else sample
        forced = sample["target"][:, : options.prefix_size] if options.prefix_size else None
        results = self.task.inference_step(generator, self._models, sample, prefix_tokens=forced)
        return dict(zip(sample["id"].tolist(), results, strict=True))
