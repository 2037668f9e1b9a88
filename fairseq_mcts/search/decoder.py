"""What a decoder is: its options, its needs, its cost, and the search that it starts.

One class says everything about a decoder. Flags, refusals, presets, budgets, sweeps, help and
documentation are read off it; `docs/add-a-decoder.md` walks through an example.
"""

import inspect
import math
from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, TypeVar

import numpy as np

from fairseq_mcts.search.constraints import Constraints
from fairseq_mcts.search.driver import Search
from fairseq_mcts.search.options import (
    Count,
    DecoderOptions,
    OptionError,
    OptionInfo,
    at_least_one,
    option_infos,
)
from fairseq_mcts.search.recording import SearchRecorder
from fairseq_mcts.search.results import Hypothesis
from fairseq_mcts.search.scorer import Scorer
from fairseq_mcts.search.snapshot import TreeWatcher

OptionsT = TypeVar("OptionsT", bound=DecoderOptions)

# settings of options: any of these values of that option
Settings = Mapping[str, tuple[Any, ...]]


@dataclass(frozen=True)
class Run:
    """What a search is started on: sentences, and what is known of the model that answers."""

    constraints: Constraints
    seed: int | Sequence[int] = 0  # of draws; one for all sentences, or one for each
    n_best: int | None = 1  # hypotheses per sentence; None: all that are finished
    trace: bool = False  # keep each output token's search
    watcher: TreeWatcher | None = None  # is shown whole search trees
    recorder: SearchRecorder | None = None  # is told everything that a search does
    # No value of the model is greater. It changes no result, but the less it is the fewer
    # evaluations are made.
    highest_value: float = math.inf
    # A call of the model with fewer prefixes takes as long as one with so many. It changes no
    # result either: searches may fill calls up with prefixes that they will probably ask for.
    efficient_rows: int = 0
    # Sentences that are searched at the same time; the next joins when one is finished, in their
    # order. It changes no result. None: all of them.
    at_once: int | None = None
    # The model knows so many tokens. It changes no result: searches that want to look at more of
    # them than there are make no room for these. None: it is not known.
    vocabulary: int | None = None

    def actions(self, wanted: int) -> int:
        """So many next tokens of a prefix, or all that there are."""
        return wanted if self.vocabulary is None else min(wanted, self.vocabulary)

    @property
    def num_sentences(self) -> int:
        return len(self.constraints.max_len)

    @property
    def looks_at_decisions(self) -> bool:
        """Whether anybody wants to see a token's search before the next one begins."""
        watched = self.watcher is not None or self.recorder is not None
        return self.trace or self.n_best != 1 or watched

    def __post_init__(self) -> None:
        if self.n_best is not None and self.n_best < 1:
            raise ValueError(f"n_best: must be at least 1, is {self.n_best}")
        if self.at_once is not None and self.at_once < 1:
            raise ValueError(f"at_once: must be at least 1, is {self.at_once}")
        if math.isnan(self.highest_value):
            raise ValueError("highest_value: must be a number, is nan")


class Decoder(ABC, Generic[OptionsT]):
    """A decoding algorithm with its options set.

    The first line of a subclass's docstring is its description in help texts and documentation.
    """

    name: ClassVar[str]  # set by @register_decoder
    Options: ClassVar[type[DecoderOptions]]
    #: the option that a budget of network evaluations per output token sets, if there is one
    budget_option: ClassVar[str | None] = None
    #: named sets of options
    presets: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    #: algorithms with names of their own that it is with these options; a page offers each
    variants: ClassVar[Mapping[str, Mapping[str, Any]]] = {}
    #: the options to ask for first, where there is room for few
    main_options: ClassVar[tuple[str, ...]] = ()
    #: whether it reads the network's value, and the settings under which it does not
    uses_value: ClassVar[bool] = True
    value_unless: ClassVar[Settings] = {}
    #: whether it scores finished sentences by a metric always, or under which settings it does
    uses_metric: ClassVar[bool] = False
    metric_if: ClassVar[Settings] = {}
    #: whether the metric compares finished sentences with one another, not with the source: then
    #: it may be one that needs a reference
    compares_finished: ClassVar[bool] = False
    #: whether it builds search trees, which can be traced and watched
    builds_trees: ClassVar[bool] = False
    #: whether its search tells a recorder what it does (`recording`)
    records_search: ClassVar[bool] = False
    #: whether fairseq's own generator is this decoder, so that its commands use that one
    is_fairseqs_own: ClassVar[bool] = False
    #: options with which it translates as fairseq's own decoder does, but tells what it does
    as_fairseqs_own: ClassVar[Mapping[str, Any] | None] = None
    #: fairseq's generation option whose place the decoder takes
    instead_of: ClassVar[str | None] = None

    def __init__(self, options: OptionsT) -> None:
        self.options = options

    @abstractmethod
    def search(self, run: Run) -> Search:
        """The algorithm, ready to be driven (see `driver.Search`)."""

    @staticmethod
    def charge(count: int) -> int:
        """Network evaluations per output token that the paper charges for this `budget_option`."""
        return count

    @property
    def reranks(self) -> bool:
        """Whether `rerank` decides among all finished sentences."""
        return type(self).rerank is not Decoder.rerank

    def rerank(
        self, finished: list[list[Hypothesis]], scorer: Scorer | None
    ) -> list[list[Hypothesis]]:
        """Orders, for each sentence, all finished ones that the search has met, the best first.

        Only a decoder that overrides this has the search keep them all. `scorer` asks the metric
        of the run, if it has one; the sentences come together so that it is asked once for all.
        """
        return finished

    @property
    def needs_value(self) -> bool:
        """Whether it reads the network's value with these options."""
        return self.uses_value and self._setting_among(self.value_unless) is None

    @property
    def metric_option(self) -> str | None:
        """The first option whose setting asks for a metric, if one does."""
        return self._setting_among(self.metric_if)

    @property
    def needs_metric(self) -> bool:
        """Whether it scores sentences by a metric with these options."""
        return self.uses_metric or self.metric_option is not None

    @classmethod
    def may_use_metric(cls) -> bool:
        """Whether it scores sentences by a metric with any options."""
        return cls.uses_metric or bool(cls.metric_if)

    @property
    def aggregating_option(self) -> str | None:
        """The option whose setting asks for a metric that aggregates references, if one does."""
        return None

    @property
    def scores_finished(self) -> bool:
        """Whether the value of a hypothesis is that of the metric, not the network's."""
        return self.needs_metric

    @property
    def reports_weights(self) -> bool:
        """Whether the weights of hypotheses tell more than how often each was drawn."""
        return False

    @property
    def most_hypotheses(self) -> int | None:
        """It can't find more finished sentences than this; None: not known beforehand."""
        return None

    def _setting_among(self, settings: Settings) -> str | None:
        for name, values in settings.items():
            if getattr(self.options, name) in values:
                return name
        return None

    @classmethod
    def summary(cls) -> str:
        """What it does, in one line."""
        return (inspect.getdoc(cls) or cls.__name__).partition("\n")[0].rstrip(".")

    @classmethod
    def option_infos(cls) -> dict[str, OptionInfo]:
        """Its options by name."""
        return option_infos(cls.Options)

    @classmethod
    def count_for_budget(cls, budget: Count) -> Count:
        """The smallest `budget_option` that is charged the budget at least."""
        if cls.budget_option is None:
            raise OptionError("budget", f"{cls.name!r} has no count that it could set")
        wrong = at_least_one(budget)
        if wrong is not None:
            raise OptionError("budget", wrong)
        if not isinstance(budget, (int, np.integer)):
            return [cls._smallest_count(int(one)) for one in budget]
        return cls._smallest_count(int(budget))

    @classmethod
    def _smallest_count(cls, budget: int) -> int:
        """Charges grow with the count, and no count is charged less than itself."""
        low, high = 1, budget
        while low < high:
            middle = (low + high) // 2
            low, high = (low, middle) if cls.charge(middle) >= budget else (middle + 1, high)
        return low

    @classmethod
    def with_options(
        cls, given: Mapping[str, Any], *, preset: str | None = None, budget: Count | None = None
    ) -> "Decoder[Any]":
        """The decoder with what is given, which beats the budget, which beats the preset."""
        infos = cls.option_infos()
        for name in given:
            if name not in infos:
                raise TypeError(
                    f"search={cls.name!r} has no option {name!r}; it has {', '.join(infos)}"
                )
        settings: dict[str, Any] = {}
        if preset is not None:
            if preset not in cls.presets:
                known = ", ".join(map(repr, cls.presets)) or "none"
                raise OptionError(
                    "preset", f"{preset!r} is none of {cls.name!r}, which has {known}"
                )
            settings.update(cls.presets[preset])
        if budget is not None:
            count = cls.count_for_budget(budget)
            settings[str(cls.budget_option)] = count
        settings.update(given)
        options: Any = cls.Options(**settings)
        return cls(options)

    def refuse_unread(self, given: Mapping[str, Any]) -> None:
        """Refuses an option that was given, but that nothing reads with the others as they are.

        For command lines: a function call may spell defaults out.
        """
        infos = self.option_infos()
        for name, value in given.items():
            for other, setting in infos[name].no_effect_with.items():
                if getattr(self.options, other) == setting:
                    raise OptionError(
                        name, "has no effect with {}", value=value, other=(other, setting)
                    )
            needed = infos[name].only_with
            if needed and all(getattr(self.options, one) != needed[one] for one in needed):
                raise OptionError(
                    name, "has an effect only with {}", value=value, others=list(needed.items())
                )
