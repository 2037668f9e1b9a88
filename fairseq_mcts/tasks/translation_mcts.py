"""The task `translation_mcts`: fairseq's translation with the decoders of this plugin.

This class is where fairseq calls in; what it does is in the modules beside it.
"""

import json
import logging
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from functools import cache, partial
from pathlib import Path
from typing import Any, Optional

import torch
from fairseq import utils
from fairseq.dataclass.configs import GenerationConfig
from fairseq.logging import metrics
from fairseq.tasks import TASK_DATACLASS_REGISTRY, FairseqTask, register_task
from fairseq.tasks.translation import TranslationTask
from hydra.core.config_store import ConfigStore
from omegaconf import OmegaConf, open_dict

from fairseq_mcts.data.loading import load_scored_dataset, split_names
from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.token_checks import check_split, load_dictionary, vocabularies_of
from fairseq_mcts.data.value_range import (
    ScoreRange,
    known_range,
    refuse_narrow_range,
    set_value_range,
)
from fairseq_mcts.generators.candidate_file import CandidateFile, CandidateLines
from fairseq_mcts.generators.decoding_checks import check_decoding, refuse_misspelt
from fairseq_mcts.generators.fairseq_beam import build_fairseq_beam
from fairseq_mcts.generators.search_generator import SearchGenerator, sentence_numbers
from fairseq_mcts.generators.search_settings import resolve, settable_fields
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.models.checkpoints import (
    NO_POLICY,
    has_untrained_value,
    holds_only_a_value,
    other_dictionary,
)
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.policy_with_value import PolicyWithValueModel
from fairseq_mcts.models.value_head import has_value_head
from fairseq_mcts.scoring.sources import SOURCES
from fairseq_mcts.search import Decoder
from fairseq_mcts.search.registry import on_registration
from fairseq_mcts.tasks.eval_search import DecodedTexts, EvalSearch
from fairseq_mcts.tasks.foreign_checkpoints import refuse_tagged_languages, refuse_unfit_weights
from fairseq_mcts.tasks.generator_factory import GeneratorFactory
from fairseq_mcts.tasks.input_lines import InputLines
from fairseq_mcts.tasks.search_config import make_config, search_field_names
from fairseq_mcts.tasks.text import TaskText

NAME = "translation_mcts"

logger = logging.getLogger(__name__)


@register_task(NAME, dataclass=make_config())
class TranslationMctsTask(TranslationTask):  # type: ignore[misc]
    """Translate from one language into another, with the decoders of fairseq_mcts."""

    def __init__(self, cfg: Any, src_dict: Any, tgt_dict: Any) -> None:
        super().__init__(cfg, src_dict, tgt_dict)
        self._text = TaskText(self)
        self._generators = GeneratorFactory(self, self._text)
        self._eval_search = EvalSearch(cfg)
        self._input_lines = InputLines()
        self._prefix_size = 0  # of the search that was built last
        self.sequence_generator: Any = None  # of --eval-bleu

    # -- training and validation --

    def build_model(self, cfg: Any, from_checkpoint: bool = False) -> Network:
        """fairseq's; a new value head gets the range that scores can have."""
        self._eval_search.check()
        if from_checkpoint:
            refuse_tagged_languages(cfg)
        # not that of the translation task: it would validate by whatever was built last, a teacher
        # for example, and not by what is trained
        model = FairseqTask.build_model(self, cfg, from_checkpoint)
        # fairseq's commands load models themselves, and hand on neither paths nor configurations
        model.holds_only_a_value = holds_only_a_value(cfg)
        if from_checkpoint:
            model.other_dictionary = other_dictionary(cfg, self)
            model.has_untrained_value = has_untrained_value(cfg)
            return model
        refuse_unfit_weights(cfg, model)
        if self.cfg.eval_bleu and model.holds_only_a_value:
            raise ValueError(
                "--eval-bleu: with --policy-weight 0 and without --freeze-policy no policy is "
                "trained that could translate"
            )
        if has_value_head(model):
            known = self._score_range()
            set_value_range(model.decoder.value_head, cfg.value_min, cfg.value_max, known)
        if isinstance(model, PolicyWithValueModel):
            # fairseq saves this configuration, not the copy that the model was built from
            with open_dict(cfg) if OmegaConf.is_config(cfg) else nullcontext():
                cfg.policy_model = model.policy_model
        if self.cfg.eval_bleu:
            self._prepare_decoding(model)
        return model

    def begin_epoch(self, epoch: int, model: Network) -> None:
        """Prepare for an epoch of training."""
        super().begin_epoch(epoch, model)
        if has_value_head(model):
            # here, because a checkpoint brings its own range after the model is built
            refuse_narrow_range(model.decoder.value_head, self._score_range())
        if next(model.parameters()).device.type == "cpu":
            # Moments of rarely used weights decay into denormal numbers, which CPUs are slow at.
            torch.set_flush_denormal(True)

    def _score_range(self) -> Optional[ScoreRange]:
        """What the training scores are and can be, if there are any."""
        folders = utils.split_paths(self.cfg.data)
        return known_range(
            [
                part
                for folder in folders
                for part in split_names(self, self.cfg.train_subset, folder).parts()
            ]
        )

    def _prepare_decoding(self, model: Network) -> None:
        """The decoders of --eval-bleu and --eval-search."""
        detok_args = json.loads(self.cfg.eval_bleu_detok_args)
        self.tokenizer = self.build_tokenizer(
            Namespace(tokenizer=self.cfg.eval_bleu_detok, **detok_args)
        )
        for_bleu, for_search = self._eval_search.decoding_options()
        self.sequence_generator = self.build_generator([model], for_bleu)
        if for_search is not None:
            self._eval_search.use(self.build_generator([model], for_search))

    def begin_valid_epoch(self, epoch: int, model: Network) -> None:
        """Prepare for a validation."""
        super().begin_valid_epoch(epoch, model)
        # fairseq lets these meters grow from one validation to the next and saves them in every
        # checkpoint: all values that were ever judged
        metrics.reset_meters("valid")
        self._eval_search.begin_validation()

    def valid_step(self, sample: dict[str, Any], model: Network, criterion: Any) -> Any:
        """fairseq's, and --eval-search on the first sentences of a validation."""
        if self.cfg.eval_bleu and self.sequence_generator is None:  # in fairseq-validate
            self._prepare_decoding(model)
        loss, sample_size, log = super().valid_step(sample, model, criterion)
        self._eval_search.log_batch(log, sample, partial(self._decoded_texts, model))
        return loss, sample_size, log

    def _decoded_texts(
        self, model: Network, generator: Any, sample: dict[str, Any]
    ) -> DecodedTexts:
        """What a search makes of a batch, as texts by the options of --eval-bleu."""
        found = self.inference_step(generator, [model], sample, prefix_tokens=None)
        source, target = self._eval_text(self.source_dictionary), self._eval_text(self.tgt_dict)
        texts = DecodedTexts(
            [target(hypotheses[0]["tokens"], "UNKNOWNTOKENINHYP") for hypotheses in found],
            [target(row, "UNKNOWNTOKENINREF") for row in sample["target"]],
            [source(row, "<unk>") for row in sample["net_input"]["src_tokens"]],
        )
        if self.cfg.eval_bleu_print_samples:
            logger.info(f"example hypothesis: {texts.hypotheses[0]}")
            logger.info(f"example reference: {texts.references[0]}")
        return texts

    def _eval_text(self, dictionary: Any) -> Callable[[Any, str], str]:
        """Turns tokens into text as --eval-bleu does; unknown words are written as they are told.

        No hypothesis is to earn by its own unknown words.
        """

        def text(tokens: Any, unknown: str) -> str:
            tokens = utils.strip_pad(tokens, dictionary.pad()).int().cpu()
            string: str = dictionary.string(
                tokens, self.cfg.eval_bleu_remove_bpe, unk_string=unknown
            )
            return self.tokenizer.decode(string) if self.tokenizer else string

        return text

    def reduce_metrics(self, logging_outputs: list[dict[str, Any]], criterion: Any) -> None:
        """fairseq's, and the score of --eval-search."""
        super().reduce_metrics(logging_outputs, criterion)
        self._eval_search.reduce(logging_outputs)

    # -- data --

    @classmethod
    def load_dictionary(cls, filename: str) -> Any:
        """fairseq's; a file that holds none is named."""
        return load_dictionary(filename)

    def load_dataset(
        self, split: str, epoch: int = 1, combine: bool = False, **kwargs: Any
    ) -> None:
        """fairseq's, unless the folder has scores for the split (see `data.scored_folder`)."""
        paths = utils.split_paths(self.cfg.data)
        is_training = split == self.cfg.train_subset
        folder = paths[(epoch - 1) % len(paths)] if is_training else paths[0]
        sizes = vocabularies_of(self, (self.cfg.source_lang, self.cfg.target_lang))
        # all tokens of a training corpus take long to read
        check_split(Path(folder), split, sizes, with_ids=not is_training)
        if split_names(self, split, folder).has_scores():
            self.datasets[split] = load_scored_dataset(self, split, folder, combine=combine)
        else:
            super().load_dataset(split, epoch=epoch, combine=combine, **kwargs)

    def get_batch_iterator(self, dataset: Any, *args: Any, epoch: int = 1, **options: Any) -> Any:
        """fairseq's, with the same batches whatever epoch a training is resumed in.

        fairseq seeds the batches by the epoch, but an uninterrupted training keeps those of its
        first epoch, unless it is told to make new ones for each: after a resumption it would go on
        with others.
        """
        if isinstance(dataset, ScoredPairDataset):
            dataset.set_seed(options.get("seed", 1))
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

    def get_interactive_tokens_and_lengths(self, lines: Any, encode_fn: Any) -> Any:
        """fairseq's; counts the lines, so that one that can't be translated can be named.

        Here --truncate-source cuts them, which fairseq forgets.
        """
        if self._prefix_size > 0:
            raise ValueError("--prefix-size: input lines come without targets to take prefixes of")
        self._input_lines.read(len(lines))
        tokens, lengths = super().get_interactive_tokens_and_lengths(lines, encode_fn)
        if self.cfg.truncate_source:  # as of binarised data
            most = self.cfg.max_source_positions
            tokens = [one if len(one) <= most else one[[*range(most - 1), -1]] for one in tokens]
            lengths = [len(one) for one in tokens]
        return tokens, lengths

    def build_dataset_for_inference(self, *args: Any, **options: Any) -> Any:
        """fairseq's; remembered as the one whose samples are input lines."""
        self._input_lines.dataset = super().build_dataset_for_inference(*args, **options)
        return self._input_lines.dataset

    def filter_indices_by_size(
        self,
        indices: Any,
        dataset: Any,
        max_positions: Any = None,
        ignore_invalid_inputs: bool = False,
    ) -> Any:
        """fairseq's; but each input line that is too long is named, left out or refused."""
        if dataset is self._input_lines.dataset:
            skip_invalid = ignore_invalid_inputs
            return self._input_lines.fitting(indices, max_positions, skip_invalid=skip_invalid)
        return super().filter_indices_by_size(
            indices, dataset, max_positions, ignore_invalid_inputs
        )

    # -- decoding --

    def build_bpe(self, args: Any) -> Any:
        """fairseq's; remembered, because metrics need real text."""
        self._text.bpe = super().build_bpe(args)
        return self._text.bpe

    def build_tokenizer(self, args: Any) -> Any:
        """fairseq's; remembered, because metrics need real text."""
        self._text.set_tokenizer(super().build_tokenizer(args))
        return self._text.tokenizer

    def set_text_encoders(self, tokenizer: Any, bpe: Any) -> None:
        """Says how text becomes tokens, for who has built both elsewhere."""
        self._text.set_tokenizer(tokenizer)
        self._text.bpe = bpe

    def text_decoders(self) -> TextDecoders:
        """How tokens of both languages become text."""
        return self._text.decoders(self.cfg.search_post_process)

    def build_generator(
        self,
        models: Sequence[Network],
        args: Any,
        seq_gen_cls: Optional[type] = None,
        extra_gen_cls_kwargs: Optional[dict[str, Any]] = None,
        prefix_allowed_tokens_fn: Any = None,
    ) -> Any:
        """The generator that --search asks for; `args` may override the task's options."""
        if any(getattr(model, "holds_only_a_value", False) for model in models):
            raise ValueError(f"--path: {NO_POLICY}")
        for model in models:
            if fault := getattr(model, "other_dictionary", None):
                raise ValueError(f"--path: a model {fault}")
        if getattr(args, "score_reference", False):  # no search at all
            return super().build_generator(models, args)
        names = search_field_names()
        settings = {name: getattr(args, name, getattr(self.cfg, name, None)) for name in names}
        if getattr(args, "search_settings", None) is not None:
            # the file of a call takes the place of what a checkpoint's configuration holds
            own = {name: getattr(args, name, None) for name in settable_fields()}
            settings.update(own)
        defaults = GenerationConfig()
        given = args if hasattr(args, "keys") else vars(args)
        refuse_misspelt(given, [*names, *vars(defaults)])
        settings, args = resolve(settings, args)
        decoder = check_decoding(settings, args, defaults)
        generator = self._search_generator(
            models,
            args,
            decoder,
            settings,
            seq_gen_cls,
            extra_gen_cls_kwargs,
            prefix_allowed_tokens_fn,
        )
        generator.candidate_file = self._candidate_file(settings)
        return generator

    def _search_generator(
        self,
        models: Sequence[Network],
        args: Any,
        decoder: Decoder[Any],
        settings: dict[str, Any],
        seq_gen_cls: Optional[type],
        extra_gen_cls_kwargs: Optional[dict[str, Any]],
        prefix_allowed_tokens_fn: Any,
    ) -> Any:
        if decoder.is_fairseqs_own:
            build = partial(
                super().build_generator,
                models,
                args,
                extra_gen_cls_kwargs=extra_gen_cls_kwargs,
                prefix_allowed_tokens_fn=prefix_allowed_tokens_fn,
            )
            greedy = partial(self._generators.build_greedy, models, args)
            skip_failed = bool(settings["skip_failed"])
            return build_fairseq_beam(build, decoder, seq_gen_cls, greedy, skip_failed=skip_failed)
        if prefix_allowed_tokens_fn is not None:
            raise ValueError(f"prefix_allowed_tokens_fn: not with --search {decoder.name}")
        self._prefix_size = getattr(args, "prefix_size", 0)
        return self._generators.build(models, decoder, settings, args)

    def _candidate_file(self, settings: dict[str, Any]) -> Optional[CandidateFile]:
        """Where --search-json wants the hypotheses, if it does."""
        path, post_process = settings["search_json"], settings["search_post_process"]
        if path is None:
            return None
        return CandidateFile(
            Path(path),
            CandidateLines(str(settings["search"]), self.target_dictionary),
            lambda: self._text.decoders(post_process),
        )

    def inference_step(
        self, generator: Any, models: Sequence[Network], sample: dict[str, Any], **options: Any
    ) -> Any:
        """fairseq's; a scorer that compares with the source (--scoring mlbertscore) hears it."""
        candidate_file: Optional[CandidateFile] = getattr(generator, "candidate_file", None)
        if SOURCES.wanted:
            SOURCES.announce(self._source_texts(sample))
        elif (
            self.cfg.search_post_process is not None
            and not isinstance(generator, SearchGenerator)
            and not self._eval_search.is_wanted
            and candidate_file is None
        ):
            raise ValueError(
                "--search-post-process: neither a search nor a scorer needs the source's text"
            )
        src_tokens = sample["net_input"]["src_tokens"]
        if "id" not in sample and self._input_lines.dataset is not None:
            pad = self.source_dictionary.pad()
            ask = cache(partial(self._input_lines.numbers, src_tokens, pad))
            sample = {**sample, "line_numbers": ask}  # few want to know
        if candidate_file is not None:
            candidate_file.check_text()
        hypotheses = super().inference_step(generator, models, sample, **options)
        if candidate_file is not None:
            numbers = sentence_numbers(sample)
            candidate_file.write(numbers, src_tokens, sample.get("target"), hypotheses)
        return hypotheses

    def _source_texts(self, sample: dict[str, Any]) -> Iterator[str]:
        """The sources of a batch, decoded when a scorer asks: it may be for another task."""
        texts = self._text.decoders(self.cfg.search_post_process)
        for row in sample["net_input"]["src_tokens"]:
            yield texts.source.decode(row)


def _take_new_decoders() -> None:
    """Gives the task the options of decoders that were registered after it."""
    config = make_config()
    setattr(TranslationMctsTask, "__dataclass", config)  # fairseq's own name for it
    TASK_DATACLASS_REGISTRY[NAME] = config
    node = config()
    node._name = NAME
    ConfigStore.instance().store(name=NAME, group="task", node=node, provider="fairseq")


on_registration(_take_new_decoders)
