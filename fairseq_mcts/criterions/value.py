"""Criterion `value`: trains a policy and the value of its prefixes together."""

import math
from dataclasses import dataclass
from typing import Any, Optional

import torch
from fairseq import utils
from fairseq.criterions import FairseqCriterion, register_criterion
from fairseq.dataclass import ChoiceEnum, FairseqDataclass
from fairseq.logging import metrics
from omegaconf import II
from torch import Tensor

from fairseq_mcts.criterions import losses
from fairseq_mcts.criterions.teacher import Teacher
from fairseq_mcts.criterions.value_losses import PRESETS, value_losses
from fairseq_mcts.criterions.value_report import judged_values, log_value_quality
from fairseq_mcts.models.network import Network
from fairseq_mcts.models.options import option

POLICY_LOSSES = ChoiceEnum(["kl", "reverse-kl", "nll"])
VALUE_PRESETS = ChoiceEnum(list(PRESETS))
VALUE_TARGETS = ChoiceEnum(["one-hot", "hl-gauss"])
ENCODER_INPUTS = ChoiceEnum(["source", "reference"])
VALUE_POSITIONS = ChoiceEnum(["every", "finished"])


@dataclass
class ValueCriterionConfig(FairseqDataclass):  # type: ignore[misc]
    """Each loss is a mean over its own positions, times its weight."""

    policy_weight: float = option(1.0, "weight of the policy loss")
    value_preset: VALUE_PRESETS = option(  # type: ignore[valid-type]
        "within-sources",
        "how the value is learned unless options say otherwise. within-sources: by what a search "
        "asks, from several rows a source; paper: as Leblond et al. did, from greedy translations",
    )
    value_weight: Optional[float] = option(
        None, "weight of the value's losses (default: 1, of the paper's preset 0.1)"
    )
    policy_loss: POLICY_LOSSES = option(  # type: ignore[valid-type]
        "kl",
        "kl: KL(policy || teacher) as in the paper; reverse-kl: KL(teacher || policy); nll: "
        "likelihood of the sample, without a teacher",
    )
    teacher_path: Optional[str] = option(
        None, "checkpoint(s) of the supervised policy, kept frozen, for the KL losses"
    )
    label_smoothing: float = option(0.0, "of --policy-loss nll; 0 means none")
    value_target: Optional[VALUE_TARGETS] = option(  # type: ignore[valid-type]
        None,
        "the bucket of the score, or a normal distribution around it (default: hl-gauss, of the "
        "paper's preset one-hot)",
    )
    hl_gauss_sigma: Optional[float] = option(
        None,
        "width of --value-target hl-gauss in buckets (default: a fortieth of the buckets)",
    )
    value_encoder_input: ENCODER_INPUTS = option(  # type: ignore[valid-type]
        "source",
        "what the encoder reads; reference is for the analysis of how hard the value is, needs a "
        "joined dictionary and allows no policy loss",
    )
    value_positions: VALUE_POSITIONS = option(  # type: ignore[valid-type]
        "every", "learn the value of every prefix, or of finished samples only"
    )
    within_source_weight: Optional[float] = option(
        None,
        "weight of the squared error within a source (values and scores less their means over the "
        "rows of the same source) beside the cross-entropy (default: 100, of the paper's preset 0)",
    )
    finished_weight: Optional[float] = option(
        None,
        "how many times a finished sample counts in the value's losses, each of its prefixes once "
        "(default: 5, of the paper's preset 1)",
    )
    match_weight: Optional[float] = option(
        None,
        "weight of the squared error of matches: how similar each token of the sample is to each "
        "of the source by the metric, and to the most similar one, which the first comparison of "
        "--value-head comparing is to find; for data that has them (default: 10, of the paper's "
        "preset 0)",
    )
    sentence_avg: bool = II("optimization.sentence_avg")


@register_criterion("value", dataclass=ValueCriterionConfig)
class ValueCriterion(FairseqCriterion):  # type: ignore[misc]
    """Policy loss over the sample's tokens and value loss over all its prefixes.

    A sample is fed as eos y1 .. yn eos: the policy is learned on the first n + 1 positions, the
    value on all n + 2, the last of which has read the closing eos.
    """

    def __init__(self, cfg: ValueCriterionConfig, task: Any) -> None:
        super().__init__(task)
        self.cfg = cfg
        self._pad = task.target_dictionary.pad()
        self._teacher: Optional[Teacher] = None
        refuse_idle_options(cfg)
        self._value_losses = value_losses(cfg)
        if str(cfg.value_encoder_input) == "reference":
            self._require_joined_dictionary("--value-encoder-input reference")
            if cfg.match_weight:
                raise ValueError("--match-weight: not with --value-encoder-input reference")
            if cfg.policy_weight:
                raise ValueError(
                    "--value-encoder-input reference: a policy that reads the reference would "
                    "learn to copy it; add --policy-weight 0"
                )
        if cfg.policy_weight and str(cfg.policy_loss) != "nll":
            if cfg.teacher_path is None:
                raise ValueError(
                    f"--policy-loss {cfg.policy_loss} needs --teacher-path; without a teacher use "
                    "--policy-loss nll"
                )
            self._teacher = Teacher(cfg.teacher_path, task)

    def forward(
        self, model: Network, sample: dict[str, Any], reduce: bool = True
    ) -> tuple[Tensor, int, dict[str, Any]]:
        """The loss, what its gradient is divided by, and what is logged."""
        if "scored" not in sample:
            raise ValueError(
                "the data has no scores: make a folder with fairseq-mcts-relabel and train on that"
            )
        self._refuse_frozen_policy(model)
        log: dict[str, Any] = {}
        loss = self._loss(model, sample, log)
        tokens = sample["scored"]["ntokens"]
        sample_size = sample["nsentences"] if self.cfg.sentence_avg else tokens
        log.update(loss=loss.data, ntokens=tokens, sample_size=sample_size)
        log["nsentences"] = sample["nsentences"]
        return loss, sample_size, log

    def _loss(self, model: Network, sample: dict[str, Any], log: dict[str, Any]) -> Tensor:
        """The weighted sum of all losses, which are logged."""
        reads_source = str(self.cfg.value_encoder_input) == "source"
        net_input = reading_the_source(sample) if reads_source else reading_the_reference(sample)
        output = model(
            **net_input,
            features_only=not self.cfg.policy_weight,
            values_at=self._value_positions(sample),
        )
        loss = self._policy_loss(model, output, sample, log)
        weight = self._value_losses.value_weight
        return loss + weight * self._value_loss(model, output[1], sample, log)

    def _policy_loss(
        self, model: Network, output: Any, sample: dict[str, Any], log: dict[str, Any]
    ) -> Tensor:
        """Summed over the tokens, weighted; also logs likelihood and divergence."""
        if not self.cfg.policy_weight:
            return output[0].new_zeros((), dtype=torch.float32)
        # the last position of the longest sample has read the closing eos: nothing follows
        target = sample["scored"]["target"][:, :-1]
        counted = target.ne(self._pad)
        logprobs = model.get_normalized_probs(output, log_probs=True).float()[:, :-1]
        log["nll_loss"] = losses.policy_nll(logprobs.detach(), target, counted).data
        if self._teacher is None:
            loss = losses.policy_nll(logprobs, target, counted, self.cfg.label_smoothing)
        else:
            shorter = reading_the_source(sample)
            shorter["prev_output_tokens"] = shorter["prev_output_tokens"][:, :-1]
            supervised = self._teacher.logprobs(shorter)
            is_reverse = str(self.cfg.policy_loss) == "reverse-kl"
            loss = losses.policy_kl(logprobs, supervised, counted, from_teacher=is_reverse)
            log["kl_loss"] = loss.data
        log["policy_loss"] = loss.data
        return self.cfg.policy_weight * loss

    def _value_loss(
        self,
        model: Network,
        extra: dict[str, Tensor],
        sample: dict[str, Any],
        log: dict[str, Any],
        prefix: str = "",
    ) -> Tensor:
        """Mean over the positions times the number of tokens, unweighted; logs under `prefix`."""
        scored, options = sample["scored"], self._value_losses
        is_token = scored["prev_output_tokens"].ne(self._pad)
        is_last = losses.last_positions(is_token)
        counted = self._value_positions(sample)
        weights = torch.where(is_last, options.finished_weight, 1.0) * counted  # [B, T]
        per_token = scored["ntokens"] / weights.sum()
        edges = model.decoder.value_head.bucket_edges
        sigma = options.sigma(len(edges) - 1)
        loss = per_token * losses.value_cross_entropy(
            extra["value_logits"], scored["score"], edges, weights, sigma
        )
        log[f"{prefix}value_loss"] = loss.data
        if options.within_source_weight:
            within = per_token * losses.error_within_sources(
                extra["value"], scored["score"], weights, scored["source"]
            )
            log[f"{prefix}within_loss"] = within.data
            loss = loss + options.within_source_weight * within
        if self._learns_matches(extra, sample, prefix):
            error = losses.match_error(extra["similarities"], scored["similarities"])
            error = error * scored["ntokens"]
            log["match_loss"] = error.data
            loss = loss + options.match_weight * error
        if not self.training:
            log[f"_{prefix}values"] = judged_values(
                extra, scored["score"], counted, is_token, self._source_keys(sample)
            )
        return loss

    def _learns_matches(
        self, extra: dict[str, Tensor], sample: dict[str, Any], prefix: str
    ) -> bool:
        """Whether the head's matches are drawn to the metric's; who asks for what can't be is told.

        The metric has compared with the source, so a pathway that reads something else does not.
        """
        if prefix or not self._value_losses.match_weight:
            return False
        for missing, why in (
            ("similarities" not in extra, "the value head compares nothing with the source"),
            (
                "similarities" not in sample["scored"],
                "the data has no similarities of tokens; fairseq-mcts-relabel makes them with a "
                "metric that compares tokens with the source (mlbertscore)",
            ),
        ):
            if missing and self.training and self.cfg.match_weight:
                raise ValueError(f"--match-weight {self.cfg.match_weight}: {why}")
            if missing:
                return False
        return str(self.cfg.value_encoder_input) == "source"

    def _value_positions(self, sample: dict[str, Any]) -> Tensor:
        """bool [B, T]: the prefixes whose values are learned."""
        scored = sample["scored"]
        is_token = scored["prev_output_tokens"].ne(self._pad)
        if str(self.cfg.value_positions) == "finished":
            return losses.last_positions(is_token)
        return losses.from_first(is_token, scored["first"])

    def _source_keys(self, sample: dict[str, Any]) -> Tensor:
        """[B] float64: equal for rows of equal sources only, as far as 52 bits can tell."""
        sources = sample["net_input"]["src_tokens"].cpu()
        keys = [hash(tuple(row[row.ne(self._pad)].tolist())) % 2**52 for row in sources]
        return torch.tensor(keys, dtype=torch.float64)[sample["scored"]["source"].cpu()]

    def _refuse_frozen_policy(self, model: Network) -> None:
        if self.cfg.policy_weight and getattr(model, "policy_is_frozen", False):
            raise ValueError(
                "--freeze-policy: nothing would follow from the policy loss; add --policy-weight 0"
            )

    def _require_joined_dictionary(self, option: str) -> None:
        if self.task.source_dictionary != self.task.target_dictionary:
            raise ValueError(
                f"{option}: the encoder also reads target-language text, so source and target "
                "need one dictionary (fairseq-preprocess --joined-dictionary)"
            )

    @staticmethod
    def logging_outputs_can_be_summed() -> bool:
        """No: validation collects the values themselves."""
        return False

    @classmethod
    def reduce_metrics(cls, logging_outputs: list[dict[str, Any]]) -> None:
        """Logs what the batches of all workers add up to."""
        tokens = sum(log.get("ntokens", 0) for log in logging_outputs)
        sample_size = sum(log.get("sample_size", 0) for log in logging_outputs)
        loss = sum(float(log.get("loss", 0)) for log in logging_outputs)
        metrics.log_scalar("loss", loss / sample_size / math.log(2), sample_size, round=4)
        of_losses = ("policy_loss", "nll_loss", "kl_loss", "value_loss", "cheating_value_loss")
        of_squares = ("within_loss", "cheating_within_loss", "match_loss", "distance")
        for name in (*of_losses, *of_squares):
            if any(name in log for log in logging_outputs):
                total = sum(float(log.get(name, 0)) for log in logging_outputs)
                base = math.log(2) if name == "nll_loss" else 1.0
                digits = 6 if name in of_squares else 4
                metrics.log_scalar(name, total / tokens / base, tokens, round=digits)
        if any("nll_loss" in log for log in logging_outputs):
            metrics.log_derived("ppl", lambda meters: utils.get_perplexity(meters["nll_loss"].avg))
        for prefix in ("", "cheating_"):
            log_value_quality(logging_outputs, prefix)


def refuse_idle_options(cfg: ValueCriterionConfig) -> None:
    """Refuses a weight below 0 and options of the policy's loss that nothing would read."""
    if cfg.policy_weight < 0:
        raise ValueError("--policy-weight must not be negative")
    likelihood = str(cfg.policy_loss) == "nll"
    if cfg.teacher_path is not None and (likelihood or not cfg.policy_weight):
        raise ValueError("--teacher-path: not with --policy-loss nll or --policy-weight 0")
    if cfg.label_smoothing and not (likelihood and cfg.policy_weight):
        raise ValueError("--label-smoothing: belongs to --policy-loss nll")


def reading_the_source(sample: dict[str, Any]) -> dict[str, Tensor]:
    """The input of the network: G sources, and the B samples whose prefixes have values."""
    return _network_input(sample, sample["net_input"])


def reading_the_reference(sample: dict[str, Any]) -> dict[str, Tensor]:
    """The same with references in place of the sources."""
    return _network_input(sample, sample["scored"]["reference"])


def _network_input(sample: dict[str, Any], read: dict[str, Tensor]) -> dict[str, Tensor]:
    scored = sample["scored"]
    return {
        "src_tokens": read["src_tokens"],
        "src_lengths": read["src_lengths"],
        "prev_output_tokens": scored["prev_output_tokens"],
        "source_of_row": scored["source"],
    }
