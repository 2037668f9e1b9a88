"""Metrics by name, with options given as text: `mlbertscore:model=path/to/encoder,layer=3`."""

from collections.abc import Callable, Mapping
from dataclasses import fields
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from fairseq_mcts.metrics.base import Metric, MetricConfig

_METRICS: dict[str, tuple[type[Metric], type[MetricConfig]]] = {}

MetricType = TypeVar("MetricType", bound=type[Metric])

_BOOLEANS = {
    **dict.fromkeys(("1", "true", "yes", "on"), True),
    **dict.fromkeys(("0", "false", "no", "off"), False),
}


def register_metric(
    name: str, config: type[MetricConfig] = MetricConfig
) -> Callable[[MetricType], MetricType]:
    """Class decorator: makes a `Metric` known under `name`, with `config` as its options."""
    if not name or set(name) & set(":,= "):
        raise ValueError(f"metric name {name!r}: must not be empty or hold ':', ',', '=' or spaces")

    def register(cls: MetricType) -> MetricType:
        if not (isinstance(cls, type) and issubclass(cls, Metric)):
            raise TypeError(f"metric {name!r}: {cls!r} is not a subclass of Metric")
        known = _METRICS.get(name)
        # A --user-dir may be imported under two module names: the same class twice is harmless.
        if known is not None and known[0].__qualname__ != cls.__qualname__:
            raise ValueError(f"metric {name!r} is already registered by {known[0].__qualname__}")
        cls.name = name
        _METRICS[name] = (cls, config)
        return cls

    return register


def metric_names() -> list[str]:
    """Names of all registered metrics, sorted."""
    return sorted(_METRICS)


def metric_class(name: str) -> type[Metric]:
    """The class registered under `name`."""
    return _lookup(name)[0]


def parse_metric_spec(spec: str) -> tuple[str, dict[str, str]]:
    """Splits `name:option=value,option=value` into the name and its options."""
    name, _, rest = spec.partition(":")
    options: dict[str, str] = {}
    for item in filter(None, (part.strip() for part in rest.split(","))):
        key, equals, value = item.partition("=")
        if not equals or not key:
            raise ValueError(
                f"metric {spec!r}: cannot read {item!r}; write name:option=value,option=value"
            )
        options[key.strip()] = value.strip()
    return name.strip(), options


def build_metric(
    spec: str, options: Mapping[str, Any] | None = None, *, with_likelihood: bool = False
) -> Metric:
    """Builds the metric that `spec` names; `options` add to those in `spec`, which win.

    A metric that reads likelihoods is only for those who know them, and say so.
    """
    name, spec_options = parse_metric_spec(spec)
    cls, config_class = _lookup(name)
    metric = cls(_make_config(name, config_class, {**(options or {}), **spec_options}))
    if metric.reads_likelihood and not with_likelihood:
        raise ValueError(
            f"metric {spec!r}: reads the policy's likelihood, which only searches and relabelling "
            "know; here there are only texts"
        )
    return metric


def _lookup(name: str) -> tuple[type[Metric], type[MetricConfig]]:
    try:
        return _METRICS[name]
    except KeyError:
        raise ValueError(
            f"unknown metric {name!r}; known: {', '.join(metric_names())}. "
            "A metric of your own must be imported first, e.g. by --user-dir"
        ) from None


def _make_config(
    name: str, config_class: type[MetricConfig], options: Mapping[str, Any]
) -> MetricConfig:
    known, hints = [field.name for field in fields(config_class)], get_type_hints(config_class)
    values: dict[str, Any] = {}
    for key, value in config_class.from_spec(options).items():
        if key not in known:
            listing = ", ".join(known) or "none"
            raise ValueError(f"metric {name!r} has no option {key!r}; its options: {listing}")
        values[key] = _convert(name, key, value, hints[key])
    return config_class(**values)


def _convert(name: str, key: str, value: Any, hint: Any) -> Any:
    """Turns text of a command line into the type of the field; other values pass unchanged."""
    if not isinstance(value, str):
        return value
    if get_origin(hint) in (Union, UnionType):  # Optional[X]
        if value.lower() in ("", "none"):
            return None
        hint = next(arg for arg in get_args(hint) if arg is not type(None))
    try:
        return _BOOLEANS[value.lower()] if hint is bool else hint(value)
    except (KeyError, ValueError):
        raise ValueError(
            f"metric {name!r}: option {key}={value!r} is not of type {hint.__name__}"
        ) from None
