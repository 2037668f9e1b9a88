"""Metrics by name, and options given as text."""

from collections.abc import Sequence
from dataclasses import dataclass

import pytest

from fairseq_mcts.metrics import (
    Metric,
    MetricConfig,
    build_metric,
    metric_class,
    metric_names,
    parse_metric_spec,
    register_metric,
)
from fairseq_mcts.metrics.bleu import Bleu


@dataclass
class ShoutConfig(MetricConfig):
    mark: str = "!"
    weight: float = 1.0
    limit: int | None = None
    strict: bool = False


@register_metric("shout", config=ShoutConfig)
class Shout(Metric):
    """How many marks a text has beside the source, at most `limit`."""

    privileged = False
    config: ShoutConfig

    def score(self, hypotheses: Sequence[str], others: Sequence[str]) -> list[float]:
        self.check_pairs(hypotheses, others)
        return [self.config.weight * (self.config.mark in text) for text in hypotheses]

    def signature(self) -> str:
        return f"mark:{self.config.mark}"


def test_privilege_is_declared() -> None:
    privileged = {name: metric_class(name).privileged for name in metric_names()}
    assert privileged["bleu"] and privileged["chrf"] and privileged["bertscore"]
    assert not privileged["mlbertscore"] and not privileged["comet_qe"]


def test_spec_is_split_into_name_and_options() -> None:
    assert parse_metric_spec("bleu") == ("bleu", {})
    assert parse_metric_spec("mlbertscore:model=a/b=c,layer=3") == (
        "mlbertscore",
        {"model": "a/b=c", "layer": "3"},
    )


def test_options_take_the_type_of_their_field() -> None:
    metric = build_metric("shout:weight=0.5,limit=3,strict=yes,mark=?", {"weight": 2, "limit": 1})
    assert metric.config == ShoutConfig(mark="?", weight=0.5, limit=3, strict=True)
    assert build_metric("shout:limit=none").config == ShoutConfig(limit=None)


def test_own_metric_has_a_corpus_score_and_a_format() -> None:
    metric = build_metric("shout")
    assert metric.corpus_score(["a!", "b", "c!", "d"], [""] * 4) == 0.5
    assert metric.format(0.5) == "0.5000"
    assert metric.compares_with == "source"


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ("blue", "unknown metric 'blue'; known: bertscore, bleu"),
        ("bleu:tokenise=13a", "no option 'tokenise'; its options: tokenize, lowercase"),
        ("bleu:lowercase", "cannot read 'lowercase'"),
        ("bleu:lowercase=maybe", "lowercase='maybe' is not of type bool"),
        ("shout:limit=3.5", "limit='3.5' is not of type int"),
        ("bleu:tokenize=14a", "tokenize='14a' must be one of"),
        ("bleu:smooth_method=much", "smooth_method='much' must be one of"),
        ("bleu:max_ngram_order=0", "max_ngram_order=0 must be positive"),
        ("chrf:char_order=0", "char_order and beta must be at least 1"),
    ],
)
def test_bad_specs_are_named(spec: str, message: str) -> None:
    with pytest.raises(ValueError, match=message.replace("(", r"\(")):
        build_metric(spec)


def test_a_name_belongs_to_one_class() -> None:
    register_metric("bleu", config=type(build_metric("bleu").config))(Bleu)  # again: harmless
    with pytest.raises(ValueError, match="already registered by Bleu"):
        register_metric("bleu")(Shout)
    with pytest.raises(TypeError, match="not a subclass of Metric"):
        register_metric("thing")(int)  # type: ignore[type-var]
    with pytest.raises(ValueError, match="must not be empty or hold"):
        register_metric("a:b")


def test_unequal_or_single_texts_are_refused() -> None:
    metric = build_metric("shout")
    with pytest.raises(ValueError, match="2 hypotheses but 1 sources"):
        metric.score(["a", "b"], ["c"])
    with pytest.raises(TypeError, match="got a single text"):
        metric.score("a", ["c"])
    with pytest.raises(ValueError, match="an empty corpus has no score"):
        metric.corpus_score([], [])
