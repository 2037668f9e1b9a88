"""The decoders' options, as fairseq reads them from a command line."""

import dataclasses
from dataclasses import dataclass, field
from typing import Any, Optional

from fairseq.dataclass import ChoiceEnum, FairseqDataclass

SEARCHES = ChoiceEnum(["beam", "mcts", "vgbs", "sr"])
PRESETS = ChoiceEnum(["privileged", "unprivileged"])
BACKUPS = ChoiceEnum(["mean", "max"])
CHOICES = ChoiceEnum(["visits", "value"])
LEAVES = ChoiceEnum(["value", "rollout"])
TERMINALS = ChoiceEnum(["value", "metric"])
VALUE_SCALES = ChoiceEnum(["plain", "log"])
RANKINGS = ChoiceEnum(["value", "metric"])
NORMALIZATIONS = ChoiceEnum(["length", "gnmt"])


@dataclass
class SearchConfig(FairseqDataclass):  # type: ignore[misc]
    """Options named --mcts-… belong to --search mcts, and so on; given with another search they
    are refused. Unset ones take the preset's value, or the default that the help names."""

    search: SEARCHES = field(  # type: ignore[valid-type]
        default="beam",
        metadata={
            "help": "how to decode: beam (fairseq's own; greedy is --beam 1), mcts (Monte Carlo "
            "tree search with a value), vgbs (value-guided beam search), sr (sample, then rank)"
        },
    )
    search_budget: Optional[int] = field(
        default=None,
        metadata={
            "help": "network evaluations per output token that the paper's accounting charges, "
            "50 by default: sets --mcts-simulations or --sr-samples to it, --vgbs-beam to the "
            "smallest k with k + k^2 >= budget"
        },
    )
    search_preset: Optional[PRESETS] = field(  # type: ignore[valid-type]
        default=None,
        metadata={
            "help": "the paper's settings for metrics that need a reference (privileged: "
            "temperature 0.9, c-puct 3, mean backup, choice by visits; alpha 0.5; sampling at "
            "0.25) or that need none (unprivileged: 1.1, 8, max, by value; 0.9; 0.75)"
        },
    )
    search_metric: Optional[str] = field(
        default=None,
        metadata={
            "help": "metric of finished sentences for --sr-rank-by metric, --mcts-leaf rollout and "
            "--mcts-terminal metric, e.g. mlbertscore:model=FOLDER; one that needs a reference "
            "is refused"
        },
    )
    search_post_process: Optional[str] = field(
        default=None,
        metadata={
            "help": "how the texts of --search-metric and of scorers that compare with the source "
            "are freed from subwords if there is no --bpe: what --post-process is for fairseq's "
            "own output, e.g. subword_nmt or sentencepiece"
        },
    )
    search_memory: Optional[float] = field(
        default=None,
        metadata={
            "help": "at most so many MiB for the keys and values of a batch's remembered "
            "prefixes; a batch that needs more is split. Unbounded by default"
        },
    )
    value_path: Optional[str] = field(
        default=None,
        metadata={
            "help": "checkpoint(s) with a value head whose value is used in place of that of "
            "--path, separated by ':' (the mean is taken)"
        },
    )

    cheating_value: bool = field(
        default=False,
        metadata={
            "help": "analysis only: the value reads the reference instead of the source, as the "
            "paper's 'cheating' rows do; every hypothesis says so in an X line"
        },
    )

    mcts_simulations: Optional[int] = field(
        default=None, metadata={"help": "simulations per output token (default: 50)"}
    )
    mcts_actions: Optional[int] = field(
        default=None,
        metadata={"help": "most probable tokens that each node chooses from (default: 20)"},
    )
    mcts_c_puct: Optional[float] = field(
        default=None, metadata={"help": "weight of exploration (default: 3)"}
    )
    mcts_temperature: Optional[float] = field(
        default=None, metadata={"help": "temperature of the prior (default: 1)"}
    )
    mcts_backup: Optional[BACKUPS] = field(  # type: ignore[valid-type]
        default=None,
        metadata={"help": "a node's value is the mean or the max of all below (default: mean)"},
    )
    mcts_choose: Optional[CHOICES] = field(  # type: ignore[valid-type]
        default=None,
        metadata={"help": "the next token is the most visited or the best one (default: visits)"},
    )
    mcts_leaf: Optional[LEAVES] = field(  # type: ignore[valid-type]
        default=None,
        metadata={
            "help": "what a new node is worth: the network's value, or the --search-metric of its "
            "greedy completion, which needs no value head (default: value)"
        },
    )
    mcts_terminal: Optional[TERMINALS] = field(  # type: ignore[valid-type]
        default=None,
        metadata={
            "help": "what a finished sentence is worth: the network's value after eos, or the "
            "--search-metric (default: value)"
        },
    )

    mcts_leaves: Optional[int] = field(
        default=None,
        metadata={
            "help": "nodes of a sentence that are evaluated at once, each chosen as if those "
            "before it had lost: faster for single sentences, not the same search (default: 1)"
        },
    )
    mcts_prefetch: Optional[int] = field(
        default=None,
        metadata={
            "help": "calls of the network with fewer prefixes than this are filled up with some "
            "that the next simulations will probably ask for: faster for few sentences, the "
            "translations stay the same; 0 for none (default: 16; not with rollouts)"
        },
    )

    mcts_trees: Optional[str] = field(
        default=None,
        metadata={
            "help": "folder for search trees: of each chosen sentence and output token a JSON file "
            "with the whole tree and an SVG picture of its main branches (needs matplotlib); "
            "python -m fairseq_mcts.pictures redraws them with more or fewer branches",
        },
    )
    mcts_tree_sentences: Optional[str] = field(
        default=None,
        metadata={
            "help": "sentences whose trees --mcts-trees writes, by their numbers in the S and H "
            "lines, for example 0,3,7-9 (default: 0)"
        },
    )
    mcts_tree_steps: Optional[str] = field(
        default=None,
        metadata={
            "help": "output tokens whose trees --mcts-trees writes, counted from 1, for example "
            "1,6,9 (default: all of the sentence)"
        },
    )

    vgbs_beam: Optional[int] = field(
        default=None, metadata={"help": "beam size (default: 7, a budget of 50)"}
    )
    vgbs_alpha: Optional[float] = field(
        default=None,
        metadata={
            "help": "weight of the VALUE: candidates are ranked by (1 - alpha) log p / t + alpha "
            "v, so 0 is beam search. The paper's tables mean this; its formula has alpha the "
            "other way round (default: 0.5)"
        },
    )
    vgbs_temperature: Optional[float] = field(
        default=None, metadata={"help": "temperature of the policy (default: 1)"}
    )
    vgbs_value_scale: Optional[VALUE_SCALES] = field(  # type: ignore[valid-type]
        default=None,
        metadata={"help": "rank by the value as it is or by its logarithm (default: plain)"},
    )
    vgbs_value_bounds: Optional[str] = field(
        default=None,
        metadata={
            "help": "low,high that values are cut to before their logarithm (default: 1e-6,1)"
        },
    )

    sr_samples: Optional[int] = field(
        default=None, metadata={"help": "samples per sentence (default: 50); seeded by --seed"}
    )
    sr_temperature: Optional[float] = field(
        default=None, metadata={"help": "temperature of sampling (default: 1)"}
    )
    sr_top_k: Optional[int] = field(
        default=None, metadata={"help": "sample from the k best tokens (default: 0, all)"}
    )
    sr_top_p: Optional[float] = field(
        default=None,
        metadata={"help": "sample from the best tokens that make up this mass (default: 1)"},
    )
    sr_epsilon: Optional[float] = field(
        default=None,
        metadata={"help": "sample no token that is less probable than this (default: 0)"},
    )
    sr_rank_by: Optional[RANKINGS] = field(  # type: ignore[valid-type]
        default=None,
        metadata={
            "help": "rank samples by the value after eos or by --search-metric (default: value)"
        },
    )

    beam_normalization: NORMALIZATIONS = field(  # type: ignore[valid-type]
        default="length",
        metadata={
            "help": "--search beam divides by t^lenpen (length, as fairseq does) or by "
            "((5 + t) / 6)^lenpen (gnmt)"
        },
    )


def decoder_options() -> list["dataclasses.Field[Any]"]:
    """The fields above, without those that fairseq keeps for itself."""
    return [one for one in dataclasses.fields(SearchConfig) if not one.name.startswith("_")]
