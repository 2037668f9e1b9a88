"""A metric for score-based searches: from token ids to texts to scores."""

from collections.abc import Sequence

from fairseq_mcts.metrics.base import Metric
from fairseq_mcts.metrics.text import TextDecoder


class SearchMetric:
    """Scores finished sentences of a batch against their sources; see `search.driver.Metric`."""

    batched = True

    def __init__(self, metric: Metric, target_text: TextDecoder, sources: Sequence[str]) -> None:
        self._metric = metric
        self._target_text = target_text
        self._sources = sources

    def __call__(self, sentences: list[int], tokens: list[tuple[int, ...]]) -> list[float]:
        texts = [self._target_text.decode(one) for one in tokens]
        return self._metric.score(texts, [self._sources[sentence] for sentence in sentences])
