"""What `--optimised [NAME=]METRIC` says: by what each system's decoding went."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from fairseq_mcts.cli.errors import naming
from fairseq_mcts.metrics import Metric, metric_class, parse_metric_spec

NOTHING = "none"


@dataclass(frozen=True)
class Optimised:
    """What the decoding of a system went by."""

    spec: str  # as it was said, or "none"
    metrics: frozenset[str] = frozenset()  # by name; those of a mix and it itself
    judges: frozenset[str] = frozenset()  # theirs, as far as they are known

    def touches(self, metric: Metric) -> bool:
        """Whether a score by `metric` is no independent verdict: it is one of these, or shares a
        judge with one."""
        return metric.name in self.metrics or not self.judges.isdisjoint(metric.judges)


def read_optimised(
    arguments: Sequence[str],
    systems: Sequence[str],
    baseline: str,
    metrics: Sequence[Metric],
    encoder: str | None = None,
) -> dict[str, Optimised]:
    """What each system's decoding optimised; systems of which nothing was said are left out.

    `metrics` are those that are computed: the judge of a metric that is named without options is
    read off the one of its name. `encoder` is the model of those that are not among them.
    """
    computed = {metric.name: metric for metric in metrics}
    defaults = {} if encoder is None else {"model": encoder}
    found: dict[str, Optimised] = {}
    for argument in arguments:
        name, spec = _split_system(argument, systems)
        with naming(f"--optimised {argument}"):
            optimised = _parse(spec, systems, computed, defaults)
        others = [system for system in systems if system != baseline] or list(systems)
        for system in [name] if name else others:
            found[system] = optimised
    return found


def _split_system(argument: str, systems: Sequence[str]) -> tuple[str, str]:
    """`NAME=METRIC` if NAME is a system; equals signs are also part of names and metrics."""
    named = [system for system in systems if argument.startswith(f"{system}=")]
    if not named:
        return "", argument
    name = max(named, key=len)
    return name, argument[len(name) + 1 :]


def _parse(
    spec: str, systems: Sequence[str], computed: Mapping[str, Metric], defaults: Mapping[str, str]
) -> Optimised:
    if spec == NOTHING:
        return Optimised(NOTHING)
    if "=" in spec.partition(":")[0]:  # no metric has such a name
        raise ValueError(f"the systems are {', '.join(systems)}")
    name, options = parse_metric_spec(spec)
    if not options and name in computed:
        return Optimised(spec, frozenset({name}), computed[name].judges)
    parts = metric_class(name).parts_of(options)  # refuses unknown names
    judges: set[str] = set()
    for part, given in parts.items():  # not built: that may need an encoder that is gone
        cls = metric_class(part)
        own = cls.judge_of(given)
        if own is None and part in computed:
            judges |= computed[part].judges
        else:
            judges.add(own or cls.judge_of({**defaults, **given}) or part)
    return Optimised(spec, frozenset({name, *parts}), frozenset(judges))
