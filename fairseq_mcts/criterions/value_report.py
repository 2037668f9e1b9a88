"""What validation says of values: collected over all batches, then measured."""

from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

import torch
from fairseq.logging import metrics
from torch import Tensor

from fairseq_mcts.criterions import losses, value_quality


class Judged(NamedTuple):
    """P values that were validated, and what they are judged by: float64 [P] each."""

    values: Tensor
    scores: Tensor
    relative: Tensor  # position / length, in [0, 1)
    finished: Tensor  # 1 after the closing eos
    sources: Tensor  # equal for equal sources
    lengths: Tensor  # tokens of the sample
    likelihood: Tensor  # log-probability a token of the whole sample, NaN where not known


def judged_values(
    extra: dict[str, Tensor],  # of the model
    scores: Tensor,  # [B]
    counted: Tensor,  # bool [B, T]
    is_token: Tensor,  # bool [B, T] no padding
    source_keys: Tensor,  # [B]
) -> Tensor:
    """[P, 7] the columns of `Judged`."""
    values = extra["value"]
    lengths = is_token.sum(dim=1) - 1.0
    if "token_logprobs" in extra:
        likelihood = (extra["token_logprobs"] * is_token).sum(dim=1) / lengths
    else:
        likelihood = torch.full_like(lengths, torch.nan)
    judged = Judged(
        values=values,
        scores=scores.unsqueeze(1),
        relative=(is_token.cumsum(dim=1) - 1) / is_token.sum(dim=1, keepdim=True),
        finished=losses.last_positions(is_token),
        sources=source_keys.to(values.device).unsqueeze(1),
        lengths=lengths.unsqueeze(1),
        likelihood=likelihood.unsqueeze(1),
    )
    columns = [column.expand_as(values)[counted].double() for column in judged]
    return torch.stack(columns, dim=1).cpu()


def log_value_quality(logging_outputs: list[dict[str, Any]], prefix: str) -> None:
    """Logs the measures of value_quality.py over everything that was validated."""
    key = f"_{prefix}values"
    rows = [log[key] for log in logging_outputs if key in log]
    if not rows:
        return
    judged = torch.cat(rows)
    metrics.log_concat_tensor(key, judged)

    def derive(name: str, measure: Callable[[Judged], float], *, finished: bool = False) -> None:
        """`measure` is of all positions, or of finished samples only."""

        def rounded(meters: Any) -> float:
            every = Judged(*meters[key].tensor.unbind(dim=1))
            wanted = every.finished > 0
            some = Judged(*(column[wanted] for column in every)) if finished else every
            return round(measure(some), 4)

        metrics.log_derived(f"{prefix}{name}", rounded)

    quality = value_quality
    derive("value_mae", lambda j: quality.mean_absolute_error(j.values, j.scores))
    derive(
        "value_mae_finished",
        lambda j: quality.mean_absolute_error(j.values, j.scores),
        finished=True,
    )
    derive("value_mae_of_mean", lambda j: quality.error_of_the_mean(j.scores))
    derive("value_pearson", lambda j: quality.pearson(j.values, j.scores))
    derive("value_pearson_finished", lambda j: quality.pearson(j.values, j.scores), finished=True)
    derive("value_kendall_finished", lambda j: quality.kendall(j.values, j.scores), finished=True)
    derive("value_ece", lambda j: quality.calibration_error(j.values, j.scores))
    columns = Judged(*judged.unbind(dim=1))
    if quality.has_differing_samples(columns.scores, columns.sources):
        _log_choices(derive, knows_likelihood=not bool(columns.likelihood.isnan().any()))
    if bool(columns.finished.all()):  # finished samples only: there are no other positions
        return
    for part in range(quality.POSITION_BINS):
        derive(
            f"value_mae_part{part + 1}",
            partial(_error_of_part, part),
        )


def _error_of_part(part: int, judged: Judged) -> float:
    errors = value_quality.error_by_position(judged.values, judged.scores, judged.relative)
    return errors[part]


def _log_choices(derive: Callable[..., None], *, knows_likelihood: bool) -> None:
    """Logs how well values choose among the finished samples of a source, as searches do."""
    quality = value_quality

    def of_best(column: str) -> Callable[[Judged], float]:
        """What the best by value has more of than its source's samples on average."""
        return lambda j: quality.gain_of_the_best(j.values, getattr(j, column), j.sources)

    def overrating(judged: Judged) -> float:
        best = quality.best_of_sources(judged.values, judged.sources)
        return float((judged.values - judged.scores)[best].mean())

    derive(
        "value_pearson_within",
        lambda j: quality.pearson_within(j.values, j.scores, j.sources),
        finished=True,
    )
    derive("value_best_gain", of_best("scores"), finished=True)
    derive("value_best_length", of_best("lengths"), finished=True)
    derive("value_best_overrated", overrating, finished=True)
    derive(
        "score_best_gain",
        lambda j: quality.gain_of_the_best(j.scores, j.scores, j.sources),
        finished=True,
    )
    if knows_likelihood:
        derive(
            "likelihood_best_gain",
            lambda j: quality.gain_of_the_best(j.likelihood, j.scores, j.sources),
            finished=True,
        )
