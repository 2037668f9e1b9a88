"""Criterion `hybrid`: a value for metrics that need the reference (Leblond et al. 2021, section 5).

Two passes through the same weights: the regular pathway reads the source, the cheating pathway the
reference. The cheating value is easy to learn, and the regular pathway's final layer is drawn
towards the cheating one's.
"""

from dataclasses import dataclass
from typing import Any

from fairseq.criterions import register_criterion
from torch import Tensor

from fairseq_mcts.criterions import losses
from fairseq_mcts.criterions.value import (
    ValueCriterion,
    ValueCriterionConfig,
    reading_the_reference,
    reading_the_source,
)
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.options import option


@dataclass
class HybridCriterionConfig(ValueCriterionConfig):
    """The options of `value`, and the weights of the cheating pathway."""

    cheating_value_weight: float = option(1.0, "weight of the cheating pathway's value loss")
    distance_weight: float = option(
        0.1, "weight of the distance between the pathways' final layers"
    )


@register_criterion("hybrid", dataclass=HybridCriterionConfig)
class HybridCriterion(ValueCriterion):
    """Four losses: policy and value of the regular pathway, value of the cheating pathway, and
    the distance between their final layers, which moves only the regular one."""

    def __init__(self, cfg: HybridCriterionConfig, task: Any) -> None:
        if str(cfg.value_encoder_input) == "reference":
            raise ValueError("--criterion hybrid reads both; leave out --value-encoder-input")
        if cfg.cheating_value_weight < 0 or cfg.distance_weight < 0:
            raise ValueError("--cheating-value-weight and --distance-weight must not be negative")
        super().__init__(cfg, task)
        self._require_joined_dictionary("--criterion hybrid")

    def _refuse_frozen_policy(self, model: Network) -> None:
        if getattr(model, "policy_is_frozen", False):
            raise ValueError(
                "--freeze-policy: --criterion hybrid draws the policy's own layers towards those "
                "that have read the reference; use --criterion value"
            )

    def _loss(self, model: Network, sample: dict[str, Any], log: dict[str, Any]) -> Tensor:
        values_at = self._value_positions(sample)
        regular = model(**reading_the_source(sample), values_at=values_at)
        cheating = model(**reading_the_reference(sample), features_only=True, values_at=values_at)
        loss = self._policy_loss(model, regular, sample, log)
        weight = self._value_losses.value_weight
        loss = loss + weight * self._value_loss(model, regular[1], sample, log)
        loss = loss + self.cfg.cheating_value_weight * self._value_loss(
            model, cheating[1], sample, log, prefix="cheating_"
        )
        scored = sample["scored"]
        counted = scored["prev_output_tokens"].ne(self._pad)
        distance = losses.feature_distance(
            regular[1]["features"], cheating[1]["features"], counted
        ) * (scored["ntokens"] / counted.sum())
        log["distance"] = distance.data
        return loss + self.cfg.distance_weight * distance
