"""fairseq's own beam search, counted; with GNMT's length normalisation if wanted."""

from collections.abc import Callable, Sequence
from functools import cache
from typing import Any

import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fairseq_mcts.generators import output_lines
from fairseq_mcts.generators.failures import Failure, Rescuer, Retrying
from fairseq_mcts.generators.output_lines import PrintedHypothesis
from fairseq_mcts.generators.search_generator import SearchGenerator, printed_number
from fairseq_mcts.generators.statistics import DecodingStatistics
from fairseq_mcts.search import Decoder
from fairseq_mcts.search.faults import FaultySentenceError


class GnmtBeamGenerator(SequenceGenerator):  # type: ignore[misc]
    """Beam search whose finished sentences are ranked by sum / ((5 + t) / 6)^θ (Wu et al. 2016).

    fairseq divides by t^lenpen. The choice only concerns finished sentences, so they are found
    by fairseq's unnormalised search and ranked anew.
    """

    def __init__(self, models: Any, tgt_dict: Any, **options: Any) -> None:
        super().__init__(models, tgt_dict, **{**options, "normalize_scores": False})

    def _generate(self, sample: dict[str, Any], *args: Any, **options: Any) -> Any:
        finished = super()._generate(sample, *args, **options)
        for hypotheses in finished:
            for hypothesis in hypotheses:
                length = len(hypothesis["tokens"])
                hypothesis["score"] = hypothesis["score"] / ((5 + length) / 6) ** self.len_penalty
            hypotheses.sort(key=lambda hypothesis: -float(hypothesis["score"]))
        return finished


def build_fairseq_beam(
    build: Callable[[type | None], SequenceGenerator],
    decoder: Decoder[Any],
    generator_class: type | None,
    greedy: Callable[[], SearchGenerator],
    *,
    skip_failed: bool,
) -> SequenceGenerator:
    """fairseq's generator, which `build` makes of the class it is given, as `decoder` sets it.

    `greedy` makes what answers sentences whose search has failed, with `skip_failed`.
    """
    if decoder.options.normalization == "gnmt":
        if generator_class is not None:
            raise ValueError(f"{generator_class.__name__}: does not normalise as GNMT does")
        generator_class = GnmtBeamGenerator
    generator = build(generator_class)
    drawn_from = getattr(generator.search, "sampling_topk", 0)
    if drawn_from > generator.vocab_size:
        raise ValueError(
            f"--sampling-topk {drawn_from}: the dictionary has {generator.vocab_size} types"
        )
    generator.statistics = DecodingStatistics(decoder.name)
    _count_evaluations(generator)
    generator.generate = _ForgivingGenerate(generator, greedy, skip_failed=skip_failed)
    output_lines.install(generator.statistics)
    return generator


def _count_evaluations(generator: SequenceGenerator) -> None:
    """Counts the decoder rows that fairseq's generator evaluates; it remembers none of them.

    It takes NaN for an impossible token, and goes on: here it is noticed.
    """
    statistics, forward_decoder = generator.statistics, generator.model.forward_decoder

    def counting_decoder(tokens: Any, *args: Any, **options: Any) -> Any:
        statistics.charged += len(tokens)
        statistics.made += len(tokens)
        logprobs, attention = forward_decoder(tokens, *args, **options)
        if torch.isnan(logprobs[..., 0]).any():  # of one token: they are normalised together
            raise FaultySentenceError({}, "the network's policy holds NaN")
        return logprobs, attention

    generator.model.forward_decoder = counting_decoder


class _ForgivingGenerate:
    """`generate` of fairseq's generator, in smaller batches where one does not fit or fails."""

    def __init__(
        self,
        generator: SequenceGenerator,
        greedy: Callable[[], SearchGenerator],
        *,
        skip_failed: bool,
    ) -> None:
        self._statistics: DecodingStatistics = generator.statistics
        self._pad, self._eos = generator.pad, generator.eos
        self._generate = _naming_lengths(generator)
        self._greedy = cache(greedy)  # made once it is needed
        self._skips = skip_failed
        self._retrying: Retrying[Any] = Retrying()

    def __call__(self, models: Any, sample: dict[str, Any], **options: Any) -> Any:
        batch = sample["net_input"]["src_tokens"]  # [B, S]

        def search(places: Sequence[int], *, ahead: bool) -> Any:
            if len(places) == len(batch):
                return self._generate(models, sample, **options)
            rows = torch.tensor(places, device=batch.device)
            chosen = {name: _rows_of(one, rows, len(batch)) for name, one in options.items()}
            return self._generate(models, _rows_of(sample, rows, len(batch)), **chosen)

        def failed(place: int, failure: Failure) -> Any:
            forced = options.get("prefix_tokens")
            prefix = () if forced is None else forced[place][forced[place] != self._pad].tolist()
            source = batch[place][batch[place] != self._pad]
            return self._answer(printed_number(sample, place), source, prefix, place, failure)

        finished = self._retrying.run(len(batch), search, failed)
        self._statistics.sentences += len(finished)
        self._statistics.tokens += sum(len(hypotheses[0]["tokens"]) for hypotheses in finished)
        return finished

    def _answer(
        self, name: str, source: Tensor, prefix: Sequence[int], place: int, failure: Failure
    ) -> list[PrintedHypothesis]:
        rescuer = Rescuer(
            self._skips, lambda _: self._greedy().greedy_translation(source, prefix), self._eos
        )
        answer = rescuer.answer(place, f"sentence {name}", failure)
        self._statistics.failures.append((name, str(answer.failed)))
        return [
            self._greedy().packed(one, source.device, answer.failed) for one in answer.hypotheses
        ]


def _naming_lengths(generator: SequenceGenerator) -> Callable[..., Any]:
    """fairseq's `generate`, which asserts that there is room for a sentence and names no option."""
    generate = generator.generate

    def named(*args: Any, **options: Any) -> Any:
        try:
            return generate(*args, **options)
        except AssertionError as error:
            if "min_len" not in str(error):
                raise
            raise ValueError(
                f"--min-len {generator.min_len}: exceeds the greatest length that --max-len-a "
                f"{generator.max_len_a}, --max-len-b {generator.max_len_b} and the model's "
                "positions allow"
            ) from error

    return named


def _rows_of(given: Any, rows: Tensor, batch: int) -> Any:
    """Some rows of a sample, or of an option, of `batch` sentences."""
    if isinstance(given, dict):
        return {name: _rows_of(one, rows, batch) for name, one in given.items()}
    if isinstance(given, Tensor) and given.dim() and len(given) == batch:
        return given[rows]
    return given
