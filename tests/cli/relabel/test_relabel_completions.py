"""fairseq-mcts-relabel --method completions: labels, shards, kills, mixtures."""

from pathlib import Path

import numpy as np
import pytest
import torch
from fairseq.data import Dictionary

from fairseq_mcts.cli import relabel
from fairseq_mcts.data.scored_folder import ScoredSplit, SplitNames, open_scored_split
from fairseq_mcts.generators.search_generator import Limits, SearchGenerator
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.models.checkpoints import load_models
from fairseq_mcts.relabelling.corpus import open_task
from fairseq_mcts.search import make_decoder
from tests.cli.relabel import forked
from tests.cli.relabel.forked import KILLED
from tests.cli.relabel.runs import CHUNKS, POLICY, content, letters, relabelled

GROWN = (*POLICY, *CHUNKS, "--subset", "valid", "--metric", "letters", "--method", "completions")
METHODS = ["greedy", "sample", "completion", "search"]


@pytest.fixture(scope="module")
def grown(folder: Path) -> Path:
    """The result of an undisturbed run."""
    sampling = ("--samples", "3", "--temperature", "0.75,1")
    report = relabelled(folder, *GROWN, *sampling, "--out", "grown").out
    assert (
        "(completions in 4 rounds of 2 and 3 samples a source at temperature 0.75, 1.0)" in report
    )
    return folder / "grown"


def opened(out: Path) -> ScoredSplit:
    return open_scored_split(SplitNames(out, "valid", "en", "de"))


def plain_greedy(folder: Path) -> SearchGenerator:
    """fairseq's greedy decoding, in the project's terms: it can be told how to begin."""
    task = open_task(folder / "bin", None, None)
    models = load_models("--path", [folder / "model" / "checkpoint_best.pt"], task)
    models[0].make_generation_fast_()
    return SearchGenerator(
        models,
        task.target_dictionary,
        value_models=[],
        decoder=make_decoder("beam", {"beam": 1}),
        limits=Limits(max_len_b=12),
        seed=1,
    )


def test_labels_are_scores_of_plain_greedy_decoding(
    folder: Path, grown: Path, greedy: Path
) -> None:
    split, rows = opened(grown), opened(grown).rows
    assert rows is not None
    assert split.record["methods"] == METHODS
    dictionary = Dictionary.load(str(grown / "dict.de.txt"))
    texts = [[dictionary.string(one) for one in part] for part in (split.samples, split.sources)]
    expected = np.array(list(map(letters, *texts)), np.float32)
    assert split.scores.tolist() == expected.tolist()

    generator = plain_greedy(folder)
    labels = 0
    for number, row in enumerate(rows):
        sample, source = split.samples[number], split.sources[number]
        if METHODS[row["method"]] == "sample":
            assert row["first"] == len(sample)
            continue
        assert (row["first"] == 0) == (METHODS[row["method"]] == "greedy")
        for length in range(int(row["first"]), len(sample)):
            net_input = {"src_tokens": source[None], "src_lengths": torch.tensor([len(source)])}
            begun = {"prefix_tokens": sample[None, :length]} if length else {}
            [[best, *_]] = generator.generate([], {"net_input": net_input}, **begun)
            assert best["tokens"].tolist() == sample.tolist()
            labels += 1
    assert labels > 400


def test_completions_know_the_policys_likelihood(folder: Path) -> None:
    mixed = ("--metric", "mix:letters=0.5,likelihood=0.5", "--samples", "1", "--out", "likely")
    relabelled(folder, *GROWN, *mixed)
    split = opened(folder / "likely")
    assert split.rows is not None
    assert set(split.rows["method"].tolist()) == {0, 1, 2}
    task = open_task(folder / "bin", None, None)
    [model] = load_models("--path", [folder / "model" / "checkpoint_best.pt"], task)
    model.eval()
    expected = []
    for sample, source in zip(split.samples, split.sources, strict=True):
        begun = torch.cat([sample[-1:], sample[:-1]])[None]  # eos y1 .. yn
        with torch.no_grad():
            output = model(source[None], torch.tensor([len(source)]), begun)
        logprobs = model.get_normalized_probs(output, log_probs=True)[0]
        likelihood = logprobs.gather(1, sample[:, None].long()).mean().exp()
        texts = (task.target_dictionary.string(one) for one in (sample, source))
        expected.append(0.5 * letters(*texts) + 0.5 * float(likelihood))
    np.testing.assert_allclose(split.scores, expected, atol=1e-5)


def test_a_source_has_its_greedy_row_completions_and_samples(grown: Path, greedy: Path) -> None:
    split, plain = opened(grown), opened(greedy)
    assert split.rows is not None and plain.rows is not None
    assert sorted(set(split.rows["source"].tolist())) == list(range(21))
    for source in range(21):
        of_source = np.flatnonzero(split.rows["source"] == source)
        methods = [METHODS[one] for one in split.rows["method"][of_source]]
        assert methods == sorted(methods, key=["greedy", "completion", "sample"].index)
        assert split.samples[int(of_source[0])].tolist() == plain.samples[source].tolist()
        assert methods.count("greedy") == 1
        assert 4 <= methods.count("completion") <= 8
        samples = [tuple(split.samples[row].tolist()) for row in of_source.tolist()]
        assert len(set(samples)) == len(samples)
        for row in of_source.tolist():
            assert split.sources[row].tolist() == plain.sources[source].tolist()
            assert split.references[row].tolist() == plain.references[source].tolist()
    assert plain.rows["first"].tolist() == plain.rows["method"].tolist() == [0] * 21


def test_rows_depend_on_source_and_seed_alone(folder: Path, grown: Path) -> None:
    sampling = ("--samples", "3", "--temperature", "0.75,1", "--out", "grown in shards")
    shards = ("--num-shards", "2", "--shard")
    relabelled(folder, *GROWN, *sampling, *shards, "1", "--batch-size", "1")
    relabelled(folder, *GROWN, *sampling, *shards, "0", "--max-tokens", "30")
    relabelled(folder, "bin", "--subset", "valid", "--merge", "--out", "grown in shards")
    assert content(folder / "grown in shards") == content(grown)
    relabelled(folder, *GROWN, "--seed", "2", "--out", "grown otherwise")
    otherwise = {tuple(row.tolist()) for row in opened(folder / "grown otherwise").samples}
    assert len(otherwise - {tuple(row.tolist()) for row in opened(grown).samples}) > 20


@pytest.mark.slow
def test_a_killed_run_goes_on(folder: Path, grown: Path) -> None:
    arguments = (*GROWN, "--samples", "3", "--temperature", "0.75,1", "--out", "grown and killed")

    def has_begun() -> bool:
        return bool(list((folder / "grown and killed").rglob("chunk-*.npz")))

    assert forked.run(relabel.main, folder, arguments, kill_when=has_begun).code == KILLED
    relabelled(folder, *arguments)
    assert content(folder / "grown and killed") == content(grown)


def test_a_metric_with_references_scores_completions_against_them(folder: Path) -> None:
    arguments = (*GROWN, "--metric", "chrf", "--rounds", "1", "--rows-per-round", "3")
    relabelled(folder, *arguments, "--out", "grown by chrf")
    split = opened(folder / "grown by chrf")
    dictionary = Dictionary.load(str(folder / "bin" / "dict.de.txt"))
    pairs = [[dictionary.string(one) for one in part] for part in (split.samples, split.references)]
    expected = np.array(build_metric("chrf").score(*pairs), np.float32)
    assert split.scores.tolist() == expected.tolist()
    assert split.record["decoding"]["rows_per_round"] == 3


def test_a_metric_that_gives_no_number_is_refused_with_the_row(folder: Path) -> None:
    arguments = (*GROWN, "--metric", "faulty", "--out", "grown by a faulty metric")
    ended = forked.run(relabel.main, folder, arguments)
    assert ended.code == 2
    lines = (folder / "valid.en").read_text().splitlines()
    faulty = [row for row, line in enumerate(lines) if "w7" in line.split()]
    told = [row for row in faulty if f"error: row {row}: --metric faulty: gives nan" in ended.err]
    assert len(told) == 1
    assert "no number in [" in ended.err
