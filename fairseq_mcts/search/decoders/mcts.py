"""Monte Carlo tree search: V-MCTS, and MCTS with rollouts (Leblond et al. 2021, section 4.2)."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairseq_mcts.search.decoder import Decoder, Run
from fairseq_mcts.search.mcts_records import Rules
from fairseq_mcts.search.mcts_rules import BACKUPS, BELOW_ROOT, CHOICES, ROOTS
from fairseq_mcts.search.mcts_search import MctsSearch
from fairseq_mcts.search.options import (
    Count,
    DecoderOptions,
    OptionError,
    at_least_one,
    at_least_zero,
    not_negative,
    one_or_more,
    option,
    positive,
)
from fairseq_mcts.search.registry import register_decoder


@dataclass(frozen=True, kw_only=True)
class MctsOptions(DecoderOptions):
    """Options of V-MCTS; with leaf="rollout" of MCTS with rollouts."""

    simulations: Count = option(50, "simulations per output token", check=at_least_one)
    actions: int = option(
        20,
        "most probable tokens that each node chooses from",
        check=at_least_one,
        grid=(5, 10, 20, 50),
    )
    c_puct: float = option(
        3.0,
        "weight of exploration",
        check=not_negative,
        only_with={"root": "puct", "below_root": "puct"},
        grid=(1, 2, 3, 4, 6, 8),
    )
    temperature: float = option(
        1.0,
        "temperature of the prior",
        check=positive,
        grid=(0.9, 1.1, 1.3),
        instead_of="temperature",
    )
    backup: str = option(
        "mean",
        "a node's value Q is made of its own value and of all below: their mean, or their max; or "
        "it is the greatest Q of its children, once it has some (bellman), or the same after each "
        "was averaged with the node's own value by visits (weighted-max), or the power mean of its "
        "own value and its children's Q by visits",
        choices=tuple(BACKUPS),
        grid=tuple(BACKUPS),
    )
    power: float = option(
        4.0,
        "of the power mean: 1 is the mean, and the greater it is, the nearer to the max",
        check=one_or_more,
        only_with={"backup": "power"},
        grid=(2, 4, 8, 16),
    )
    choose: str = option(
        "visits",
        "the next token is the most visited or the best one",
        choices=tuple(CHOICES),
        only_with={"root": "puct"},
        grid=tuple(CHOICES),
    )
    root: str = option(
        "puct",
        "simulations are spread over the first tokens by pUCT, or by sequential halving of the "
        "best by prior and Gumbel noise, of which the best by prior, noise and value is the next "
        "token",
        choices=tuple(ROOTS),
        grid=tuple(ROOTS),
    )
    gumbel_actions: int = option(
        16,
        "first tokens that sequential halving begins with, at most",
        check=at_least_one,
        only_with={"root": "gumbel"},
        grid=(4, 8, 16),
    )
    gumbel_scale: float = option(
        0.0,
        "weight of the noise, seeded by --seed; with 0 there is none, with 1 one simulation is a "
        "draw from the policy",
        check=not_negative,
        only_with={"root": "gumbel"},
    )
    below_root: str = option(
        "puct",
        "a node below the root selects by pUCT, or so that its visits follow the policy improved "
        "by what was seen of their values",
        choices=tuple(BELOW_ROOT),
        grid=tuple(BELOW_ROOT),
    )
    c_scale: float = option(
        0.05,
        "weight of values beside log priors: σ(q) = c_scale (c_visit + most visits of a child) q, "
        "where q is rescaled to [0, 1]",
        check=not_negative,
        only_with={"root": "gumbel", "below_root": "improved"},
        grid=(0.01, 0.02, 0.05, 0.1, 0.2, 1.0),
    )
    c_visit: float = option(
        50.0,
        "visits that a child is taken to have beforehand in σ",
        check=not_negative,
        only_with={"root": "gumbel", "below_root": "improved"},
    )
    leaf: str = option(
        "value",
        "what a new node is worth: the network's value, or the metric of its greedy completion, "
        "which needs no value head",
        choices=("value", "rollout"),
    )
    terminal: str = option(
        "value",
        "what a finished sentence is worth: the network's value after eos, or the metric",
        choices=("value", "metric"),
        grid=("value", "metric"),
    )
    leaves: int = option(
        1,
        "nodes of a sentence that are evaluated at once, each chosen as if those before it had "
        "lost: faster for single sentences, not the same search",
        check=at_least_one,
    )
    prefetch: int | None = option(
        None,
        "calls of the network with fewer prefixes than this are filled up with some that the next "
        "simulations will probably ask for: faster for few sentences, the translations stay the "
        "same; 0 for none, by default as many as a network takes at no cost",
        check=at_least_zero,
        no_effect_with={"leaf": "rollout"},
    )


@register_decoder("mcts")
class MctsDecoder(Decoder[MctsOptions]):
    """Monte Carlo tree search with a value, or with rollouts scored by a metric."""

    Options = MctsOptions
    budget_option = "simulations"
    presets = {
        "privileged": {"temperature": 0.9, "c_puct": 3.0, "backup": "mean", "choose": "visits"},
        "unprivileged": {"temperature": 1.1, "c_puct": 8.0, "backup": "max", "choose": "value"},
    }
    variants = {"V-MCTS": {"leaf": "value"}, "MCTS+Roll": {"leaf": "rollout"}}
    main_options = ("simulations", "c_puct")
    value_unless = {"leaf": ("rollout",)}
    metric_if = {"leaf": ("rollout",), "terminal": ("metric",)}
    builds_trees = True
    records_search = True

    def search(self, run: Run) -> MctsSearch:
        options = self.options
        rollouts = options.leaf == "rollout"
        prefetch = run.efficient_rows if options.prefetch is None else options.prefetch
        return MctsSearch(
            run,
            simulations=options.simulations,
            actions=options.actions,
            temperature=options.temperature,
            prefetch=0 if rollouts else prefetch,
            rules=Rules(
                eos=run.constraints.eos,
                c_puct=float(options.c_puct),
                root=ROOTS[options.root],
                below_root=BELOW_ROOT[options.below_root],
                backup=BACKUPS[options.backup],
                choose=CHOICES[options.choose],
                power=float(options.power),
                gumbel_actions=options.gumbel_actions,
                gumbel_scale=float(options.gumbel_scale),
                c_visit=float(options.c_visit),
                c_scale=float(options.c_scale),
                rollouts=rollouts,
                score_finished=self.scores_finished,
                pause_when_decided=run.looks_at_decisions,
                pause_when_landed=run.recorder is not None,
                leaves=options.leaves,
            ),
        )

    def refuse_unread(self, given: Mapping[str, Any]) -> None:
        super().refuse_unread(given)
        if given.get("terminal") == "value" and self.options.leaf == "rollout":
            raise OptionError(
                "terminal",
                "not with {}, which scores finished sentences by the metric",
                value="value",
                other=("leaf", "rollout"),
            )
