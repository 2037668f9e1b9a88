"""Everything that the translations of a command depend on, by content where files are named."""

from argparse import Namespace
from pathlib import Path
from typing import Any

from fairseq import utils

from fairseq_mcts.cli.generate_config import overrides
from fairseq_mcts.cli.generate_input import Input
from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.models.checkpoints import require_files
from fairseq_mcts.subset.named_files import named_files, plain, with_contents
from fairseq_mcts.subset.options import decoder_of, generator_options
from fairseq_mcts.work import Settings
from fairseq_mcts.work.options import threads_of

#: options that name networks, which count by their content
_NETWORKS = ("value_path", "lm_path")
#: options that change no translation that there is without them: a run that has stopped at a
#: sentence goes on with it
_WITHOUT_EFFECT = ("skip_failed",)
#: options of the task that decide which sentences are translated, and how much of them
_LENGTHS = ("truncate_source", "max_source_positions", "max_target_positions")


def generate_settings(cfg: Any, options: Namespace, task: Any, given: Input) -> Settings:
    """See `work.Settings`."""
    decoding = vars(generator_options(cfg))
    decoder = decoder_of(Namespace(**decoding))
    networks = {"path": cfg.common_eval.path, **{name: decoding[name] for name in _NETWORKS}}
    folder = Path(utils.split_paths(task.cfg.data)[0])
    languages = (task.cfg.source_lang, task.cfg.target_lang)
    settings: Settings = {
        "format": 1,
        "input": {
            "kind": given.kind,
            "name": given.name,
            "digest": digest_of_files(given.files),
            "dictionaries": digest_of_files(folder / f"dict.{one}.txt" for one in languages),
            "rows": len(given),
        },
        "languages": "-".join(languages),
        "networks": {name: _digests(name, path) for name, path in networks.items() if path},
        "model_overrides": {name: str(value) for name, value in overrides(cfg).items()},
        "fp16": cfg.common.fp16,
        "seed": cfg.common.seed,
        "decoding": {
            name: plain(value)
            for name, value in decoding.items()
            if name not in (*_NETWORKS, *_WITHOUT_EFFECT)
        },
        "lengths": {name: cfg.task[name] for name in _LENGTHS},
        "text": {
            "post_process": cfg.common_eval.post_process,
            **{kind: with_contents(cfg[kind]) for kind in ("bpe", "tokenizer")},
        },
        "json_lines": options.json_lines,
        "chunk_sentences": options.chunk_sentences,
    }
    if decoder.is_fairseqs_own:  # the last digits of its scores depend on batch and threads
        settings["max_tokens"] = cfg.dataset.max_tokens
        settings["batch_size"] = cfg.dataset.batch_size
        settings["threads"] = threads_of(options)
    if decoding["search_metric"] is not None:
        settings["metric_files"] = named_files(decoding["search_metric"])
    return settings


def n_best(cfg: Any) -> int:
    """How many hypotheses of a sentence are wanted; a file of --search-settings may say it."""
    return int(generator_options(cfg).nbest)


def _digests(name: str, paths: str) -> list[str]:
    files = utils.split_paths(paths)
    require_files(f"--{name.replace('_', '-')}", files)
    return [digest_of_files([Path(path)]) for path in files]
