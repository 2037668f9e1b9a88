"""The task `translation_mcts`: fairseq's translation with the decoders of this plugin."""

import json
import logging
from argparse import Namespace
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any, Optional

import torch
from fairseq import checkpoint_utils, utils
from fairseq.dataclass.configs import GenerationConfig
from fairseq.logging import metrics
from fairseq.tasks import FairseqTask, register_task
from fairseq.tasks.translation import TranslationConfig, TranslationTask
from omegaconf import OmegaConf, open_dict
from torch import Tensor

from fairseq_mcts.data.loading import load_reference_pairs, load_scored_dataset, split_names
from fairseq_mcts.data.value_range import observed_range, refuse_narrow_range, set_value_range
from fairseq_mcts.decoding import Network
from fairseq_mcts.decoding.network_evaluator import has_value_head
from fairseq_mcts.generators import output_lines
from fairseq_mcts.generators.beam_generator import GnmtBeamGenerator, count_evaluations
from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.generators.settings import (
    flag,
    needs_value,
    refuse_misspelt,
    refuse_too_many,
    refuse_unsupported,
    refuse_unused,
    search_options,
)
from fairseq_mcts.generators.statistics import DecodingStatistics
from fairseq_mcts.generators.tree_recorder import make_recorder
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.models.checkpoints import refuse_foreign_dictionary
from fairseq_mcts.models.policy_with_value import PolicyWithValueModel
from fairseq_mcts.scoring.sources import SOURCES
from fairseq_mcts.tasks import eval_search
from fairseq_mcts.tasks.search_config import SEARCHES, SearchConfig, decoder_options

logger = logging.getLogger(__name__)

#: options of the searches that fairseq's own beam search has no use for
OF_ALL_SEARCHES = (
    "search_budget",
    "search_preset",
    "search_metric",
    "search_memory",
    "value_path",
    "cheating_value",
)


@dataclass
class TranslationMctsConfig(SearchConfig, TranslationConfig):  # type: ignore[misc]
    """Options of fairseq's translation task, of the decoders and of validation with them."""

    eval_search: Optional[SEARCHES] = field(
        default=None,
        metadata={
            "help": "with --eval-bleu: also decode some validation sentences by this search, with "
            "the decoders' options, and report its BLEU as <search>_bleu"
        },
    )
    eval_search_sentences: int = field(
        default=50,
        metadata={"help": "sentences per validation (and worker) that --eval-search decodes"},
    )


@register_task("translation_mcts", dataclass=TranslationMctsConfig)
class TranslationMctsTask(TranslationTask):  # type: ignore[misc]
    """Translate from one language into another, with the decoders of fairseq_mcts."""

    cfg: TranslationMctsConfig

    def __init__(self, cfg: TranslationMctsConfig, src_dict: Any, tgt_dict: Any) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self._bpe: Any = None
        self._tokenizer: Any = None
        self._knows_tokenizer = False  # whether anybody has said which there is, if any
        # checkpoints of --value-path are kept: hub calls build a generator each time
        self._value_models: dict[str, list[Network]] = {}
        self._has_criterion = False
        self.sequence_generator: Any = None  # of --eval-bleu
        self._eval_generator: Any = None  # of --eval-search
        # sentences that this validation still decodes
        self._eval_search_left = cfg.eval_search_sentences
        # the dataset that was made of input lines last, and the number of its first line
        self._lines: Any = None
        self._first_line = self._next_line = 0
        self._prefix_size = 0  # of the search that was built last

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Network:
        """fairseq's; a new value head gets the range of the training scores."""
        eval_search.check(self.cfg)
        # not that of the translation task: it would validate by whatever was built last, a teacher
        # for example, and not by what is trained
        model = FairseqTask.build_model(self, cfg, from_checkpoint)
        if from_checkpoint:
            return model
        if has_value_head(model):
            observed = self._observed_range()
            set_value_range(model.decoder.value_head, cfg.value_min, cfg.value_max, observed)
        if isinstance(model, PolicyWithValueModel):
            # fairseq saves this configuration, not the copy that the model was built from
            with open_dict(cfg) if OmegaConf.is_config(cfg) else nullcontext():
                cfg.policy_model = model.policy_model
        if self.cfg.eval_bleu:
            self._prepare_decoding(model)
        return model

    def _observed_range(self) -> Optional[tuple[float, float]]:
        """Least and greatest training score, if there are any."""
        folders = utils.split_paths(self.cfg.data)
        return observed_range(
            [split_names(self, self.cfg.train_subset, folder) for folder in folders]
        )

    def _prepare_decoding(self, model: Network) -> None:
        """The decoders of --eval-bleu and --eval-search."""
        if self.cfg.mcts_trees is not None:
            raise ValueError(
                f"--mcts-trees {self.cfg.mcts_trees}: not in validations, each of which would "
                "overwrite the trees of the last; use fairseq-generate"
            )
        detok_args = json.loads(self.cfg.eval_bleu_detok_args)
        self.tokenizer = self.build_tokenizer(
            Namespace(tokenizer=self.cfg.eval_bleu_detok, **detok_args)
        )
        of_bleu, of_search = eval_search.decoding_options(self.cfg)
        self.sequence_generator = self.build_generator([model], of_bleu)
        if of_search is not None:
            self._eval_generator = self.build_generator([model], of_search)

    def begin_valid_epoch(self, epoch: int, model: Network) -> None:
        """Prepare for a validation."""
        super().begin_valid_epoch(epoch, model)
        # fairseq lets these meters grow from one validation to the next and saves them in every
        # checkpoint: all values that were ever judged
        metrics.reset_meters("valid")
        self._eval_search_left = self.cfg.eval_search_sentences

    def valid_step(self, sample: dict[str, Any], model: Network, criterion: Any) -> Any:
        """fairseq's, and --eval-search on the first sentences of a validation."""
        if self.cfg.eval_bleu and self.sequence_generator is None:  # in fairseq-validate
            self._prepare_decoding(model)
        loss, sample_size, log = super().valid_step(sample, model, criterion)
        if self._eval_generator is not None:
            # of every batch, decoded or not: workers add up what they log entry by entry
            log[eval_search.key(self.cfg)] = self._eval_search_parts(sample, model)
        return loss, sample_size, log

    def _eval_search_parts(self, sample: dict[str, Any], model: Network) -> Tensor:
        """What the BLEU of --eval-search is made of, of as many sentences as are still wanted."""
        if self._eval_search_left <= 0:
            return eval_search.NOTHING_DECODED
        part = eval_search.first_sentences(sample, self._eval_search_left)
        self._eval_search_left -= len(part["target"])
        return eval_search.logged(self._inference_with_bleu(self._eval_generator, part, model))

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """fairseq's, and the BLEU of --eval-search."""
        super().reduce_metrics(logging_outputs, criterion)
        if self.cfg.eval_search is not None:
            eval_search.reduce(logging_outputs, self.cfg)

    def build_criterion(self, cfg: Any, from_checkpoint: bool = False) -> Any:
        """fairseq's; remembered, because it tells training and validation from decoding."""
        self._has_criterion = True
        return super().build_criterion(cfg, from_checkpoint)

    def load_dataset(
        self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any
    ) -> None:
        """fairseq's, unless the folder has scores for the split (see `data.scored_folder`).

        Who builds a criterion before loading data, as fairseq's training and validation do, gets
        samples with scores; others, as fairseq-generate, get the references to compare with.
        """
        paths = utils.split_paths(self.cfg.data)
        folder = paths[(epoch - 1) % len(paths)] if split == self.cfg.train_subset else paths[0]
        if not split_names(self, split, folder).has_scores():
            super().load_dataset(split, epoch=epoch, combine=combine, **kwargs)
        elif self._has_criterion:
            self.datasets[split] = load_scored_dataset(self, split, folder, combine=combine)
        else:
            self.datasets[split] = load_reference_pairs(self, split, folder)

    def get_batch_iterator(self, dataset: Any, *args: Any, epoch: int = 1, **options: Any) -> Any:
        """fairseq's, with the same batches whatever epoch a training is resumed in.

        fairseq seeds the batches by the epoch, but an uninterrupted training keeps those of its
        first epoch, unless it is told to make new ones for each: after a resumption it would go on
        with others.
        """
        if (
            options.get("update_epoch_batch_itr", False)
            or options.get("disable_iterator_cache", False)
            or not self.can_reuse_epoch_itr(dataset)
        ):
            return super().get_batch_iterator(dataset, *args, epoch=epoch, **options)
        is_new = dataset not in self.dataset_to_epoch_iter
        iterator = super().get_batch_iterator(dataset, *args, epoch=1, **options)
        if is_new:
            dataset.set_epoch(epoch)
            iterator.epoch = epoch
        return iterator

    def _inference_with_bleu(self, generator: Any, sample: dict[str, Any], model: Network) -> Any:
        """fairseq's --eval-bleu; of data with scores the target is a sample, not the reference."""
        if "reference" in sample:
            sample = {**sample, "target": sample["reference"]["src_tokens"]}
        return super()._inference_with_bleu(generator, sample, model)

    def begin_epoch(self, epoch: int, model: Network) -> None:
        """Prepare for an epoch of training."""
        super().begin_epoch(epoch, model)
        if has_value_head(model):
            # here, because a checkpoint brings its own range after the model is built
            refuse_narrow_range(model.decoder.value_head, self._observed_range())
        if next(model.parameters()).device.type == "cpu":
            # Moments of rarely used weights decay into denormal numbers, which CPUs are slow at.
            torch.set_flush_denormal(True)

    def build_bpe(self, args: Any) -> Any:
        """fairseq's; remembered, because metrics need real text."""
        self._bpe = super().build_bpe(args)
        return self._bpe

    def build_tokenizer(self, args: Any) -> Any:
        """fairseq's; remembered, because metrics need real text."""
        self._tokenizer = super().build_tokenizer(args)
        self._knows_tokenizer = True
        return self._tokenizer

    def get_interactive_tokens_and_lengths(self, lines: Any, encode_fn: Any) -> Any:
        """fairseq's; counts the lines, so that one that can't be translated can be named."""
        if self._prefix_size > 0:
            raise ValueError("--prefix-size: input lines come without targets to take prefixes of")
        self._first_line, self._next_line = self._next_line, self._next_line + len(lines)
        return super().get_interactive_tokens_and_lengths(lines, encode_fn)

    def build_dataset_for_inference(self, *args: Any, **options: Any) -> Any:
        """fairseq's; remembered as the one whose samples are input lines."""
        self._lines = super().build_dataset_for_inference(*args, **options)
        return self._lines

    def filter_indices_by_size(
        self,
        indices: Any,
        dataset: Any,
        max_positions: Any = None,
        ignore_invalid_inputs: bool = False,
    ) -> Any:
        """fairseq's; but each input line that is too long is named, refused or left out."""
        if dataset is not self._lines:
            return super().filter_indices_by_size(
                indices, dataset, max_positions, ignore_invalid_inputs
            )
        kept, too_long = dataset.filter_indices_by_size(indices, max_positions)
        longest = max_positions if isinstance(max_positions, (int, float)) else max_positions[0]
        for sample in sorted(too_long):
            number = self._first_line + sample
            complaint = (
                f"input line {number + 1} (it would be S-{number}) has {dataset.src_sizes[sample]} "
                f"tokens, more than the {longest} that the model can read"
            )
            if not ignore_invalid_inputs:
                raise ValueError(
                    f"{complaint}; with --skip-invalid-size-inputs-valid-test it is left out"
                )
            logger.warning("%s: left out", complaint)
        return kept

    def build_generator(
        self,
        models: Sequence[Network],
        args: Any,
        seq_gen_cls: Optional[type] = None,
        extra_gen_cls_kwargs: Optional[dict[str, Any]] = None,
        prefix_allowed_tokens_fn: Any = None,
    ) -> Any:
        """The generator that --search asks for; `args` may override the task's options."""
        if getattr(args, "score_reference", False):  # no search at all
            return super().build_generator(models, args)
        settings = {
            one.name: getattr(args, one.name, getattr(self.cfg, one.name))
            for one in decoder_options()
        }
        refuse_misspelt(args if hasattr(args, "keys") else vars(args), settings)
        search = str(settings["search"])
        if search == "beam":
            return self._build_beam_generator(
                models, args, settings, seq_gen_cls, extra_gen_cls_kwargs, prefix_allowed_tokens_fn
            )
        refuse_unsupported(search, args, GenerationConfig())
        self._prefix_size = getattr(args, "prefix_size", 0)
        if prefix_allowed_tokens_fn is not None:
            raise ValueError(f"prefix_allowed_tokens_fn: not with --search {search}")
        metric = self._build_metric(settings)
        options = search_options(settings, metric)
        refuse_unused(settings, options)
        value_models = self._value_sources(models, settings) if needs_value(options) else []
        if settings["cheating_value"]:
            self._check_cheating()
        n_best = getattr(args, "nbest", 1)
        refuse_too_many(n_best, options)
        trees = make_recorder(
            settings,
            self.source_dictionary,
            self.target_dictionary,
            choice=getattr(options, "choose", ""),
        )
        generator = SearchGenerator(
            models,
            self.target_dictionary,
            value_models=value_models,
            options=options,
            limits=Limits(
                max_len_a=getattr(args, "max_len_a", 0),
                max_len_b=getattr(args, "max_len_b", 200),
                min_len=getattr(args, "min_len", 1),
                match_source_len=getattr(args, "match_source_len", False),
                no_repeat_ngram_size=getattr(args, "no_repeat_ngram_size", 0),
                unk_penalty=getattr(args, "unkpen", 0),
                n_best=n_best,
            ),
            # fairseq's commands seed torch with --seed before they build a generator
            seed=torch.initial_seed(),
            metric=metric,
            text_decoders=lambda: self._text_decoders(settings["search_post_process"]),
            max_bytes=_megabytes(settings["search_memory"]),
            cheating_value=settings["cheating_value"],
            trees=trees,
        )
        if trees is None:
            output_lines.install(generator.statistics)
        else:
            output_lines.install(generator.statistics, trees.complaints)
        return generator

    def inference_step(
        self, generator: Any, models: Sequence[Network], sample: dict[str, Any], **options: Any
    ) -> Any:
        """fairseq's; a scorer that compares with the source (--scoring mlbertscore) hears it."""
        if SOURCES.wanted:
            SOURCES.announce(self._source_texts(sample))
        elif (
            self.cfg.search_post_process is not None
            and str(self.cfg.search) == "beam"
            and self.cfg.eval_search is None
        ):
            raise ValueError(
                "--search-post-process: neither a search nor a scorer needs the source's text"
            )
        if "id" not in sample and getattr(generator, "trees", None) is not None:
            sample = {**sample, "line_numbers": self._line_numbers(sample)}
        return super().inference_step(generator, models, sample, **options)

    def _line_numbers(self, sample: dict[str, Any]) -> list[tuple[int, ...]]:
        """[B] which input lines the rows are: fairseq-interactive does not say.

        Equal lines have equal trees, so it does no harm that each of them gets the numbers of all.
        """
        numbers: dict[tuple[int, ...], tuple[int, ...]] = {}
        for index in range(len(self._lines)):
            tokens = tuple(self._lines[index]["source"].tolist())
            numbers[tokens] = (*numbers.get(tokens, ()), self._first_line + index)
        pad = self.source_dictionary.pad()
        rows = sample["net_input"]["src_tokens"]
        return [numbers[tuple(row[row != pad].tolist())] for row in rows]

    def _source_texts(self, sample: dict[str, Any]) -> Iterator[str]:
        """The sources of a batch, decoded when a scorer asks: it may be for another task."""
        source_text, _ = self._text_decoders(self.cfg.search_post_process)
        for row in sample["net_input"]["src_tokens"]:
            yield source_text.decode(row)

    def _build_beam_generator(
        self,
        models: Sequence[Network],
        args: Any,
        settings: dict[str, Any],
        seq_gen_cls: Optional[type],
        extra_gen_cls_kwargs: Optional[dict[str, Any]],
        prefix_allowed_tokens_fn: Any,
    ) -> Any:
        for name in OF_ALL_SEARCHES:
            if settings[name] not in (None, False):
                raise ValueError(f"{flag(name)} {settings[name]}: has no effect with --search beam")
        search_options({**settings, "search": "beam"}, None)  # refuses other searches' options
        if str(settings["beam_normalization"]) == "gnmt":
            if seq_gen_cls is not None or getattr(args, "print_alignment", None):
                raise ValueError("--beam-normalization gnmt: not with --print-alignment")
            if getattr(args, "unnormalized", False):
                raise ValueError("--beam-normalization gnmt: not with --unnormalized")
            seq_gen_cls = GnmtBeamGenerator
        generator = super().build_generator(
            models, args, seq_gen_cls, extra_gen_cls_kwargs, prefix_allowed_tokens_fn
        )
        statistics = DecodingStatistics("beam")
        count_evaluations(generator, statistics)
        output_lines.install(statistics)
        return generator

    def _check_cheating(self) -> None:
        if self.source_dictionary != self.target_dictionary:
            raise ValueError(
                "--cheating-value: the value's encoder would read the target language, which "
                "needs a joined dictionary"
            )
        logger.warning("--cheating-value: the value reads the references; for analysis only")

    def _build_metric(self, settings: dict[str, Any]) -> Optional[Metric]:
        spec = settings["search_metric"]
        if spec is None:
            return None
        try:
            metric = build_metric(spec)
        except (OSError, ValueError) as error:
            raise ValueError(f"--search-metric {spec}: {error}") from error
        if metric.privileged:
            raise ValueError(
                f"--search-metric {spec}: needs the reference, which a search must not see; train "
                "a value for it instead"
            )
        return metric

    def _value_sources(
        self, models: Sequence[Network], settings: dict[str, Any]
    ) -> Sequence[Network]:
        """The models whose values count: those of --value-path, or those of --path."""
        path = settings["value_path"]
        if path is None:
            if not all(has_value_head(model) for model in models):
                raise ValueError(
                    f"--search {settings['search']}: the checkpoint of --path has no value head; "
                    "give one with --value-path, or a search that goes by a metric"
                )
            return models
        if path not in self._value_models:
            try:
                loaded, saved = checkpoint_utils.load_model_ensemble(
                    utils.split_paths(path), task=self
                )
            except OSError as error:
                raise ValueError(f"--value-path {path}: {error}") from error
            except RuntimeError as error:  # torch's list of weights whose shapes differ
                raise ValueError(
                    f"--value-path {path}: does not fit this data's dictionaries of "
                    f"{len(self.source_dictionary)} and {len(self.target_dictionary)} symbols, or "
                    f"is damaged: {error}"
                ) from error
            refuse_foreign_dictionary("--value-path", path, saved, self)
            for model in loaded:
                if not has_value_head(model):
                    raise ValueError(f"--value-path {path}: holds a model without a value head")
                model.make_generation_fast_()
            self._value_models[path] = loaded
        like = next(models[0].parameters())
        return [model.to(like) for model in self._value_models[path]]

    def _text_decoders(self, post_process: Optional[str]) -> tuple[TextDecoder, TextDecoder]:
        if not self._knows_tokenizer:
            raise ValueError(
                "a metric reads text, and the task has not been told how that was tokenised: "
                "fairseq's commands say so, users of the hub interface have to call "
                "hub.task.build_tokenizer(hub.cfg.tokenizer) and hub.task.build_bpe(hub.cfg.bpe)"
            )
        try:
            source, target = (
                TextDecoder(dictionary, self._bpe, self._tokenizer, post_process=post_process)
                for dictionary in (self.source_dictionary, self.target_dictionary)
            )
        except ValueError as error:
            raise ValueError(
                f"a metric reads text, not subwords: give --bpe, or --search-post-process (beside "
                f"--post-process, which only concerns the output): {error}"
            ) from error
        return source, target


def _megabytes(given: Optional[float]) -> Optional[int]:
    if given is None:
        return None
    if given <= 0:
        raise ValueError(f"--search-memory {given}: must be greater than 0")
    return int(given * 2**20)
