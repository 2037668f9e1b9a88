"""Relabelling as work for any engine: a worker loads policy and metric once and labels chunks."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import torch

from fairseq_mcts.relabelling.checked_metric import CheckedMetric
from fairseq_mcts.relabelling.chunks import as_arrays
from fairseq_mcts.relabelling.corpus import Corpus
from fairseq_mcts.relabelling.labeller import Labeller
from fairseq_mcts.relabelling.plan import Data, Plan
from fairseq_mcts.relabelling.row_matches import RowMatcher
from fairseq_mcts.relabelling.text_corpus import Extremes
from fairseq_mcts.work import Advance, Arrays, Chunk


@dataclass(frozen=True)
class LabellingMaker:
    """A labeller and the corpora that it takes rows of."""

    labeller: Labeller
    corpora: dict[str, Corpus]  # by the names of the splits that are made

    def make(self, chunk: Chunk, advance: Advance) -> Arrays:
        """See `work.Maker`."""
        return as_arrays(*self.labeller.label(self.corpora[chunk.part], chunk.rows, advance))


class LabellingWork:
    """See `work.Work`."""

    def __init__(
        self,
        describe: Callable[[], Plan],
        splits: Sequence[str],  # those that are not complete
        opened: tuple[Plan, Data] | None = None,
        surveys: Mapping[str, Extremes] | None = None,
    ) -> None:
        """`describe` is sent to workers, who make the plan anew; this process has it `opened`.

        `surveys` of texts, by splits, are sent too: to split all lines takes long.
        """
        self._describe = describe
        self._splits = splits
        self._opened = opened
        self._surveys = surveys or {}

    def __reduce__(self) -> Any:
        return LabellingWork, (self._describe, self._splits, None, self._surveys)

    def open(self) -> LabellingMaker:
        """Loads networks; refuses sources that are too long, unless they are to be left out."""
        if self._opened is None:
            plan = self._describe()
            data = plan.open()
        else:
            plan, data = self._opened
        recipe, task = plan.recipe, data.task
        device = torch.device("cuda" if torch.cuda.is_available() and not plan.cpu else "cpu")
        models = recipe.policy.load(task, device)
        metric = CheckedMetric(recipe.metric)
        value_models = [] if recipe.value is None else recipe.value.load(task, device)
        makers = recipe.decoding.row_makers(
            models, value_models, task.target_dictionary, metric, data.texts
        )
        positions = min(int(model.max_positions()[0]) for model in (*models, *value_models))
        matcher = RowMatcher(metric, data.texts) if recipe.makes_matches else None
        labeller = Labeller(makers, metric, data.texts, plan.limits, positions, matcher)
        corpora = {one.split: one for one in data.corpora if one.split in self._splits}
        if not recipe.skip_too_long:
            for split, corpus in corpora.items():
                if split in self._surveys:
                    corpus.sources.extremes = self._surveys[split]
                corpus.refuse_unfit(positions)
        return LabellingMaker(labeller, corpora)
