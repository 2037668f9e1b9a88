"""Translates single sentences by any decoder, with networks that stay in memory."""

import tempfile
from argparse import Namespace
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from fairseq import tasks, utils

from fairseq_mcts.cli.explore_decoders import fields_of, offered_decoders
from fairseq_mcts.generators.decoder_flags import as_flag, decoder_from_settings
from fairseq_mcts.generators.search_metric import likelihood
from fairseq_mcts.metrics.text import refuse_stray_surrogates, text_decoders
from fairseq_mcts.models.value_head import has_value_head
from fairseq_mcts.pictures.record_file import read_records
from fairseq_mcts.report.page_data import packed_record
from fairseq_mcts.subset.decoder import load_policies, uses_cuda
from fairseq_mcts.tasks.search_config import unset_search_fields

#: of fairseq's, what a search reads; others are of fairseq's own beam search
_GENERATION_OPTIONS = (
    *("max_len_a", "max_len_b", "min_len", "match_source_len"),
    *("no_repeat_ngram_size", "unkpen"),
)


class Translator:
    """The task, the policy, and whatever the task remembers of values."""

    def __init__(self, cfg: Any) -> None:
        """`cfg` is fairseq's configuration of fairseq-generate."""
        self._cfg = cfg
        self._cuda = uses_cuda(cfg)
        self._task = tasks.setup_task(cfg.task)
        self._models = load_policies(cfg, self._task)
        self._bpe = self._task.build_bpe(cfg.bpe)
        self._tokenizer = self._task.build_tokenizer(cfg.tokenizer)
        post_process = cfg.common_eval.post_process
        texts = text_decoders(self._task, self._bpe, self._tokenizer, post_process=post_process)
        if self._bpe is None and post_process is not None:
            raise ValueError(
                f"--post-process {post_process}: joins subwords, but a sentence that is typed has "
                "to be cut into them too; give --bpe"
            )
        self._target_text = texts.target

    @property
    def offered(self) -> list[dict[str, Any]]:
        """The decoders that a page may ask for."""
        task = self._cfg.task
        with_value = task.value_path is not None or all(map(has_value_head, self._models))
        return offered_decoders(with_value=with_value, with_metric=task.search_metric is not None)

    def translate(self, text: str, search: str, options: Mapping[str, str]) -> dict[str, Any]:
        """A translation with its figures and its search, packed for a page."""
        fields = fields_of(search, options)
        source = self._tokens(text)
        with tempfile.TemporaryDirectory() as folder:
            record = Path(folder) / "search.jsonl"
            settings = self._settings({**fields, "search_record": str(record)})
            torch.manual_seed(self._cfg.common.seed)  # where the searches take theirs from
            generator = self._task.build_generator(self._models, settings)
            dataset = self._task.build_dataset_for_inference([source], [len(source)])
            sample = dataset.collater([dataset[0]])
            sample = utils.move_to_cuda(sample) if self._cuda else sample
            best = self._task.inference_step(generator, self._models, sample)[0][0]
            searches = read_records(record)
        tokens = best["tokens"].tolist()
        logprob = float(best["positional_scores"].sum())
        return {
            "text": self._target_text.decode(tokens),
            "score": best["search_score"],
            "likelihood": likelihood(logprob, len(tokens)),
            "value": best["value"],
            "metric": best["metric"],
            "charged": best["evaluations"].charged / len(tokens),
            "made": best["evaluations"].made / len(tokens),
            "record": packed_record(searches[0]),
        }

    def _tokens(self, text: str) -> Any:
        """[T] the source, as fairseq-interactive encodes it."""
        if not text.strip():
            raise ValueError("there is no sentence")
        refuse_stray_surrogates(text)
        if self._tokenizer is not None:
            text = self._tokenizer.encode(text)
        if self._bpe is not None:
            text = self._bpe.encode(text)
        dictionary = self._task.source_dictionary
        tokens = dictionary.encode_line(text, add_if_not_exist=False).long()
        longest = min(
            self._task.max_positions()[0], *(model.max_positions()[0] for model in self._models)
        )
        if len(tokens) > longest:
            raise ValueError(f"the sentence has {len(tokens)} tokens, more than {longest}")
        return tokens

    def _settings(self, fields: Mapping[str, Any]) -> Namespace:
        """What a generator is built of: fairseq's options, and those of one decoder alone."""
        task = self._cfg.task
        settings = {**unset_search_fields(), "search_record_sentences": "0", **fields}
        settings["search_memory"] = task.search_memory
        decoder = decoder_from_settings(settings)
        if decoder.needs_value:
            settings.update(value_path=task.value_path, value_read=task.value_read)
        if decoder.needs_metric:
            if task.search_metric is None:
                option = decoder.metric_option
                what = f"--search {decoder.name}"
                if option is not None:
                    what = as_flag(decoder.name)(option, getattr(decoder.options, option))
                raise ValueError(f"{what} needs a metric: start the server with --search-metric")
            settings.update(
                search_metric=task.search_metric, search_post_process=task.search_post_process
            )
        generation = {name: self._cfg.generation[name] for name in _GENERATION_OPTIONS}
        return Namespace(**generation | settings)
