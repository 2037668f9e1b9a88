"""What all settings of a sweep are tried on: sentences and metrics, without networks."""

import hashlib
import json
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any

from fairseq import utils

from fairseq_mcts.data.files import digest_of_files
from fairseq_mcts.metrics import Metric, build_metric
from fairseq_mcts.models.checkpoints import require_files
from fairseq_mcts.subset.decoder import Subset
from fairseq_mcts.subset.named_files import named_files, with_contents
from fairseq_mcts.subset.options import check_data, check_options, generator_options
from fairseq_mcts.subset.parsing import parse
from fairseq_mcts.tuning.grid import NO, Setting
from fairseq_mcts.tuning.objectives import judge, parse_objectives
from fairseq_mcts.tuning.parser import make_parser, num_parts


class Subject:
    """Of one command line."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        # differs wherever the outcome of a trial may; refuses what decoding would refuse
        self.key = cache(self._key)
        options, self._cfg = parse(make_parser, arguments)
        self.metrics = build_metrics(options.sweep_metric)  # before data are read
        self._metric_specs: Sequence[str] = options.sweep_metric
        self.objectives = parse_objectives(options.objective, self.metrics)
        self.judge = judge(self.objectives, self.metrics)
        check_data(self._cfg)
        subset = Subset(self._cfg, options.sweep_sentences, "--sweep-sentences")
        self.parts = num_parts(options)
        if self.parts > subset.num_sentences:
            raise ValueError(
                f"--parts {self.parts}: there are only {subset.num_sentences} sentences"
            )
        rows = range(subset.num_sentences)
        self.sources = [subset.source(row) for row in rows]
        self.references = [subset.reference(row) for row in rows]

    def common_key(self) -> str:
        """Differs where trials can't be compared."""
        return self._digest(self._cfg)

    def _key(self, setting: Setting) -> str:
        _, cfg = parse(make_parser, [*self._arguments, *setting.flags()])
        check_options(cfg)
        options = generator_options(cfg)
        for name, value in setting.values:
            if value == NO and getattr(options, name.replace("-", "_")):
                raise ValueError(
                    f"--sweep {name}={NO}: the command, or its file of --search-settings, gives it"
                )
        return self._digest(cfg)

    def _digest(self, cfg: Any) -> str:
        options = generator_options(cfg)
        everything = [
            _digest_of_networks(cfg.common_eval.path, cfg.task.value_path),
            cfg.common_eval.model_overrides,
            {name: str(value) for name, value in sorted(vars(options).items())},
            [cfg.common.seed, cfg.common.fp16],
            [self.sources, self.references],
            [metric.signature() for metric in self.metrics],
            # files count by their content: one that is replaced makes other translations
            [_of_files(spec) for spec in (options.search_metric, *self._metric_specs)],
            [with_contents(cfg[kind]) for kind in ("bpe", "tokenizer")],
        ]
        return hashlib.blake2b(json.dumps(everything).encode(), digest_size=8).hexdigest()


@cache
def _digest_of_networks(path: str, value_path: str | None) -> str:
    """Differs if a file of --path or --value-path does."""
    files: list[str] = []
    for option, paths in (("--path", path), ("--value-path", value_path)):
        found = utils.split_paths(paths) if paths else []
        require_files(option, found)
        files += found
    return digest_of_files(map(Path, files))


@cache
def _of_files(metric: str | None) -> list[str]:
    """Digests of what the specification of a metric names; folders of encoders are large."""
    return [] if metric is None else named_files(metric)


def build_metrics(specs: Sequence[str]) -> list[Metric]:
    """Those of --sweep-metric."""
    metrics = []
    for spec in specs:
        try:
            metrics.append(build_metric(spec))
        except (ValueError, OSError, ImportError) as error:
            raise ValueError(f"--sweep-metric {spec}: {error}") from error
    if len({metric.name for metric in metrics}) < len(metrics):
        raise ValueError("--sweep-metric: the same metric is asked for twice")
    return metrics
