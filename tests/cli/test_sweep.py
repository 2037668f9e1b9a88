"""fairseq-mcts-sweep: equal to fairseq-generate setting by setting, and resumed after a kill."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from fairseq_mcts.cli import sweep
from fairseq_mcts.metrics.system_output import read_system
from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.subject import Subject, _of_files
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.harness import run_generate
from tests.generators.trained import Trained

SENTENCES = 12


def arguments(models: Trained, out: Path, *more: str) -> list[str]:
    return [
        *(str(models.data), "--path", str(models.dual), "--cpu", "--post-process", "sentencepiece"),
        *("--batch-size", "5", "--sweep-sentences", str(SENTENCES), "--sweep-out", str(out)),
        *("--sweep-metric", "bleu", "--sweep-metric", "chrf", *more),
    ]


MCTS = ("--search", "mcts", "--mcts-simulations", "6", "--sweep", "mcts-c-puct=0.5,8")


def trials(out: Path) -> dict[str, dict[str, Any]]:
    found = [json.loads(path.read_text()) for path in out.glob("trial-*.json")]
    return {" ".join(trial["flags"]): trial for trial in found}


def without_seconds(out: Path) -> dict[str, dict[str, Any]]:
    return {flags: {**trial, "seconds": 0} for flags, trial in trials(out).items()}


def table(shown: str) -> list[str]:
    """All that comes after the trials, but for seconds and where things lie."""
    lines = shown.splitlines()
    begin = lines.index(f"{SENTENCES} sentences")
    end = lines.index("", begin) if "" in lines[begin:] else len(lines) - 1
    # seconds, which differ, are the last of the figures
    rows = [re.sub(r" [\d.]+( +\*)?$", r"\1", line) for line in lines[begin:end]]
    return [*rows, *lines[end:-1]]


@pytest.mark.slow
def test_each_setting_translates_as_fairseq_generate_does(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sweep.main(arguments(trained, tmp_path / "out", *MCTS))

    found = trials(tmp_path / "out")
    assert list(sorted(found)) == ["--mcts-c-puct 0.5", "--mcts-c-puct 8"]
    assert found["--mcts-c-puct 0.5"]["hypotheses"] != found["--mcts-c-puct 8"]["hypotheses"]
    results = tmp_path / "results"
    trained.fairseq.run(
        "generate",
        *(str(trained.data), "--task", "translation_mcts", "--path", str(trained.dual), "--cpu"),
        *("--post-process", "sentencepiece", "--results-path", str(results)),
        *("--search", "mcts", "--mcts-simulations", "6", "--mcts-c-puct", "8"),
    )
    generated = read_system(results / "generate-test.txt").hypotheses[:SENTENCES]
    assert found["--mcts-c-puct 8"]["hypotheses"] == generated
    for trial in found.values():
        assert trial["charged"] >= trial["made"] >= trial["tokens"]

    shown = capsys.readouterr().out
    best = max(found.values(), key=lambda trial: trial["scores"]["bleu"])
    settings = tmp_path / "out" / "best.json"
    assert f"to decode so: --search-settings {settings}\n" in shown
    by_file = ("--post-process", "sentencepiece", "--search-settings", str(settings))
    run_generate(trained, *by_file, results=tmp_path / "by-file")
    generated = read_system(tmp_path / "by-file" / "generate-test.txt").hypotheses[:SENTENCES]
    assert best["hypotheses"] == generated
    assert f"best by bleu: {' '.join(best['flags'])}\n" in shown
    assert f"{SENTENCES} sentences" in shown


@pytest.mark.slow
def test_a_second_run_tries_only_what_is_new(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out = tmp_path / "out"
    sweep.main(arguments(trained, out, *MCTS))
    lost = next(iter(sorted(out.glob("trial-*.json"))))
    before = json.loads(lost.read_text())
    lost.unlink()  # as if it had been killed there
    capsys.readouterr()
    sweep.main(arguments(trained, out, *MCTS[:-1], "mcts-c-puct=0.5,8,2"))

    shown = capsys.readouterr().out
    assert shown.count("already there") == 1
    assert len(trials(out)) == 3
    again = json.loads(lost.read_text())
    assert {**again, "seconds": 0} == {**before, "seconds": 0}


@pytest.mark.slow
def test_the_best_is_what_another_sweep_may_start_from(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    out, tuned = tmp_path / "out", tmp_path / "tuned.json"
    sweep.main(
        arguments(
            *(trained, out, "--search", "vgbs", "--search-budget", "6"),
            *("--sweep", "vgbs-alpha=0.3", "--sweep", "max-len-b=9,12"),
            *("--write-settings", str(tuned), "--value-path", str(trained.dual)),
        )
    )
    assert not (out / "best.json").exists()
    assert f"--search-settings {tuned} --value-path {trained.dual}\n" in capsys.readouterr().out
    found = json.loads(tuned.read_text())
    scores = [(trial["scores"]["bleu"], trial["flags"][-1]) for trial in trials(out).values()]
    length = int(max(scores)[1])
    assert (found["search"], found["budget"]) == ("vgbs", 6)
    assert found["options"] == {
        **{"vgbs-alpha": 0.3, "vgbs-temperature": 1.0, "vgbs-value-scale": "plain"},
        **{"value-read": "mean", "max-len-b": length},
    }
    assert found["tuned_for"]["metric"] == "bleu"
    assert found["tuned_for"]["score"] == found["how"]["scores"]["bleu"] == max(scores)[0]
    assert found["how"]["sentences"] == SENTENCES
    assert found["how"]["given_beside"] == f"--value-path {trained.dual}"

    [best] = [one for one in trials(out).values() if one["flags"][-1] == str(length)]
    given = ("--search-settings", str(tuned), "--value-path", str(trained.dual))
    sweep.main(arguments(trained, out, *given, "--sweep", "vgbs-alpha=0.3,0.9"))
    assert trials(out)["--vgbs-alpha 0.3"]["hypotheses"] == best["hypotheses"]
    assert trials(out)["--vgbs-alpha 0.9"]["hypotheses"] != best["hypotheses"]
    assert json.loads((out / "best.json").read_text())["options"]["max-len-b"] == length


@pytest.mark.slow
def test_beam_sizes_are_swept_too(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sweep.main(arguments(trained, tmp_path, "--sweep", "beam=1,4"))
    found = trials(tmp_path)
    assert found["--beam 4"]["made"] > 2 * found["--beam 1"]["made"]
    rows = re.findall(
        r"^ +([14]) +[\d.]+ +[\d.]+ +([\d.]+) +([\d.]+) ", capsys.readouterr().out, re.M
    )
    assert [row[0] for row in rows] == ["1", "4"]
    best = max((trial["scores"]["bleu"], trial["flags"][-1]) for trial in found.values())
    settings = json.loads((tmp_path / "best.json").read_text())
    assert settings["options"] == {"beam-normalization": "length", "beam": int(best[1])}
    run_generate(
        trained,
        *("--post-process", "sentencepiece", "--search-settings", str(tmp_path / "best.json")),
        results=tmp_path / "results",
    )
    generated = read_system(tmp_path / "results" / "generate-test.txt").hypotheses[:SENTENCES]
    assert found[f"--beam {best[1]}"]["hypotheses"] == generated


@pytest.mark.slow
def test_prefixes_are_forced(trained: Trained, tmp_path: Path) -> None:  # noqa: F811
    sweep.main(arguments(trained, tmp_path, "--sweep", "beam=1", "--prefix-size", "2"))
    text = (trained.folder / "subwords" / "test.de").read_text(encoding="utf-8")
    prefixes = ["".join(line.split()[:2]).replace("▁", " ").strip() for line in text.splitlines()]
    [trial] = trials(tmp_path).values()
    for hypothesis, prefix in zip(trial["hypotheses"], prefixes, strict=False):
        assert hypothesis.startswith(prefix)


@pytest.mark.slow
def test_two_workers_find_what_one_finds_and_draw_plots(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    given = ("--sweep", "beam=1,2,4", "--sweep", "lenpen=0.5,2")
    more = ("--objective", "bleu", "--objective", "made", "--plots", str(tmp_path / "plots.svg"))
    tables = []
    for workers in ("1", "2"):
        sweep.main(arguments(trained, tmp_path / workers, *given, *more, "--workers", workers))
        tables.append(table(capsys.readouterr().out))
    assert tables[0] == tables[1]
    assert any(line.startswith("beaten by no other setting") for line in tables[0])
    assert len(trials(tmp_path / "1")) == 6
    assert without_seconds(tmp_path / "1") == without_seconds(tmp_path / "2")
    assert "<svg" in (tmp_path / "plots.svg").read_text()


@pytest.mark.slow
def test_sampled_settings_go_on_from_a_grid(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    pytest.importorskip("optuna")
    sampled = ("--sampler", "random", "--prune", "halving", "--parts", "3", "--sweep", "beam=1..3")
    sampled += ("--objective", "chrf")
    sweep.main(arguments(trained, tmp_path, *sampled, "--trials", "6"))
    shown = capsys.readouterr().out
    assert (tmp_path / "study.db").exists()
    assert shown.count("/6 --beam") == 6
    finished = trials(tmp_path)
    best = max(finished.values(), key=lambda trial: trial["scores"]["chrf"])
    assert f"best by chrf: {' '.join(best['flags'])}\n" in shown
    assert json.loads((tmp_path / "best.json").read_text())["tuned_for"]["metric"] == "chrf"
    assert {"--beam 1", "--beam 2", "--beam 3"} >= set(finished)
    sweep.main(arguments(trained, tmp_path, *sampled, "--trials", "6"))
    again = capsys.readouterr().out
    assert "/6 --beam" not in again
    table = f"{SENTENCES} sentences"
    assert again.partition(table)[2] == shown.partition(table)[2]

    sweep.main(arguments(trained, tmp_path, "--sweep", "beam=1,2,3"))
    assert capsys.readouterr().out.count("already there") == len(finished)


STOCHASTIC = ("--search", "sr", "--sr-samples", "2", "--sweep", "sr-without-replacement=no,yes")


@pytest.mark.slow
def test_switches_are_given_or_left_out(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    sweep.main(arguments(trained, tmp_path, *STOCHASTIC))
    found = trials(tmp_path)
    assert sorted(found) == ["", "--sr-without-replacement"]
    assert found[""]["hypotheses"] != found["--sr-without-replacement"]["hypotheses"]
    assert re.search(r"^1/2 \(no --sr-without-replacement\): bleu", capsys.readouterr().out, re.M)
    best = max(found.values(), key=lambda trial: trial["scores"]["bleu"])
    options = json.loads((tmp_path / "best.json").read_text())["options"]
    assert options["sr-without-replacement"] is bool(best["flags"])


def test_files_count_by_their_content(trained: Trained, tmp_path: Path) -> None:  # noqa: F811
    codes, encoder = tmp_path / "codes", tmp_path / "encoder"
    encoder.mkdir()
    given = arguments(
        *(trained, tmp_path, "--sweep", "mcts-c-puct=1", "--search", "mcts", "--mcts-leaf"),
        *("rollout", "--search-metric", f"mlbertscore:model={encoder}"),
        *("--bpe", "subword_nmt", "--bpe-codes", str(codes)),
    )

    def key(merge: str, weights: str) -> str:
        codes.write_text(f"#version: 0.2\n{merge}\n")
        (encoder / "weights").write_text(weights)
        _of_files.cache_clear()  # as in another command
        return Subject(given).key(Setting((("mcts-c-puct", "1"),)))

    keys = [key("a b", "1"), key("a c", "1"), key("a b", "2"), key("a b", "1")]
    assert keys[3] == keys[0]
    assert len(set(keys)) == 3


@pytest.mark.parametrize(
    ("more", "complaint"),
    [
        (
            (*STOCHASTIC[:4], "--sr-without-replacement", *STOCHASTIC[4:]),
            "--sweep sr-without-replacement=no: the command, or its file",
        ),
        (("--sweep", "beam=1..4"), "--sweep beam=1..4: a grid tries values one by one"),
        (("--sweep", "beam=1", "--trials", "3"), "--trials 3: a grid tries all combinations"),
        (("--sweep", "beam=1", "--parts", "3"), "--parts 3: has no effect without --prune"),
        (("--sweep", "beam=1", "--workers", "0"), "--workers 0: must be at least 1"),
        (("--sweep", "beam=1", "--plots", "x.txt"), "--plots x.txt: expected a name that ends in"),
        (("--sweep", "beam=1", "--objective", "ter"), "--objective ter: is none of bleu, chrf"),
        (
            (
                *("--search", "mcts", "--sampler", "tpe"),
                *("--sweep", "mcts-simulations=0..4"),
            ),
            "--mcts-simulations: must be",
        ),
        (
            (
                *("--sweep", "beam=1,2", "--prune", "median"),
                *("--objective", "bleu", "--objective", "made"),
            ),
            "--prune median: not with several objectives",
        ),
        (
            ("--sweep", "beam=1,2", "--prune", "median", "--objective", "made"),
            "--prune median: not with --objective made",
        ),
        (("--sweep", "cpu=1"), "--sweep cpu=1: decoding has no option --cpu with a value"),
        (("--sweep", "beam=1,2", "--search", "mcts"), "--beam 1: not with --search mcts"),
        (("--sweep", "beam=1", "--search-trees", "x"), "--search-trees x: each decoding would"),
        (("--sweep", "beam=1", "--search-json", "x"), "--search-json x: each decoding would"),
        (("--sweep", "search-tree-steps=1,2"), "decoding has no option --search-tree-steps"),
        (("--sweep", "beam=1", "--sweep-sentences", "0"), "--sweep-sentences 0: must be at least"),
        (("--sweep", "beam=1", "--sweep-sentences", "999"), "--sweep-sentences 999: test has only"),
        (("--sweep", "beam=1", "--sweep-metric", "bleu"), "the same metric is asked for twice"),
        (("--sweep", "beam=1", "--lm-path", "lm.pt"), "--lm-path lm.pt: has no effect here"),
        (("--sweep", "beam=1", "--score-reference"), "--score-reference: decodes nothing"),
        (("--search", "mcts", "--sweep", "mcts-simulations=2,0"), "--mcts-simulations: must be"),
        (
            ("--sweep", "beam=1", "--write-settings", "no/x.json"),
            "--write-settings no/x.json: ther",
        ),
        (
            ("--sweep", "beam=1", "--search-settings", "none"),
            "--search-settings none: no such file",
        ),
    ],
)
def test_refusals_name_the_option(
    trained: Trained,  # noqa: F811
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    more: tuple[str, ...],
    complaint: str,
) -> None:
    with pytest.raises(SystemExit) as end:
        sweep.main(arguments(trained, tmp_path, *more))
    assert end.value.code == 2
    assert complaint in capsys.readouterr().err
    assert not list(tmp_path.glob("trial-*.json"))  # nothing was decoded before
