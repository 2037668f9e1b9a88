"""fairseq-mcts-plan: a table and figures from a short measurement."""

import gzip
import json
from pathlib import Path

import pytest

from fairseq_mcts.cli import generate, plan, relabel
from fairseq_mcts.cli.generate_work import GenerateWork
from fairseq_mcts.cli.plan_decoding import Decoding, make_parser
from fairseq_mcts.planning.measuring import FEWEST_BATCHES, Turn
from fairseq_mcts.planning.rates import BatchCost
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import PAIRS, SEEN, UNSEEN, Trained

SENTENCES = UNSEEN + SEEN


def decoding(models: Trained, *more: str) -> list[str]:
    """Options of the plan and of fairseq-mcts-generate alike."""
    return [
        *(str(models.data), "--path", str(models.dual), "--cpu", "--batch-size", "3"),
        *("--post-process", "sentencepiece", "--search", "mcts", "--mcts-simulations", "4"),
        *("--max-len-b", "15", "--chunk-sentences", "19", *more),
    ]


def total(costs: list[BatchCost], name: str) -> int:
    return sum(getattr(cost, name) for cost in costs)


@pytest.mark.parametrize("given", [(), ("--json-lines", "--input")])
def test_decoding_is_measured_as_it_is_done(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    given: tuple[str, ...],
) -> None:
    """By the code of fairseq-mcts-generate: sentences join, and all figures are its own."""
    if given:
        text = tmp_path / "test.gz"
        text.write_bytes(gzip.compress((trained.folder / "subwords" / "test.en").read_bytes()))
        given = (*given, str(text))
    arguments = decoding(trained, *given)
    generate.main([*arguments, "--out", str(tmp_path / "out"), "--plain-text"])
    record = json.loads((tmp_path / "out" / "generate-test.json").read_text(encoding="utf-8"))

    maker = GenerateWork(arguments, make_parser).open()
    measured = Decoding(maker, 19)
    costs = [measured.cost(batch) for batch in measured.batches(Turn(60.0, sentences=19))]
    assert maker.generator.at_once == 3
    assert total(costs, "sentences") == total(costs, "rows") == SENTENCES
    assert total(costs, "tokens") == record["counts"]["tokens"]
    for name in ("charged", "made"):
        assert sum(cost.evaluations[name] for cost in costs) == record["counts"][name]
    written = {"lines": "generate-test.txt", "text": "translations-test.txt"}
    if given:
        written["json"] = "hypotheses-test.jsonl"
    for name, file in written.items():
        size = (tmp_path / "out" / file).stat().st_size
        assert sum(cost.disk[name] for cost in costs) == size
    assert set(costs[0].disk) == {*written, "chunks"}


def test_slow_decoders_are_measured_on_less_than_a_chunk(trained: Trained) -> None:  # noqa: F811
    measured = Decoding(GenerateWork(decoding(trained), make_parser).open(), 19)
    for seconds, sentences in ((1e-3, 3), (1e3, 19)):  # no less than a batch
        batches = measured.batches(Turn(seconds))
        assert {len(batch.rows) for batch in batches} == {sentences}
        assert len({batch.rows for batch in batches}) == SENTENCES // sentences


@pytest.mark.slow
def test_measured_rates_are_projected(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    plan.main(
        [
            *(str(trained.data), "--path", str(trained.dual), "--cpu", "--batch-size", "20"),
            *("--post-process", "sentencepiece", "--search", "mcts", "--mcts-simulations", "4"),
            *("--sentences", "41e6", "--workers", "1,2", "--seconds", "1"),
            *("--json", str(tmp_path / "plan.json")),
        ]
    )
    assert "41,000,000" in capsys.readouterr().out
    figures = json.loads((tmp_path / "plan.json").read_text())
    measured, [one, two] = figures["measured"], figures["plan"]
    assert measured["together"] in (1, 2)  # by the cores of this machine
    evaluations = measured["costs"][0]["evaluations"]
    assert evaluations["charged"] >= evaluations["made"] > 0
    assert 100e6 < measured["memory_bytes"] < 100e9
    assert one["seconds"] > 41e6 / 1e5
    assert one["disk"]["lines"] > one["disk"]["text"] > 41e6
    assert two["workers"] == 2


@pytest.mark.slow
def test_relabelling_is_planned_too(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = (
        *("--path", str(trained.dual), "--cpu", "--post-process", "sentencepiece"),
        *("--metric", "chrf", "--samples", "3", "--subset", "train", "--batch-size", "20"),
    )
    plan.main(
        [
            *("--work", "relabel", str(trained.data), *given, "--sentences", "41e6"),
            *("--workers", "1", "--seconds", "1", "--json", str(tmp_path / "plan.json")),
        ]
    )
    shown = capsys.readouterr().out
    assert "41,000,000" in shown and "in 3.0 rows" in shown
    figures = json.loads((tmp_path / "plan.json").read_text())
    [cost, *_], [one] = figures["measured"]["costs"], figures["plan"]
    # from a batch to a third of the sources, by how fast this machine is
    assert 20 <= cost["sentences"] <= PAIRS // FEWEST_BATCHES
    assert cost["rows"] == 3 * cost["sentences"]
    assert one["seconds"] > 41e6 / 1e5

    # as large as what is really written
    relabel.main([str(trained.data), "--out", str(tmp_path / "out"), *given])
    sources = json.loads(next((tmp_path / "out").glob("*.relabel.json")).read_text())["rows"] / 3
    written = sum(
        path.stat().st_size
        for path in (tmp_path / "out").glob("train.*")
        if path.suffix in (".bin", ".idx", ".npy")
    )
    assert one["disk"]["data"] / 41e6 == pytest.approx(written / sources, rel=0.1)
    assert one["disk"]["chunks"] > one["disk"]["data"]


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (("--sentences", "many"), "--sentences many: expected whole numbers"),
        (("--sentences", "10,0.5"), "--sentences 10,0.5: expected whole numbers"),
        (("--workers", "0"), "--workers 0: expected whole numbers"),
        (("--seconds", "0"), "--seconds 0.0: must be greater than 0"),
        (("--cpus-per-worker", "0"), "--cpus-per-worker 0: must be at least 1"),
        (("--chunk-sentences", "0"), "--chunk-sentences 0: must be at least 1"),
        (("--input", "nowhere"), "--input nowhere: no such file"),
        (("--search-trees", "x"), "--search-trees: not here"),
        (("--json", "no/plan.json"), "--json no/plan.json: there is no folder no"),
        (("--path", "none.pt", "--post-process", "sentencepiece"), "none.pt"),
        (("--search", "mcts", "--mcts-simulations", "0"), "--mcts-simulations: must be"),
        (("--work", "sweep"), "argument --work: invalid choice: 'sweep'"),
        (("--work", "relabel"), "--metric is required"),
        (("--work", "relabel", "--out", "x"), "unrecognized arguments: --out x"),
        (("--work", "relabel", "--metric", "bleu", "--samples", "0"), "--samples 0: must be at"),
        (
            ("--work", "relabel", "--metric", "bleu", "--samples", "2", "--seconds", "0"),
            "--seconds 0.0: must be greater than 0",
        ),
    ],
)
def test_refusals_name_the_option(
    trained: Trained,  # noqa: F811
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    complaint: str,
) -> None:
    with pytest.raises(SystemExit) as end:
        plan.main([str(trained.data), "--cpu", "--path", str(trained.dual), *more])
    assert end.value.code == 2
    assert complaint in capsys.readouterr().err
