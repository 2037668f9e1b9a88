"""Batches with scores against a slow version that says what each cell must be."""

from typing import Any

import numpy as np
import pytest
import torch
from fairseq.data import LanguagePairDataset

from fairseq_mcts.data.scored_dataset import ScoredPairDataset
from fairseq_mcts.data.scored_folder import ROW, ScoredDataError, open_scored_split
from fairseq_mcts.data.source_groups import SourceGroups
from tests.data.conftest import EOS, PAD


def make_dataset(scored: Any, **options: Any) -> ScoredPairDataset:
    opened = open_scored_split(scored.names)
    return ScoredPairDataset(
        opened.sources,
        opened.samples,
        opened.references,
        opened.scores,
        **{"pad": PAD, "eos": EOS, "shuffle": False, **options},
    )


def padded(rows: list[list[int]], *, left: bool) -> list[list[int]]:
    longest = max(map(len, rows))
    fill = [[PAD] * (longest - len(row)) for row in rows]
    return [f + r if left else r + f for f, r in zip(fill, rows, strict=True)]


@pytest.mark.parametrize("left", [True, False])
def test_a_batch_holds_what_the_criterions_need(scored: Any, left: bool) -> None:
    dataset = make_dataset(scored, left_pad_source=left)
    chosen = [3, 14, 15, 9, 26, 5, 35]
    batch = dataset.collater([dataset[index] for index in chosen])

    order = sorted(chosen, key=lambda row: len(scored.sources[row]), reverse=True)
    sources = [scored.sources[row].tolist() for row in order]
    references = [scored.references[row].tolist() for row in order]
    samples = [scored.samples[row].tolist() for row in order]
    assert batch["id"].tolist() == order
    assert batch["nsentences"] == 7
    assert batch["ntokens"] == sum(map(len, references))
    assert batch["net_input"]["src_tokens"].tolist() == padded(sources, left=left)
    assert batch["net_input"]["src_lengths"].tolist() == list(map(len, sources))
    assert batch["target"].tolist() == padded(references, left=False)
    shifted = [[EOS, *reference[:-1]] for reference in references]
    assert batch["net_input"]["prev_output_tokens"].tolist() == padded(shifted, left=False)

    rows = batch["scored"]
    assert rows["ntokens"] == sum(map(len, samples))
    assert rows["reference"]["src_tokens"].tolist() == padded(references, left=left)
    assert rows["reference"]["src_lengths"].tolist() == list(map(len, references))
    fed = [[EOS, *sample] for sample in samples]
    assert rows["prev_output_tokens"].tolist() == padded(fed, left=False)
    wanted = [[*sample, PAD] for sample in samples]
    assert rows["target"].tolist() == padded(wanted, left=False)
    assert rows["target"].shape == rows["prev_output_tokens"].shape
    assert int(rows["target"].ne(PAD).sum()) == rows["ntokens"]
    assert rows["score"].dtype == torch.float64
    assert rows["score"].tolist() == scored.scores[order].tolist()
    assert dataset.collater([]) == {}


def test_sources_are_batched_as_fairseq_does(scored: Any) -> None:
    dataset = make_dataset(scored)
    opened = open_scored_split(scored.names)

    class Symbols:
        pad = staticmethod(lambda: PAD)
        eos = staticmethod(lambda: EOS)
        unk = staticmethod(lambda: 3)

    theirs = LanguagePairDataset(
        opened.sources,
        opened.sources.sizes,
        Symbols(),
        opened.samples,
        opened.samples.sizes,
        Symbols(),
        shuffle=False,
    )
    assert dataset.ordered_indices().tolist() == theirs.ordered_indices().tolist()
    expected = theirs.collater([theirs[index] for index in range(20)])
    batch = dataset.collater([dataset[index] for index in range(20)])
    lengths = batch["net_input"]["src_lengths"]
    assert torch.equal(lengths, expected["net_input"]["src_lengths"])
    assert batch["net_input"]["src_tokens"].shape == expected["net_input"]["src_tokens"].shape
    # one column more: the closing eos
    assert batch["scored"]["target"].shape[1] == expected["target"].shape[1] + 1


def test_sizes_count_both_ends_of_the_sample_and_the_reference(scored: Any) -> None:
    dataset = make_dataset(scored)
    rows = np.arange(len(dataset))
    encoder = [max(len(scored.sources[row]), len(scored.references[row])) for row in rows]
    decoder = [len(scored.samples[row]) + 1 for row in rows]
    assert [dataset.size(row) for row in rows] == list(zip(encoder, decoder, strict=True))
    assert [dataset.num_tokens(row) for row in rows] == list(map(max, encoder, decoder))
    assert dataset.num_tokens_vec(rows).tolist() == list(map(max, encoder, decoder))

    kept, ignored = dataset.filter_indices_by_size(rows, (8, 10))
    fitting = [row for row in rows if encoder[row] <= 8 and decoder[row] <= 10]
    assert 0 < len(fitting) < len(rows)
    assert kept.tolist() == fitting
    assert sorted([*kept, *ignored]) == rows.tolist()
    # what is kept fits into a decoder of 10 positions, closing eos and all
    batch = dataset.collater([dataset[row] for row in kept])
    assert batch["scored"]["prev_output_tokens"].shape[1] <= 10
    assert dataset.filter_indices_by_size(rows, 9)[0].tolist() == [
        row for row in rows if encoder[row] <= 9 and decoder[row] <= 9
    ]
    assert dataset.filter_indices_by_size(rows, None)[0].tolist() == rows.tolist()


def test_order_is_by_length_and_shuffled_within(scored: Any) -> None:
    dataset = make_dataset(scored, shuffle=True)
    lengths = [(len(x), len(y)) for x, y in zip(scored.sources, scored.samples, strict=True)]
    np.random.seed(1)  # noqa: NPY002 (the generator that fairseq seeds)
    first, second = dataset.ordered_indices(), dataset.ordered_indices()
    for order in (first, second):
        assert sorted(order) == list(range(50))
        assert [lengths[row] for row in order] == sorted(lengths)
    assert first.tolist() != second.tolist()


def test_widths_are_multiples_if_asked_for(scored: Any) -> None:
    dataset = make_dataset(scored, pad_to_multiple=8)
    batch = dataset.collater([dataset[index] for index in range(5)])
    for tokens in (
        batch["net_input"]["src_tokens"],
        batch["net_input"]["prev_output_tokens"],
        batch["target"],
        batch["scored"]["prev_output_tokens"],
        batch["scored"]["target"],
        batch["scored"]["reference"]["src_tokens"],
    ):
        assert tokens.shape[1] % 8 == 0


def test_prefetching_is_passed_on_to_data_that_want_it(scored: Any) -> None:
    class Prefetched(list[Any]):
        supports_prefetch = True

        def prefetch(self, indices: Any) -> None:
            self.asked = list(indices)

    assert not make_dataset(scored).supports_prefetch
    parts = [Prefetched([torch.tensor([EOS])] * 2) for _ in range(3)]
    dataset = ScoredPairDataset(*parts, np.zeros(2, np.float32), pad=PAD, eos=EOS)
    assert dataset.supports_prefetch
    dataset.prefetch(np.array([1, 0]))
    assert [part.asked for part in parts] == [[1, 0]] * 3


def test_rows_that_do_not_fit_together_are_refused(scored: Any) -> None:
    opened = open_scored_split(scored.names)
    with pytest.raises(ScoredDataError, match="differ in length: 50, 50, 50, 3"):
        ScoredPairDataset(
            opened.sources, opened.samples, opened.references, opened.scores[:3], pad=PAD, eos=EOS
        )


def test_a_sample_without_eos_is_refused_with_its_row(scored: Any) -> None:
    samples = [torch.tensor([EOS]), torch.tensor([5, 6])]
    dataset = ScoredPairDataset(
        samples, samples, samples, np.zeros(2, np.float32), pad=PAD, eos=EOS
    )
    assert dataset[0]["scores"] == [0]
    with pytest.raises(ScoredDataError, match="row 1: its sample does not end in eos"):
        dataset[1]


GROUPS = (0, 4, 5, 12, 30, 50)  # first rows of five sources, and the number of rows


def make_grouped(scored: Any, **options: Any) -> ScoredPairDataset:
    """Rows of a source should have its first row's source and reference: the others are unread."""
    first = np.array([len(sample) // 2 for sample in scored.samples], np.int32)
    groups = SourceGroups(np.array(GROUPS))
    return make_dataset(scored, groups=groups, first=first, **options)


def test_a_batch_keeps_the_rows_of_a_source_together(scored: Any) -> None:
    dataset = make_grouped(scored)
    assert len(dataset) == 5
    batch = dataset.collater([dataset[index] for index in (2, 0, 1)])
    order = sorted((2, 0, 1), key=lambda group: -len(scored.sources[GROUPS[group]]))
    assert batch["id"].tolist() == order
    assert batch["nsentences"] == 3
    sources = [scored.sources[GROUPS[group]].tolist() for group in order]
    assert batch["net_input"]["src_tokens"].tolist() == padded(sources, left=True)
    references = [scored.references[GROUPS[group]].tolist() for group in order]
    assert batch["target"].tolist() == padded(references, left=False)

    rows = [row for group in order for row in range(GROUPS[group], GROUPS[group + 1])]
    places = [
        place for place, group in enumerate(order) for _ in range(GROUPS[group], GROUPS[group + 1])
    ]
    of_rows = batch["scored"]
    assert of_rows["source"].tolist() == places
    assert of_rows["score"].tolist() == scored.scores[rows].tolist()
    assert of_rows["first"].tolist() == [len(scored.samples[row]) // 2 for row in rows]
    assert of_rows["first"].dtype == of_rows["source"].dtype == torch.int64
    fed = [[EOS, *scored.samples[row].tolist()] for row in rows]
    assert of_rows["prev_output_tokens"].tolist() == padded(fed, left=False)
    assert of_rows["ntokens"] == sum(len(scored.samples[row]) for row in rows)
    assert of_rows["reference"]["src_tokens"].tolist() == padded(references, left=True)


def test_a_source_counts_all_its_rows(scored: Any) -> None:
    dataset = make_grouped(scored)
    for group in range(5):
        rows = range(GROUPS[group], GROUPS[group + 1])
        longest = max(len(scored.samples[row]) for row in rows) + 1
        pair = max(len(scored.sources[rows[0]]), len(scored.references[rows[0]]))
        assert dataset.size(group) == (pair, longest)
        assert dataset.num_tokens(group) == max(pair, longest * len(rows))
    assert dataset.num_tokens_vec(np.arange(5)).tolist() == list(map(dataset.num_tokens, range(5)))


@pytest.mark.parametrize("limit", [{"rows_per_source": 3}, {}])
def test_what_does_not_fit_is_drawn_anew_in_each_epoch(
    scored: Any, limit: dict[str, int], caplog: pytest.LogCaptureFixture
) -> None:
    dataset = make_grouped(scored, **limit)
    caplog.set_level("INFO")
    if not limit:  # the last sources have 18 and 20 rows of at most 12 tokens and an eos
        batches = dataset.batch_by_size(dataset.ordered_indices(), max_tokens=100)
        assert sorted(index for batch in batches for index in batch) == list(range(5))
        assert "2 of 5 sources have more rows than --max-tokens 100 allows" in caplog.text
        assert all(dataset.num_tokens(group) <= 100 for group in range(5))
    counts = [len(dataset[group]["samples"]) for group in range(5)]
    assert counts == [3, 1, 3, 3, 3] if limit else counts[:3] == [4, 1, 7] and counts[4] < 20

    def drawn(seed: int, epoch: int) -> list[float]:
        dataset.set_seed(seed)
        dataset.set_epoch(epoch)
        return dataset[4]["scores"]

    assert drawn(1, 1) == drawn(1, 1)
    assert len({tuple(drawn(seed, epoch)) for seed in (1, 2) for epoch in (1, 2)}) == 4
    seen = {score for epoch in range(60) for score in drawn(1, epoch)}
    assert seen == set(scored.scores[30:50].tolist())
    assert not dataset.can_reuse_epoch_itr_across_epochs
    assert make_dataset(scored).can_reuse_epoch_itr_across_epochs


def test_groups_are_found_in_rows_and_joined() -> None:
    rows = np.zeros(6, ROW)
    rows["source"] = [3, 3, 4, 9, 9, 9]
    groups = SourceGroups.of(rows, 6)
    assert [list(groups.rows(group)) for group in range(3)] == [[0, 1], [2], [3, 4, 5]]
    both = SourceGroups.joined([groups, SourceGroups.of(None, 2), SourceGroups.of(rows[:0], 0)])
    assert both.counts.tolist() == [2, 1, 3, 1, 1]
    assert both.greatest(np.arange(8, dtype=np.int32)).tolist() == [1, 2, 5, 6, 7]
