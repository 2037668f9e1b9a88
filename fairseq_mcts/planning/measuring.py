"""Measures decoding in processes of its own, as work on a large corpus would run."""

import itertools
import logging
import multiprocessing
import os
import resource
import signal
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from multiprocessing.connection import Connection
from typing import Any

from fairseq_mcts.planning.output_size import output_bytes
from fairseq_mcts.planning.parser import make_parser
from fairseq_mcts.planning.rates import BatchCost, Rates
from fairseq_mcts.planning.sampling import spread
from fairseq_mcts.register import register
from fairseq_mcts.subset.parsing import parse

_SECONDS_TO_END = 10


def measure(arguments: Sequence[str], seconds: float, together: int) -> Rates:
    """Decodes alone for a while, then the same batches once more in several processes at once."""
    threads = int(os.environ.get("OMP_NUM_THREADS", "1"))
    begun = time.perf_counter()
    workers = [_Worker(arguments, threads) for _ in range(together)]
    try:
        for worker in workers:
            worker.send("load")
        for worker in workers:
            worker.receive()
        start_seconds = time.perf_counter() - begun
        first, *others = workers
        costs = first.ask("measure", seconds / 2 if others else seconds)
        for worker in others:
            worker.send("repeat", len(costs))
        slowdown = 1.0
        if others:
            again = first.ask("repeat once", len(costs))
            ratio = sum(cost.seconds for cost in again) / sum(cost.seconds for cost in costs)
            slowdown = max(ratio, 1.0)  # company makes nobody faster: less is chance
        return Rates(
            costs=costs,
            together=together,
            slowdown=slowdown,
            start_seconds=start_seconds,
            **first.ask("memory"),
            threads=threads,
        )
    finally:
        for worker in workers:
            worker.end()


class _Worker:
    """A process, seen from the one that started it."""

    def __init__(self, arguments: Sequence[str], threads: int) -> None:
        context = multiprocessing.get_context("spawn")
        self._connection, its_end = context.Pipe()
        self._process = context.Process(
            target=_serve, args=(its_end, list(arguments), threads), daemon=True
        )
        self._process.start()
        its_end.close()

    def ask(self, *request: Any) -> Any:
        self.send(*request)
        return self.receive()

    def send(self, *request: Any) -> None:
        self._connection.send(request)

    def receive(self) -> Any:
        try:
            is_error, answer = self._connection.recv()
        except EOFError:
            self._process.join()
            code = self._process.exitcode
            raise OSError(f"a process that measures has ended with exit code {code}") from None
        if is_error:
            raise answer
        return answer

    def end(self) -> None:
        """After the batch that it is at, unless that takes long: it writes nothing."""
        with suppress(OSError):
            self.send("end")
        self._process.join(_SECONDS_TO_END)
        self._process.kill()
        self._process.join()


def _serve(connection: Connection, arguments: list[str], threads: int) -> None:
    """What a process does: answers requests until it is ended."""
    import torch

    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the command, which ends this
    torch.set_num_threads(threads)
    measured: _Measured | None = None
    try:
        while True:
            request, *given = connection.recv()
            if request == "end":
                return
            if request == "load":
                measured = _Measured(arguments)
                connection.send((False, None))
                continue
            assert measured is not None
            if request == "measure":
                connection.send((False, measured.for_seconds(*given)))
            elif request == "repeat once":
                connection.send((False, measured.first_batches(*given)))
            elif request == "memory":
                connection.send((False, _peak_memory()))
            else:
                [count] = given
                measured.repeat(count, until=connection.poll)
    except (ValueError, OSError, ImportError) as error:
        connection.send((True, type(error)(str(error))))
    except EOFError:
        pass  # whoever asked is gone


class _Measured:
    """Networks and batches of --gen-subset."""

    def __init__(self, arguments: list[str]) -> None:
        register()
        from fairseq_mcts.subset.decoder import SubsetDecoder
        from fairseq_mcts.subset.options import generator_options

        logging.getLogger().setLevel(logging.WARNING)
        _, self._cfg = parse(make_parser, arguments)
        self._options = generator_options(self._cfg)
        self._decoder = SubsetDecoder(self._cfg, None, "")
        [batches] = self._decoder.batches()
        if not batches:
            raise ValueError(f"--gen-subset {self._cfg.dataset.gen_subset}: holds no sentences")
        self._batches = [batches[number] for number in spread(len(batches))]
        self._generator = self._decoder.build_generator(self._cfg)
        # compiled code is loaded, or made, when it is first used
        self._decoder.decode(self._generator, self._batches[0][:1], self._options)

    def for_seconds(self, seconds: float) -> list[BatchCost]:
        """Decodes batches until the time is over, one at least and all at most."""
        end = time.perf_counter() + seconds
        costs = []
        for batch in self._batches:
            costs.append(self._decode(batch))
            if time.perf_counter() > end:
                break
        return costs

    def first_batches(self, count: int) -> list[BatchCost]:
        return [self._decode(batch) for batch in self._batches[:count]]

    def repeat(self, count: int, until: Callable[[], bool]) -> None:
        """Keeps the machine as busy as those first batches do."""
        for batch in itertools.cycle(self._batches[:count]):
            if until():
                return
            self._decode(batch)

    def _decode(self, batch: Sequence[int]) -> BatchCost:
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
            tokens=tokens,
            source_tokens=sum(self._decoder.source_length(row) for row in results),
            charged=charged,
            made=made,
            line_bytes=lines,
            text_bytes=texts,
        )


def _peak_memory() -> dict[str, int]:
    import torch

    unit = 1 if sys.platform == "darwin" else 1024
    gpu = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else 0
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
    return {"memory_bytes": peak, "gpu_bytes": gpu}
