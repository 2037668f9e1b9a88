"""Translating as work for any engine: a worker loads networks once and translates chunks."""

import json
from argparse import Namespace
from collections.abc import Sequence
from contextlib import nullcontext
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import torch
from fairseq import checkpoint_utils, tasks, utils

from fairseq_mcts.cli.generate_config import MakeParser, make_parser, overrides, parse
from fairseq_mcts.cli.generate_input import Input, Rows, Split, TextLines
from fairseq_mcts.cli.generate_lines import LineWriter
from fairseq_mcts.cli.generate_settings import n_best
from fairseq_mcts.generators.candidate_file import CandidateLines
from fairseq_mcts.generators.joining import joined
from fairseq_mcts.generators.search_generator import SearchGenerator
from fairseq_mcts.metrics.text import text_decoders
from fairseq_mcts.register import register
from fairseq_mcts.subset.decoder import load_policies, prepare, uses_cuda
from fairseq_mcts.work import Advance, Arrays, Chunk
from fairseq_mcts.work.options import threads_of

#: the arrays of a chunk; texts are UTF-8
TEXTS = ("lines", "plain_text", "json_lines")
FIGURES = (
    "ids",  # [n] of the sentences that were translated
    "left_out",  # [m, 2] id and number of tokens of those that are too long
    "counts",  # [4] see COUNTS
    "failures",  # [b] JSON in UTF-8: [id, what] of sentences whose search has failed
)
COUNTS = ("sentences", "tokens", "charged", "made")


def open_input(cfg: Any, options: Namespace, task: Any) -> Input:
    """What is to be translated."""
    # the task remembers both, for metrics that steer a search
    tokenizer, bpe = task.build_tokenizer(cfg.tokenizer), task.build_bpe(cfg.bpe)
    if options.input_file is None:
        return Split(task, cfg.dataset.gen_subset)

    def encode(line: str) -> str:
        for encoder in (tokenizer, bpe):
            line = line if encoder is None else encoder.encode(line)
        return line

    return TextLines(task, options.input_file, encode, options.chunk_sentences)


class GenerateWork:
    """See `work.Work`."""

    def __init__(self, arguments: Sequence[str], make_parser: MakeParser = make_parser) -> None:
        """`make_parser` is that of another command which has chunks translated."""
        self._arguments = tuple(arguments)
        self._make_parser = make_parser

    def open(self) -> "TranslationMaker":
        """Loads networks and metric; refuses what a decoding refuses."""
        register()
        options, cfg = parse(self._arguments, self._make_parser)
        # the same for one worker and for many: the last digits of fairseq's beam depend on it
        torch.set_num_threads(threads_of(options))
        utils.set_torch_seed(cfg.common.seed)  # where the searches take theirs from
        task = tasks.setup_task(cfg.task)
        models = load_policies(cfg, task)
        language_model = _language_model(cfg)
        if language_model is not None:
            prepare(language_model, cfg)
        given = open_input(cfg, options, task)
        bpe, tokenizer = task.build_bpe(cfg.bpe), task.build_tokenizer(cfg.tokenizer)
        fusion = {"lm_model": language_model, "lm_weight": cfg.generation.lm_weight}
        generator = task.build_generator(models, cfg.generation, extra_gen_cls_kwargs=fusion)
        ignored = getattr(generator, "symbols_to_strip_from_output", {generator.eos})
        post_process = cfg.common_eval.post_process
        writer = LineWriter(
            task,
            bpe,
            tokenizer,
            post_process,
            n_best(cfg),
            cfg.generation.print_alignment,
            set(ignored),
        )
        candidates = None
        if options.json_lines:
            texts = text_decoders(task, bpe, tokenizer, post_process=post_process)
            candidates = _Candidates(
                CandidateLines(generator.statistics.search, task.target_dictionary), texts
            )
        positions = utils.resolve_max_positions(
            task.max_positions(), *(model.max_positions() for model in models)
        )
        return TranslationMaker(
            cfg, task, models, generator, given, writer, candidates, positions, uses_cuda(cfg)
        )


def _language_model(cfg: Any) -> Any:
    path = cfg.generation.lm_path
    if path is None:
        return None
    try:
        [model], _ = checkpoint_utils.load_model_ensemble(
            [path], arg_overrides={**overrides(cfg), "data": cfg.task.data}, task=None
        )
    except Exception as error:  # a file that is no checkpoint fails in any way
        raise ValueError(f"--lm-path {path}: can't be loaded: {error!r}") from error
    return model


@dataclass(frozen=True)
class _Candidates:
    lines: CandidateLines
    texts: Any


@dataclass(frozen=True)
class TranslationMaker:
    """Networks at work; see `work.Maker`."""

    cfg: Any
    task: Any
    models: Sequence[Any]
    generator: Any
    given: Input
    writer: LineWriter
    candidates: _Candidates | None
    positions: Any  # what the models can read: fairseq's pair of lengths, or one
    cuda: bool

    @property
    def searches(self) -> bool:
        """Whether the generator is one of this project, which joins batches and tells progress."""
        return isinstance(self.generator, SearchGenerator)

    def make(self, chunk: Chunk, advance: Advance) -> Arrays:
        """The output of a chunk, in the order of its rows."""
        rows = self.given.rows(chunk.rows)
        # fairseq's own sampling draws from one source of random numbers for everything
        utils.set_torch_seed((self.cfg.common.seed + chunk.number) % 2**31)
        before, failed_before = self._counts(), len(self.generator.statistics.failures)
        fitting, too_long = rows.dataset.filter_indices_by_size(rows.indices, self.positions)
        left_out = [(rows.first_id + one, _longest(rows.dataset, one)) for one in sorted(too_long)]
        if left_out and not self.cfg.dataset.skip_invalid_size_inputs_valid_test:
            raise ValueError(
                f"{self.given.name}: sentence {left_out[0][0]} has {left_out[0][1]} tokens, more "
                "than the model can read; with --skip-invalid-size-inputs-valid-test such ones are "
                "left out and named, --truncate-source translates their beginnings"
            )
        advance(len(left_out))
        output: dict[int, dict[str, str]] = {number: {"plain_text": "\n"} for number, _ in left_out}
        if self.searches:
            self.generator.progress = lambda sentences: nullcontext(advance)
        batches = self._batches(rows, fitting)
        if self.searches:
            batches, self.generator.at_once = joined(batches)
        for batch in batches:
            output.update(self._translate(rows, batch))
            if not self.searches:
                advance(len(batch))
        ids = sorted(output)
        texts = {
            name: "".join(output[number].get(name, "") for number in ids).encode() for name in TEXTS
        }
        return {
            **{name: np.frombuffer(text, np.uint8) for name, text in texts.items()},
            "ids": np.setdiff1d(ids, [number for number, _ in left_out]).astype(np.int64),
            "left_out": np.array(left_out, np.int64).reshape(-1, 2),
            "counts": self._counts() - before,
            "failures": _as_json(self.generator.statistics.failures[failed_before:]),
        }

    def _counts(self) -> npt.NDArray[np.int64]:
        """[4] of all sentences so far."""
        return np.array([getattr(self.generator.statistics, name) for name in COUNTS], np.int64)

    def _batches(self, rows: Rows, fitting: Any) -> Any:
        order = sorted(fitting.tolist(), key=lambda one: (_longest(rows.dataset, one), one))
        limits = self.cfg.dataset
        try:
            return rows.dataset.batch_by_size(
                np.array(order, np.int64),
                max_tokens=limits.max_tokens,
                max_sentences=limits.batch_size,
            )
        except AssertionError as error:
            raise ValueError(f"--max-tokens {limits.max_tokens}: {error}") from error

    def _translate(self, rows: Rows, batch: Sequence[int]) -> dict[int, dict[str, str]]:
        """What is written of each sentence of a batch, by their ids."""
        sample = rows.dataset.collater([rows.dataset[one] for one in batch])
        sample["id"] = sample["id"] + rows.first_id
        sample = utils.move_to_cuda(sample) if self.cuda else sample
        size = self.cfg.generation.prefix_size
        forced = sample["target"][:, :size] if size else None
        hypotheses = self.task.inference_step(
            self.generator, self.models, sample, prefix_tokens=forced
        )
        output = {}
        sources, targets = sample["net_input"]["src_tokens"], sample.get("target")
        for place, number in enumerate(sample["id"].tolist()):
            target = None if targets is None else targets[place]
            found = hypotheses[place]
            written = {}
            if self.candidates is not None:
                content = self.candidates.lines.sentence(
                    sources[place], target, found, self.candidates.texts
                )
                written["json_lines"] = self.candidates.lines.line(number, content) + "\n"
            printed = self.writer.sentence(number, sources[place], target, found)
            output[number] = {
                "lines": printed.lines,
                "plain_text": f"{printed.best}\n",
                **written,
            }
        return output


def _as_json(failures: Sequence[tuple[str, str]]) -> npt.NDArray[np.uint8]:
    """In the order of the sentences: that of the batches is nobody's concern."""
    listed = sorted((int(number), what) for number, what in failures)
    return np.frombuffer(json.dumps(listed, ensure_ascii=False).encode(), np.uint8)


def _longest(dataset: Any, index: int) -> int:
    sizes = dataset.size(index)
    return int(max(sizes) if isinstance(sizes, tuple) else sizes)
