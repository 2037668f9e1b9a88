"""Everything that a process needs to try settings out, made from a command line."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import NamedTuple

from fairseq_mcts.metrics import Metric, build_metric
from fairseq_mcts.subset.decoder import SubsetDecoder
from fairseq_mcts.subset.parsing import parse
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.parser import PARTS, make_parser
from fairseq_mcts.tuning.proposals import Outcome, Proposals
from fairseq_mcts.tuning.results import TrialStore
from fairseq_mcts.tuning.trying import GoOn, Trier


class Identity(NamedTuple):
    """What is the same for all settings."""

    key: str  # of networks, sentences, metrics and the options that are not swept
    sentences: int


class Workbench:
    """Networks, sentences and metrics in memory; finished trials in a folder."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = list(arguments)
        options, cfg = parse(make_parser, arguments)
        parts = 1 if options.prune is None else options.parts or PARTS
        decoder = SubsetDecoder(cfg, options.sweep_sentences, "--sweep-sentences")
        if parts > decoder.num_sentences:
            raise ValueError(f"--parts {parts}: there are only {decoder.num_sentences} sentences")
        self._trier = Trier(decoder, build_metrics(options.sweep_metric), parts)
        self._store = TrialStore(options.sweep_out)
        self.identity = Identity(self._trier.key(cfg), decoder.num_sentences)

    def outcome(
        self, setting: Setting, goes_on: GoOn, after_batch: Callable[[], None] = lambda: None
    ) -> Outcome:
        """Tries a setting out, unless that has been done."""
        _, cfg = parse(make_parser, [*self._arguments, *setting.flags()])
        key = self._trier.key(cfg)
        trial = self._store.read(key)
        if trial is not None:
            return Outcome(trial, known=True)
        reached: list[tuple[int, float]] = []

        def remember(part: int, score: float) -> bool:
            reached.append((part, score))
            return goes_on(part, score)

        trial = self._trier.try_out(setting, cfg, remember, after_batch)
        if trial is None:
            part, score = reached[-1]
            return Outcome(None, parts=part, score=score)
        self._store.write(key, trial)
        return Outcome(trial)

    def work_through(self, proposals: Proposals) -> None:
        """Tries out all that is proposed, in this process."""
        while (proposal := proposals.next()) is not None:
            goes_on = partial(proposals.goes_on, proposal)
            proposals.finish(
                proposal, self.outcome(proposal.setting, goes_on, proposals.still_there)
            )


def build_metrics(specs: Sequence[str]) -> list[Metric]:
    """Those of --sweep-metric."""
    metrics = [build_metric(spec) for spec in specs]
    if len({metric.name for metric in metrics}) < len(metrics):
        raise ValueError("--sweep-metric: the same metric is asked for twice")
    return metrics
