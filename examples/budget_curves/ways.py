"""The ways to decode that are compared: their options, and what is tuned of each."""

from dataclasses import dataclass

from examples.common.mixes import mixed

PUCT, GUMBEL, CAUTIOUS = "V-MCTS, pUCT", "V-MCTS, Gumbel root", "V-MCTS, cautious values"
SAMPLES, MIXES, MBR, BASELINE = "S+R", "S+R by a mix", "MBR", "Baseline"
V_MCTS = (PUCT, GUMBEL, CAUTIOUS)
GROUPS = (*V_MCTS, SAMPLES, MIXES, MBR, BASELINE)  # as they are shown

BACKUPS = ("mean", "max", "bellman", "weighted-max", "power")
#: backups that are also tried with values below their means: those of the paper
CAUTIOUS_BACKUPS = ("mean", "max")
#: ways that are left out unless they are asked for: each takes as long as three by pUCT
EXTRA = ("gumbel-max", "gumbel-weighted-max", "gumbel-power")
MIX_WEIGHTS = (0.9, 0.7, 0.5)  # of the metric; the rest is the likelihood's

_EXPLORATION = ("mcts-c-puct=1,2,4", "mcts-choose=visits,value")
_TEMPERATURES = "0.5,0.75,1"


@dataclass(frozen=True)
class Way:
    """One way to decode."""

    name: str
    group: str
    options: tuple[str, ...]  # as far as they are fixed
    judge: str  # the metric that chooses its settings, as --sweep-metric takes it
    tuned: tuple[str, ...] = ()  # options with the values to try, as --sweep takes them
    like: str = ""  # without options to tune: the way whose settings it has
    by_value: bool = False  # whether it goes by the value of the network
    counted_by: str = "search-budget"  # the option that says how much is searched
    charged_like: str = ""  # the way whose charges it has, rather than its budgets

    @property
    def settings_of(self) -> str:
        """The way whose tuning it decodes with."""
        return self.like or self.name


def make_ways(metric: str, bertscore: str) -> tuple[Way, ...]:
    """All of them, those that take longest first.

    `metric` needs no reference, and the value was trained for it; `bertscore` does.
    """
    return (
        *(_gumbel(backup, metric) for backup in BACKUPS),
        *_samples(metric),
        *_minimum_bayes_risk(bertscore),
        *(_puct(backup, metric) for backup in BACKUPS),
        *(_cautious(backup, metric) for backup in CAUTIOUS_BACKUPS),
        make_beam(metric),
    )


def make_beam(metric: str) -> Way:
    """What all others are compared with: beam search, tuned for the same metric."""
    tuned = ("beam=4,8,16", "lenpen=0.6,1,1.4")
    return Way("beam", BASELINE, (), metric, tuned, counted_by="beam")


def _mcts(backup: str) -> tuple[str, ...]:
    return ("--search", "mcts", "--mcts-backup", backup)


def _exploration(backup: str) -> tuple[str, ...]:
    return (*_EXPLORATION, "mcts-power=2,8") if backup == "power" else _EXPLORATION


def _puct(backup: str, metric: str) -> Way:
    return Way(backup, PUCT, _mcts(backup), metric, _exploration(backup), by_value=True)


def _gumbel(backup: str, metric: str) -> Way:
    options = (*_mcts(backup), "--mcts-root", "gumbel")
    tuned = ("mcts-c-scale=0.05,0.1,0.2", "mcts-below-root=puct,improved")
    return Way(f"gumbel-{backup}", GUMBEL, options, metric, tuned, by_value=True)


def _cautious(backup: str, metric: str) -> Way:
    tuned = (*_exploration(backup), "value-read=lower:0.5,lower:1")
    return Way(f"cautious-{backup}", CAUTIOUS, _mcts(backup), metric, tuned, by_value=True)


def _samples(metric: str) -> list[Way]:
    """Samples, those of which no two are equal, and the same samples by other metrics."""
    options = ("--search", "sr", "--sr-rank-by", "metric", "--search-metric")
    tuned = (f"sr-temperature={_TEMPERATURES}",)
    return [
        Way("sr", SAMPLES, (*options, metric), metric, tuned),
        Way(
            "sr-distinct",
            SAMPLES,
            (*options, metric, "--sr-without-replacement"),
            metric,
            tuned,
            counted_by="sr-samples",
            charged_like="sr",
        ),
        *(
            Way(f"mix-{weight:g}", MIXES, (*options, mixed(metric, weight)), metric, like="sr")
            for weight in MIX_WEIGHTS
        ),
        Way("likelihood", MIXES, (*options, "likelihood"), metric, like="sr"),
    ]


def _minimum_bayes_risk(bertscore: str) -> list[Way]:
    tuned = (f"mbr-temperature={_TEMPERATURES}",)
    return [
        Way(f"mbr-{name}", MBR, ("--search", "mbr", "--search-metric", spec), spec, tuned)
        for name, spec in (("bertscore", bertscore), ("chrf", "chrf"))
    ]
