"""fairseq-mcts-score: numbers, signatures, tests of difference, and honest refusals."""

import gzip
import json
import re
import shlex
import subprocess
import sys

import pytest
import sacrebleu

from fairseq_mcts.cli import score
from tests.console import REPOSITORY
from tests.generators.vowels import Vowels


@pytest.fixture
def files(tmp_path, toy_pairs):
    """Sources, references and three outputs of 60 sentences."""
    references = toy_pairs.targets[:60]
    beam = [text.replace("Hund", "Katze") for text in references]
    texts = {
        "source": toy_pairs.sources[:60],
        "reference": references,
        "beam": beam,
        "mcts": [text.replace("das Buch", "Buch") for text in beam],
        "perfect": references,
    }
    paths = {}
    for name, lines in texts.items():
        paths[name] = tmp_path / f"{name}.txt"
        paths[name].write_text("\n".join(lines) + "\n", encoding="utf-8")
    generated = []
    for index in reversed(range(60)):
        generated += [f"S-{index}\t{texts['source'][index]}", f"T-{index}\t{references[index]}"]
        generated += [f"H-{index}\t-0.5\t▁x", f"D-{index}\t-0.5\t{texts['mcts'][index]}"]
    paths["run"] = tmp_path / "mcts-run" / "generate-test.txt"
    paths["run"].parent.mkdir()
    paths["run"].write_text("\n".join(generated) + "\n", encoding="utf-8")
    return paths


def run_json(capsys, *arguments):
    score.main([*map(str, arguments), "--json", "-"])
    return json.loads(capsys.readouterr().out)


def failure(capsys, *arguments) -> str:
    with pytest.raises(SystemExit) as stop:
        score.main([str(argument) for argument in arguments])
    assert stop.value.code == 2
    return capsys.readouterr().err


def test_all_metrics_with_differences_and_signatures(capsys, files, toy_encoder) -> None:
    arguments = ["--sources", files["source"], "--references", files["reference"]]
    arguments += ["--encoder", toy_encoder, "--resamples", 50, "--optimised", "mlbertscore"]
    result = run_json(capsys, files["beam"], files["mcts"], *arguments)
    assert list(result["metrics"]) == ["bleu", "chrf", "bertscore", "mlbertscore"]
    assert result["baseline"] == "beam" and result["sentences"] == 60
    beam, mcts = result["systems"]["beam"], result["systems"]["mcts"]
    read = {name: path.read_text(encoding="utf-8").splitlines() for name, path in files.items()}
    for name, system in (("beam", beam), ("mcts", mcts)):
        bleu = sacrebleu.corpus_bleu(read[name], [read["reference"]])
        chrf = sacrebleu.corpus_chrf(read[name], [read["reference"]])
        assert system["scores"]["bleu"]["score"] * 100 == pytest.approx(bleu.score)
        assert system["scores"]["chrf"]["score"] * 100 == pytest.approx(chrf.score)
    assert "p_value" not in beam["scores"]["bleu"]
    difference = mcts["scores"]["bleu"]["score"] - beam["scores"]["bleu"]["score"]
    assert mcts["scores"]["bleu"]["difference"] == pytest.approx(difference) and difference < 0
    # Both rest on the same encoder, so neither is an independent opinion.
    marked = {name for name, entry in mcts["scores"].items() if entry["optimised"]}
    assert marked == {"bertscore", "mlbertscore"}
    assert not any(entry["optimised"] for entry in beam["scores"].values())
    again = run_json(capsys, files["beam"], files["mcts"], *arguments)
    assert again == result
    other = run_json(capsys, files["beam"], files["mcts"], *arguments, "--seed", 2)
    assert other["systems"]["mcts"]["scores"]["bleu"] != mcts["scores"]["bleu"]


def test_table_for_people(capsys, files, tmp_path) -> None:
    report = tmp_path / "report.json"
    score.main(
        [
            *("--references", str(files["reference"]), "--optimised", "mcts=bleu", "beam=none"),
            *("--resamples", "50", "--json", str(report)),
            *(str(files[name]) for name in ("beam", "mcts", "perfect")),
        ]
    )
    lines = capsys.readouterr().out.splitlines()
    assert lines[0].split() == ["system", "bleu", "chrf", "optimised"]
    assert lines[1].startswith("beam") and lines[1].endswith("none") and "p=" not in lines[1]
    assert "* (-" in lines[2] and lines[2].endswith("bleu")
    assert "100.00 (+" in lines[3] and lines[3].endswith("not stated")
    text = "\n".join(lines)
    assert "differences to beam: paired bootstrap, 50 resamples, seed 12345" in text
    assert "judge it by the other columns" in text
    assert "bleu: nrefs:1|case:mixed|eff:no|tok:13a|smooth:exp|version:" in text
    assert json.loads(report.read_text(encoding="utf-8"))["sentences"] == 60


def test_generated_file_brings_sources_and_references(capsys, files) -> None:
    plain = run_json(capsys, "--references", files["reference"], f"a={files['mcts']}")
    result = run_json(capsys, files["run"], f"b={files['beam']}")
    assert list(result["systems"]) == ["mcts-run", "b"]
    scores = result["systems"]["mcts-run"]["scores"]
    assert scores["bleu"]["score"] == plain["systems"]["a"]["scores"]["bleu"]["score"]


def test_baseline_can_be_chosen_and_the_test_switched_off(capsys, files) -> None:
    arguments = ["--references", files["reference"], files["beam"], files["mcts"]]
    result = run_json(capsys, *arguments, "--baseline", "mcts", "--resamples", 0)
    assert result["baseline"] == "mcts"
    assert "p_value" not in result["systems"]["beam"]["scores"]["bleu"]


def test_unequal_files_are_named_with_their_counts(capsys, files, tmp_path) -> None:
    short = tmp_path / "short.txt"
    short.write_text("nur eine Zeile\n", encoding="utf-8")
    message = failure(capsys, "--references", files["reference"], files["beam"], short)
    assert f"{short}: 1" in message and f"{files['beam']}: 60" in message
    message = failure(capsys, "--references", short, files["beam"])
    assert f"{short}: 1" in message and f"{files['beam']}: 60" in message


def test_own_metric_alone_is_refused(capsys, files, toy_encoder) -> None:
    common = ["--references", files["reference"], "--sources", files["source"], files["beam"]]
    message = failure(capsys, *common, "--metrics", "bleu", "--optimised", "bleu")
    assert "must not be judged by its own metric alone" in message
    encoder = ["--encoder", toy_encoder, "--metrics", "bertscore", "mlbertscore"]
    message = failure(capsys, *common, *encoder, "--optimised", "mlbertscore")
    assert "no other judge is asked for" in message


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["{beam}"], "nothing to compare with: give --references or --sources"),
        (["{beam}", "--metrics", "bleu"], "bleu compares with the reference: give --references"),
        (["{beam}", "--metrics", "blue"], "unknown metric 'blue'"),
        (["--metrics", "bleu", "{beam}"], "no system is given: [NAME=]FILE come first"),
        (["{beam}", "{beam}"], "two systems are called beam"),
        (["{beam}", "--references", "{reference}", "--baseline", "x"], "--baseline x: the systems"),
        (
            ["{beam}", "--references", "{reference}", "--optimised", "x=bleu"],
            "the systems are beam",
        ),
        (["{beam}", "--references", "{reference}", "--optimised", "blue"], "unknown metric"),
        (["{beam}", "--references", "{reference}", "--resamples", "-1"], "must not be negative"),
        (["{beam}", "--references", "/no/such/file"], "there is no file /no/such/file"),
        (
            ["{beam}", "--references", "{reference}", "--metrics", "bleu", "bleu"],
            "--metrics: bleu is named twice",
        ),
        (
            ["{beam}", "--references", "{reference}", "--metrics", "bleu", "--encoder", "x"],
            "--encoder is given, but none of bertscore, mlbertscore",
        ),
        (
            ["{beam}", "--references", "{reference}", "--user-dir", "/no/folder"],
            "--user-dir /no/folder: there is no such folder",
        ),
        (
            ["{beam}", "--sources", "{source}", "--encoder", "/no/encoder"],
            "no encoder at /no/encoder",
        ),
    ],
)
def test_bad_input_is_refused(capsys, files, arguments, message) -> None:
    names = {name: str(path) for name, path in files.items()}
    assert message in failure(capsys, *(argument.format(**names) for argument in arguments))


@pytest.mark.parametrize(
    ("scores", "message"),
    [
        (lambda count: [0.5] * (count - 1), "metric vowels: 59 scores for 60 hypotheses"),
        (lambda count: [0.5] * (count + 1), "metric vowels: 61 scores for 60 hypotheses"),
        (lambda count: [0.5, float("nan")] * (count // 2), "vowels: the score nan is no number"),
        (lambda count: [50.0] * count, "metric vowels: the score 50.0 is no number in [0.0, 1.0]"),
    ],
)
def test_a_metric_that_breaks_its_promise_is_named(
    capsys, files, monkeypatch, scores, message
) -> None:
    monkeypatch.setattr(Vowels, "score", lambda self, texts, others: scores(len(texts)))
    given = (files["beam"], files["mcts"], "--sources", files["source"], "--metrics", "vowels")
    assert message in failure(capsys, *given)


def test_a_file_that_was_cut_off_is_named(capsys, files, tmp_path) -> None:
    packed = tmp_path / "cut.txt.gz"
    packed.write_bytes(gzip.compress(files["beam"].read_bytes())[:-20])
    message = failure(capsys, packed, "--references", files["reference"])
    assert f"{packed}: is no whole gzip file" in message


def test_the_table_is_not_lost_when_its_file_cannot_be_written(capsys, files, tmp_path) -> None:
    report = tmp_path / "nowhere" / "report.json"
    with pytest.raises(SystemExit) as stop:
        score.main(
            [str(files["beam"]), "--references", str(files["reference"]), "--json", str(report)]
        )
    assert stop.value.code == 2
    shown = capsys.readouterr()
    assert shown.out.split()[:2] == ["system", "bleu"]
    assert str(report) in shown.err


@pytest.mark.parametrize("page", ["docs/metrics.md", "examples/custom_metric/README.md"])
def test_the_commands_that_are_explained_compare_two_systems(page) -> None:
    text = (REPOSITORY / page).read_text(encoding="utf-8").replace("\\\n", " ")
    commands = re.findall(r"^fairseq-mcts-score (.*)$", text, re.MULTILINE)
    assert commands
    for command in commands:
        options = score.make_parser().parse_args(shlex.split(command))
        assert [system.partition("=")[0] for system in options.systems] == ["beam", "mcts"]


def test_different_test_sets_are_noticed(capsys, files, tmp_path) -> None:
    other = tmp_path / "other" / "generate-test.txt"
    other.parent.mkdir()
    text = files["run"].read_text(encoding="utf-8")
    other.write_text(text.replace("T-3\t", "T-3\tanders "), encoding="utf-8")
    assert "different test sets" in failure(capsys, files["run"], other)


def test_unknown_words_in_references_are_warned_of(capsys, files) -> None:
    text = files["run"].read_text(encoding="utf-8").replace("T-3\t", "T-3\t<<unk>> ")
    files["run"].write_text(text, encoding="utf-8")
    score.main([str(files["run"])])
    assert "give the real text by --references" in capsys.readouterr().err


def test_command_runs_as_a_program(files) -> None:
    program = "from fairseq_mcts.cli.score import main; main()"
    run = subprocess.run(
        [
            sys.executable,
            "-c",
            program,
            str(files["beam"]),
            "--references",
            str(files["reference"]),
        ],
        capture_output=True,
        text=True,
        check=True,
    )
    assert run.stdout.split()[:2] == ["system", "bleu"]
