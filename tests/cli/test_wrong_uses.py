"""A wrong use of any command ends in one line that names the flag and gives a hint."""

import shlex
from pathlib import Path

import pytest

from fairseq_mcts.cli import commands
from fairseq_mcts.command_help import DEBUG

NO_MODEL = "data --path gone.pt"
SWEEP = f"sweep {NO_MODEL} --sweep-out swept"
#: what is given, and what the line must hold
WRONG = {
    "": "COMMAND (fairseq-mcts --help lists all options)",
    "translate": "argument COMMAND: invalid choice: 'translate'",
    "--print-completion fish": "argument --print-completion: invalid choice: 'fish'",
    "--versio score": "unrecognized arguments: --versio (did you mean --version?)",
    "generate": "required: --out (fairseq-mcts-generate --help lists all options)",
    "generate data --out made": "--path is required",
    "generate gone --path gone.pt --out made": "DATA gone: there is no such folder",
    f"generate {NO_MODEL} --out made --serch mcts": "--serch mcts (did you mean --search?)",
    f"generate {NO_MODEL} --out made --search best": "argument --search: invalid choice: 'best'",
    f"generate {NO_MODEL} --out made --mcts-simulations 1.5": "argument --mcts-simulations",
    f"generate {NO_MODEL} --out made --chunk-sentences 0": "--chunk-sentences 0: must be at least",
    f"generate {NO_MODEL} --out made --workers 100000": "--workers 100000: must be at most 4,096",
    f"generate {NO_MODEL} --out made --user-dir gone": "--user-dir gone: there is no such folder",
    f"generate {NO_MODEL} --out made --bpe sentencepiece": "--bpe sentencepiece: needs "
    "--sentencepiece-model",
    f"generate {NO_MODEL} --out made --bpe sentencepiece --sentencepiece-model gone.model": ""
    "--sentencepiece-model gone.model: there is no such file",
    "relabel": "required: DATA, --out (fairseq-mcts-relabel --help lists all options)",
    "relabel data --out made": "--path is required",
    f"relabel {NO_MODEL} --out made --metric best": "--metric best: unknown metric 'best'; known",
    f"relabel {NO_MODEL} --out made --metric bleu --methode greedy": "(did you mean --method?)",
    f"relabel {NO_MODEL} --out made --metric bleu --samples 1 --temperature x": "--temperature x",
    f"relabel {NO_MODEL} --out made --metric bleu --bpe sentencepiece": "--bpe sentencepiece: "
    "needs --sentencepiece-model",
    f"relabel {NO_MODEL} --out made --metric bleu --bpe subword_nmt --bpe-codes gone": ""
    "--bpe-codes gone: there is no such file",
    f"relabel {NO_MODEL} --out made --metric bleu --user-dir gone": "--user-dir gone: there is no",
    f"relabel {NO_MODEL} --out made --metric bleu --workers 9999": "--workers 9999: must be at",
    "score": "no system is given: [NAME=]FILE",
    "score gone.txt": "there is no file gone.txt",
    "score text.de --references text.de --metrics best": "--metrics best: unknown metric 'best'",
    "score text.de --references text.de --metrics bleu bleu": "--metrics: bleu is named twice",
    "score text.de --resamples many": "argument --resamples: invalid int value: 'many'",
    "sweep": "required: --sweep, --sweep-metric, --sweep-out",
    f"{SWEEP} --sweep gone=1 --sweep-metric bleu": "--sweep gone=1: decoding has no option --gone",
    f"{SWEEP} --sweep lenpne=1 --sweep-metric bleu": "(did you mean --lenpen?)",
    f"{SWEEP} --sweep lenpen=1 --sweep-metric best": "--sweep-metric best: unknown metric 'best'",
    f"{SWEEP} --sweep lenpen=a..b --sweep-metric bleu": "--sweep lenpen=a..b: 'a' is not a number",
    f"{SWEEP} --sweep lenpen=1 --sweep-metric bleu --sweep-sentences 0": "--sweep-sentences 0",
    f"{SWEEP} --sweep lenpen=1 --sweep-metric bleu --workers 9999": "--workers 9999: must be at m",
    "report": "required: OUT.html, [NAME=]RUN",
    "report page.txt text.de": "OUT.html page.txt: the name of the page must end in .html",
    "report page.html gone": "there is no file gone",
    "report page.html text.de --references text.de --metric best": "--metric best: unknown metric",
    "explore": "required: data",
    "explore data": "--path is required",
    f"explore {NO_MODEL} --prot 80": "--prot 80 (did you mean --port?)",
    "explore gone --path gone.pt": "DATA gone: there is no such folder",
    "plan": "required: data",
    f"plan {NO_MODEL} --sentences many": "--sentences many: expected whole numbers",
    f"plan {NO_MODEL} --workers 0": "--workers 0: expected whole numbers",
    f"plan {NO_MODEL} --json gone/plan.json": "--json gone/plan.json: there is no folder gone",
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "data").mkdir()
    for language in ("en", "de"):
        (tmp_path / "data" / f"dict.{language}.txt").write_text("word 1\n")
    (tmp_path / "text.de").write_text("Ein Haus.\n")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv(DEBUG, "")
    return tmp_path


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize("given", WRONG)
def test_a_wrong_use_is_one_line(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        commands.main(shlex.split(given))
    assert end.value.code == 2
    [line] = capsys.readouterr().err.strip().splitlines()
    program = "-".join(["fairseq-mcts", *given.split()[:1]])
    assert line.startswith((f"{program}: error: ", "fairseq-mcts: error: "))
    assert WRONG[given] in line


@pytest.mark.usefixtures("folder")
@pytest.mark.parametrize(
    "given",
    [
        "generate gone --path gone.pt --out made --debug",
        "relabel data --out made --debug",
        "score gone.txt --debug",
        f"{SWEEP} --sweep gone=1 --sweep-metric bleu --debug",
        "report page.html gone --debug",
        "explore data --debug",
        f"plan {NO_MODEL} --workers 0 --debug",
        "--debug plan data",
    ],
)
def test_debug_brings_the_traceback(given: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as end:
        commands.main(shlex.split(given))
    assert end.value.code == 2
    shown = capsys.readouterr().err
    assert "Traceback (most recent call last)" in shown
    assert ": error: " in shown.splitlines()[-1]
