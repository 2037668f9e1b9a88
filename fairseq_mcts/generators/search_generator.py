"""The searches as a fairseq sequence generator."""

import hashlib
import math
import time
from collections.abc import Callable, Sequence
from contextlib import ExitStack, suppress
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

import numpy as np
import torch
from fairseq.sequence_generator import SequenceGenerator
from torch import Tensor

from fairseq_mcts.decoding.member import Member, make_members
from fairseq_mcts.decoding.network_evaluator import NetworkEvaluator
from fairseq_mcts.decoding.value_readers import gives_variance
from fairseq_mcts.decoding.vocabulary import Vocabulary
from fairseq_mcts.generators.batch_progress import BatchProgress, Finished, counting
from fairseq_mcts.generators.failures import Answer, Failure, Rescuer, Retrying
from fairseq_mcts.generators.output_lines import PrintedHypothesis
from fairseq_mcts.generators.search_metric import SearchMetric, SearchUtility
from fairseq_mcts.generators.search_record import SearchRecord
from fairseq_mcts.generators.statistics import DecodingStatistics
from fairseq_mcts.generators.tree_recorder import TreeRecorder, WatchedSentence
from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoders
from fairseq_mcts.models.network import Network
from fairseq_mcts.search import Decoder, Hypothesis, Run, make_decoder, run_decoder
from fairseq_mcts.search.compiled import announce_compilation
from fairseq_mcts.search.constraints import make_constraints

# position of eos itself, whose value is asked for, behind that of the last token
POSITIONS_BEYOND_LENGTH = 2
# The time of calls with fewer prefixes goes into reading the weights, whatever the number of rows
# (benchmarks/prefetch.py).
EFFICIENT_ROWS = 16


@dataclass(frozen=True)
class Limits:
    """fairseq's generation options that every search honours."""

    max_len_a: float = 0.0
    max_len_b: int = 200
    max_len: int | None = None  # beside them, whatever the source's length
    min_len: int = 1
    match_source_len: bool = False
    no_repeat_ngram_size: int = 0
    unk_penalty: float = 0.0
    n_best: int = 1


class SearchGenerator(SequenceGenerator):  # type: ignore[misc]
    """Decodes fairseq samples with one of the searches.

    A batch is encoded once, then all its sentences are searched together. A sentence's result
    does not depend on the batch it is in.
    """

    def __init__(
        self,
        models: Sequence[Network],
        tgt_dict: Any,
        *,
        value_models: Sequence[Network],
        decoder: Decoder[Any],
        limits: Limits,
        seed: int,
        metric: Metric | None = None,
        text_decoders: Callable[[], TextDecoders] | None = None,
        max_bytes: int | None = None,
        value_caution: float = 0.0,
        cheating_value: bool = False,
        translate_empty: bool = True,
        skip_failed: bool = False,
        trees: TreeRecorder | None = None,
        record: SearchRecord | None = None,
    ) -> None:
        """`text_decoders` is called at the first batch, when the task knows its BPE and tokenizer.

        Values are read `value_caution` standard deviations below their means.
        `cheating_value` lets the value read the reference instead of the source: no
        translation system, but an analysis of what a better value would bring.
        Unless `translate_empty`, a source without a token has an empty translation. A sentence
        whose search fails stops the run, or with `skip_failed` is answered otherwise."""
        super().__init__(
            models,
            tgt_dict,
            max_len_a=limits.max_len_a,
            max_len_b=limits.max_len_b,
            min_len=limits.min_len,
            unk_penalty=limits.unk_penalty,
            match_source_len=limits.match_source_len,
            no_repeat_ngram_size=limits.no_repeat_ngram_size,
        )
        self.statistics = DecodingStatistics(decoder.name)
        self._decoder = decoder
        self._limits = limits
        self._seed = seed
        self._metric = metric
        self._text_decoders = text_decoders
        self._max_bytes = max_bytes
        self._value_caution = value_caution
        self._cheating_value = cheating_value
        self._translate_empty = translate_empty
        self._skip_failed = skip_failed
        self.trees = trees
        self.record = record
        self.progress: BatchProgress | None = None  # who wants to know how far a batch is
        # Sentences of a batch that are searched at the same time, the next joining as one is
        # finished; None: all. It changes no result.
        self.at_once: int | None = None
        self._finished: Finished | None = None  # of the batch at work
        self._retrying: Retrying[Answer] = Retrying()
        self._greedy: SearchGenerator | None = None  # once a search has failed
        self._kept: _KeptMembers | None = None
        penalties = ((self.unk, limits.unk_penalty),) if limits.unk_penalty else ()
        self._vocabulary = Vocabulary(self.eos, self.pad, (self.pad,), penalties)
        self._value_models = torch.nn.ModuleList(value_models).eval()
        self._uses_value = bool(value_models)
        announce_compilation()

    @torch.no_grad()
    def _generate(
        self,
        sample: dict[str, Any],
        prefix_tokens: Tensor | None = None,
        constraints: Tensor | None = None,
        bos_token: int | None = None,
    ) -> list[list[PrintedHypothesis]]:
        if constraints is not None:
            raise ValueError(f"--constraints: --search {self._decoder.name} can't honour them")
        src_tokens = sample["net_input"]["src_tokens"]
        sentences = [_Sentence(source) for source in _without_padding(src_tokens, self.pad)]
        if prefix_tokens is not None:
            for sentence, prefix in zip(sentences, prefix_tokens, strict=True):
                sentence.prefix = prefix[prefix != self.pad].tolist()
        if self._cheating_value:
            for sentence, reference in zip(sentences, self._references(sample), strict=True):
                sentence.reference = reference
        if self.trees is not None or self.record is not None:
            for sentence, numbers in zip(sentences, sentence_numbers(sample), strict=True):
                sentence.numbers = numbers
        with ExitStack() as stack:
            if self.progress is not None:
                self._finished = stack.enter_context(self.progress(len(sentences)))
                stack.callback(setattr, self, "_finished", None)
            answers = self._translate(sentences, bos_token, partial(printed_number, sample))
        if self.trees is not None:
            self.trees.write()
        return [
            [self.packed(one, src_tokens.device, answer.failed) for one in answer.hypotheses]
            for answer in answers
        ]

    @torch.no_grad()
    def translate(self, sources: Sequence[Tensor]) -> list[list[Hypothesis]]:
        """Hypotheses of sentences that are not padded, each a tensor of its tokens."""
        device = next(self.model.models[0].parameters()).device
        sentences = [_Sentence(source.to(device)) for source in sources]
        return [one.hypotheses for one in self._translate(sentences, None, str)]

    def greedy_translation(
        self, source: Tensor, prefix: Sequence[int] = (), bos_token: int | None = None
    ) -> Hypothesis:
        """What the policy alone says, for a sentence whose search has failed."""
        if self._greedy is None:
            self._greedy = SearchGenerator(
                list(self.model.models),
                self.tgt_dict,
                value_models=[],
                decoder=make_decoder("beam", {"beam": 1}),
                limits=replace(self._limits, n_best=1),
                seed=self._seed,
                max_bytes=self._max_bytes,
                translate_empty=self._translate_empty,
            )
        [answer] = self._greedy._translate([_Sentence(source, prefix)], bos_token, str)
        return answer.hypotheses[0]

    def _references(self, sample: dict[str, Any]) -> list[Tensor]:
        if sample.get("target") is None:
            raise ValueError("--cheating-value: there are no references to read")
        return _without_padding(sample["target"], self.pad)

    def _translate(
        self, sentences: list["_Sentence"], bos_token: int | None, name: Callable[[int], str]
    ) -> list[Answer]:
        """Searches all sentences, in smaller batches if all together need too much memory.

        `name` tells how the output calls a sentence, by its place.
        """
        rescuer = Rescuer(
            self._skip_failed,
            lambda place: self.greedy_translation(
                sentences[place].source, sentences[place].prefix, bos_token
            ),
            self.eos,
        )

        def search(places: Sequence[int], *, ahead: bool) -> list[Answer]:
            chosen = [sentences[place] for place in places]
            return [Answer(one) for one in self._search_twice(chosen, bos_token, ahead=ahead)]

        def failed(place: int, failure: Failure) -> Answer:
            answer = rescuer.answer(place, f"sentence {name(place)}", failure)
            self.statistics.failures.append((name(place), str(answer.failed)))
            if self._finished is not None:
                self._finished(1)
            return answer

        answers = self._retrying.run(len(sentences), search, failed)
        self.statistics.add_results([one.hypotheses for one in answers], self._limits.n_best)
        return answers

    def _search_twice(
        self, sentences: list["_Sentence"], bos_token: int | None, *, ahead: bool
    ) -> list[list[Hypothesis]]:
        """A device without memory gets a second chance, without what the last batch has kept."""
        if self._kept is not None:
            with suppress(torch.cuda.OutOfMemoryError):
                return self._search(sentences, bos_token, ahead=ahead)
        return self._search(sentences, bos_token, ahead=ahead)

    def _search(
        self, sentences: list["_Sentence"], bos_token: int | None, *, ahead: bool = True
    ) -> list[list[Hypothesis]]:
        begun = time.perf_counter()
        members = self._take_members()
        sources = [sentence.source for sentence in sentences]
        longest, shortest = self._length_limits([len(source) for source in sources])
        shown = self.trees is not None or self.record is not None
        watched = _watched(sentences) if shown else []
        record = None if self.record is None else self.record.watch(watched)
        evaluator = NetworkEvaluator(
            members,
            self._vocabulary,
            start_token=bos_token,
            max_bytes=self._max_bytes,
            caution=self._value_caution,
            deviations=None if record is None else record.deviations,
        )
        references = [one.reference for one in sentences if one.reference is not None]
        evaluator.begin(sources, references or None)
        self.statistics.encoding += time.perf_counter() - begun
        if not self._translate_empty:
            for sentence in sentences:
                if len(sentence.source) < 2:  # eos alone
                    sentence.prefix = [self.eos]
        # as in fairseq, a forced prefix beats the least length, and the greatest beats it
        prefixes = [one.prefix[:limit] for one, limit in zip(sentences, longest, strict=True)]
        for number, prefix in enumerate(prefixes):
            if self.eos in prefix:
                shortest[number] = 0
        constraints = make_constraints(
            len(sources),
            eos=self.eos,
            max_len=longest,
            min_len=shortest,
            forbidden=self._vocabulary.forbidden,
            prefixes=prefixes,
            no_repeat_ngram_size=self._limits.no_repeat_ngram_size,
        )
        run = Run(
            constraints,
            seed=[sentence_seed(self._seed, source) for source in sources],
            n_best=self._limits.n_best,
            watcher=None if self.trees is None else self.trees.watch(watched),
            recorder=record,
            highest_value=evaluator.highest_value if self._uses_value else math.inf,
            efficient_rows=EFFICIENT_ROWS if ahead else 0,
            at_once=self.at_once,
            vocabulary=self.vocab_size,
        )
        metric = self._search_metric(sources)
        if self._finished is None:
            decoded = run_decoder(self._decoder, run, evaluator, metric)
        else:
            with counting(self._decoder, self._finished) as decoder:
                decoded = run_decoder(decoder, run, evaluator, metric)
        if self.record is not None and record is not None:
            self.record.write(watched, record, decoded.hypotheses)
        needed = decoded.num_slots * evaluator.bytes_per_slot + decoded.num_bytes
        self.statistics.add_search(decoded.timing, needed)
        self._keep(members)
        return decoded.hypotheses

    @property
    def kept_members(self) -> list[Member] | None:
        """The models as ordered for decoding that the next batch will find, if any."""
        return None if self._kept is None else self._kept.members

    def _take_members(self) -> list[Member]:
        """The models, ordered for decoding: those that the last batch kept, if nothing changed.

        They are taken away first, so that a batch that fails leaves none behind.
        """
        kept, self._kept = self._kept, None
        if kept is not None and kept.state == self._state_of_weights():
            return kept.members
        return make_members(
            list(self.model.models),
            list(self._value_models),
            self._vocabulary,
            separate=self._cheating_value,
            with_variance=self._value_caution > 0 or self._tells_deviations,
        )

    @property
    def _tells_deviations(self) -> bool:
        """Whether a record is kept that can say how sure the values were."""
        return self.record is not None and all(
            gives_variance(model.decoder) for model in self._value_models
        )

    def _keep(self, members: list[Member]) -> None:
        """Keeps the models for the next batch, if fairseq has made them ready for inference.

        Others may be trained meanwhile, by optimizers that torch does not see changing weights.
        """
        models = (*self.model.models, *self._value_models)
        if all(getattr(model, "_is_generation_fast", False) for model in models):
            self._kept = _KeptMembers(members, self._state_of_weights())

    def _state_of_weights(self) -> list[tuple[int, int]]:
        """Another one when weights were loaded or moved."""
        models = (*self.model.models, *self._value_models)
        parameters = (parameter for model in models for parameter in model.parameters())
        return [(parameter.data_ptr(), parameter._version) for parameter in parameters]

    def _length_limits(self, source_lengths: list[int]) -> tuple[list[int], list[int]]:
        """Greatest and least number of tokens per sentence, eos not counted."""
        models = [*self.model.models, *self._value_models]
        positions = min(model.max_decoder_positions() for model in models)
        most = positions - (POSITIONS_BEYOND_LENGTH if self._uses_value else 1)
        if self._limits.max_len is not None:
            most = min(most, self._limits.max_len)
        if self._limits.match_source_len:
            # fairseq's count, eos of the source included
            exact = [min(length, most) for length in source_lengths]
            return exact, list(exact)
        limits = self._limits
        longest = [
            min(int(limits.max_len_a * length + limits.max_len_b), most)
            for length in source_lengths
        ]
        for limit in longest:
            if limit < max(limits.min_len, 1):
                raise ValueError(
                    f"--min-len {limits.min_len}: exceeds the greatest length of {limit} that "
                    f"--max-len-a {limits.max_len_a}, --max-len-b {limits.max_len_b} and the "
                    f"model's {positions} positions allow"
                )
        return longest, [limits.min_len] * len(longest)

    def _search_metric(self, sources: list[Tensor]) -> SearchMetric | SearchUtility | None:
        if self._metric is None or self._text_decoders is None:
            return None
        texts = self._text_decoders()
        decoded = texts.source.decode_batch(sources)
        made = SearchUtility if self._decoder.compares_finished else SearchMetric
        return made(self._metric, texts.target, decoded)

    def packed(
        self, hypothesis: Hypothesis, device: torch.device, failed: str | None
    ) -> PrintedHypothesis:
        """A hypothesis in fairseq's form."""
        length = len(hypothesis.tokens)
        value, metric = hypothesis.value, hypothesis.utility
        if self._decoder.scores_finished:
            value, metric = None, hypothesis.value
        lines = [] if failed is None else [("F", failed)]
        for name, number in (("V", value), ("M", metric)):
            if number is not None:
                lines.append((name, f"{number:.6f}"))
        if hypothesis.score not in (value, metric):  # else one of these lines has said it
            lines.append(("R", f"{hypothesis.score:.6f}"))
        if hypothesis.visits:
            lines.append(("N", " ".join(map(str, hypothesis.visits))))
        if self._decoder.reports_weights:
            lines.append(("W", f"{hypothesis.weight:.6g}"))
        if self._cheating_value:
            lines.append(("X", "cheating: the value has read the reference"))
        lines.append(("Q", f"{hypothesis.evaluations.charged}\t{hypothesis.evaluations.made}"))
        return PrintedHypothesis(
            {
                "tokens": torch.tensor(hypothesis.tokens, device=device),
                # the model's own, normalised by length as fairseq's beam search does
                "score": hypothesis.logprob / length,
                "attention": None,
                "alignment": torch.empty(0),
                "positional_scores": torch.tensor(hypothesis.positional_logprobs, device=device),
                "value": value,
                "metric": metric,
                "visits": hypothesis.visits,
                "weight": hypothesis.weight,
                "search_score": hypothesis.score,
                "evaluations": hypothesis.evaluations,
                "failed": failed,
            },
            lines,
        )


@dataclass(frozen=True)
class _KeptMembers:
    """What a batch leaves to the next one."""

    members: list[Member]
    state: list[tuple[int, int]]  # of the weights that they were made of


@dataclass
class _Sentence:
    """One sentence to be decoded."""

    source: Tensor  # [T] without padding
    prefix: Sequence[int] = ()  # tokens that it must start with
    reference: Tensor | None = None  # [R], for a value that cheats
    numbers: tuple[int, ...] = ()  # of the sentence in the output, where searches are recorded


def _without_padding(tokens: Tensor, pad: int) -> list[Tensor]:
    """The sentences of a padded batch [B, T], one by one."""
    return [row[row != pad] for row in tokens]


def sentence_numbers(sample: dict[str, Any]) -> list[tuple[int, ...]]:
    """[B] the numbers that fairseq prints for the sentences of a sample."""
    if "line_numbers" in sample:  # from the task, where fairseq keeps them to itself
        numbers: list[tuple[int, ...]] = sample["line_numbers"]()
        return numbers
    return [(number,) for number in sample["id"].tolist()]


def printed_number(sample: dict[str, Any], place: int) -> str:
    """How the output calls the sentence in this place of a sample."""
    if "line_numbers" not in sample and "id" not in sample:
        return f"{place} of the batch"
    return ", ".join(map(str, sentence_numbers(sample)[place]))


def _watched(sentences: Sequence[_Sentence]) -> list[WatchedSentence]:
    return [WatchedSentence(one.numbers, one.source.tolist()) for one in sentences]


def sentence_seed(seed: int, source: Tensor) -> int:
    """A seed that depends on the sentence and on nothing around it."""
    content = source.cpu().numpy().astype(np.int64).tobytes()
    digest = hashlib.blake2b(content, digest_size=8, key=str(seed).encode()).digest()
    return int.from_bytes(digest, "little") >> 1
