"""Decoding, measured batch by batch."""

import time
from collections.abc import Sequence
from typing import Any

from fairseq_mcts.planning.measuring import Stopwatch
from fairseq_mcts.planning.output_size import output_bytes
from fairseq_mcts.planning.parser import make_parser
from fairseq_mcts.planning.rates import BatchCost
from fairseq_mcts.planning.sampling import spread
from fairseq_mcts.register import register
from fairseq_mcts.subset.parsing import parse


class DecodingWork:
    """See `work.Work`: batches of --gen-subset, as fairseq-generate makes them."""

    def __init__(self, arguments: Sequence[str]) -> None:
        self._arguments = tuple(arguments)

    def open(self) -> Stopwatch[Sequence[int]]:
        """Loads networks, and code that is compiled when it is first used."""
        register()
        _, cfg = parse(make_parser, self._arguments)
        decoding = _Decoding(cfg)
        decoding.cost(decoding.batches[0][:1])
        return Stopwatch(decoding.batches, decoding.cost)


class _Decoding:
    def __init__(self, cfg: Any) -> None:
        from fairseq_mcts.subset.decoder import SubsetDecoder
        from fairseq_mcts.subset.options import generator_options

        self._options = generator_options(cfg)
        self._decoder = SubsetDecoder(cfg, None, "")
        [batches] = self._decoder.batches()
        if not batches:
            raise ValueError(f"--gen-subset {cfg.dataset.gen_subset}: holds no sentences")
        self.batches = [batches[number] for number in spread(len(batches))]
        self._generator = self._decoder.build_generator(cfg)

    def cost(self, batch: Sequence[int]) -> BatchCost:
        """What translating a batch costs."""
        statistics = self._generator.statistics
        before = (statistics.tokens, statistics.charged, statistics.made)
        begun = time.perf_counter()
        results = self._decoder.decode(self._generator, batch, self._options)
        seconds = time.perf_counter() - begun
        after = (statistics.tokens, statistics.charged, statistics.made)
        tokens, charged, made = (new - old for new, old in zip(after, before, strict=True))
        lines = texts = 0
        for row, hypotheses in results.items():
            text = self._decoder.hypothesis(hypotheses[0])
            shown = {"S": self._decoder.source(row), "T": self._decoder.reference(row), "H": text}
            lines += output_bytes(shown, hypotheses[: self._options.nbest])
            texts += len(text.encode()) + 1
        return BatchCost(
            sentences=len(results),
            seconds=seconds,
            source_tokens=sum(self._decoder.source_length(row) for row in results),
            rows=len(results),
            tokens=tokens,
            evaluations={"charged": charged, "made": made},
            disk={"lines": lines, "text": texts},
        )
