"""A stage runs once, goes on after an interruption and starts anew after a change."""

import shutil
import sys
import time
from dataclasses import replace
from pathlib import Path

import pytest

from examples.common.runner import Runner, Stage, StageFailed
from examples.common.stages import RELABELLING_PROGRESS, REPORT_PROGRESS, binarise


def writer(work: Path, name: str, text: str, *, fails: bool = False) -> Stage:
    """A stage that appends a line to a file in its folder."""
    target = work / name / "out.txt"
    code = f"open({str(target)!r}, 'a').write({text + chr(10)!r}); raise SystemExit({int(fails)})"
    return Stage(name, name, (sys.executable, "-c", code), output=work / name)


def written(work: Path, name: str) -> list[str]:
    return (work / name / "out.txt").read_text().splitlines()


def test_finished_stages_are_not_run_again(tmp_path: Path) -> None:
    stages = [writer(tmp_path, "a", "1"), writer(tmp_path, "b", "2")]
    Runner(tmp_path).run(stages)
    Runner(tmp_path).run(stages)
    assert (written(tmp_path, "a"), written(tmp_path, "b")) == (["1"], ["2"])


def test_a_deleted_result_is_made_again(tmp_path: Path) -> None:
    stages = [writer(tmp_path, "a", "1"), writer(tmp_path, "b", "2")]
    Runner(tmp_path).run(stages)
    shutil.rmtree(tmp_path / "a")
    Runner(tmp_path).run(stages)
    assert (written(tmp_path, "a"), written(tmp_path, "b")) == (["1"], ["2"])


def test_commands_are_those_of_this_python_without_an_active_environment(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    code = f"import sys; open({str(tmp_path / 'a' / 'out.txt')!r}, 'w').write(sys.prefix)"
    Runner(tmp_path).run([Stage("a", "a", ("python", "-c", code), output=tmp_path / "a")])
    assert written(tmp_path, "a") == [sys.prefix]


def test_a_changed_stage_and_all_after_it_start_in_empty_folders(tmp_path: Path) -> None:
    before, after = writer(tmp_path, "a", "1"), writer(tmp_path, "c", "3")
    Runner(tmp_path).run([before, writer(tmp_path, "b", "old"), after])
    (tmp_path / "c" / "out.txt").write_text("made from old input\n")

    Runner(tmp_path).run([before, writer(tmp_path, "b", "new"), after])

    assert written(tmp_path, "a") == ["1"]
    assert written(tmp_path, "b") == ["new"]
    assert written(tmp_path, "c") == ["3"]


def test_a_failed_stage_stops_the_run_and_finds_its_work_again(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    failing = writer(tmp_path, "a", "begun", fails=True)
    for _ in range(2):
        with pytest.raises(StageFailed, match=r"a: exit code 1, see .*a\.log"):
            Runner(tmp_path).run([failing, writer(tmp_path, "b", "2")])
    # the second attempt continued in the folder of the first, as fairseq-train does
    assert written(tmp_path, "a") == ["begun", "begun"]
    assert not (tmp_path / "b").exists()
    assert capsys.readouterr().out.count("a failed") == 2


def test_progress_is_read_from_the_output(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    code = "print('loss=3, num_updates=50'); print('loss=2, num_updates=100')"
    Runner(tmp_path).run(
        [
            Stage(
                name="train",
                title="train a model",
                command=(sys.executable, "-c", code),
                output=tmp_path / "train",
                progress=r"num_updates=(?P<done>\d+)",
                total=100,
            )
        ]
    )
    shown = capsys.readouterr().out
    assert "[1/1] train a model" in shown
    assert "50 of 100" in shown
    assert "100 of 100" in shown


@pytest.mark.parametrize(
    ("progress", "lines", "shown"),
    [
        (RELABELLING_PROGRESS, "valid: 20/150 rows (13.3%)\ntrain1: 5,000/5,000 rows", "5,000"),
        (REPORT_PROGRESS, "testing: 4/24 tests (16.7%)\nscoring: 400/1,500 sentences", "400"),
    ],
)
def test_progress_of_the_commands_is_understood(
    progress: str, lines: str, shown: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    command = (sys.executable, "-c", f"print({lines!r})")
    Runner(tmp_path).run([Stage("a", "a", command, output=tmp_path / "a", progress=progress)])
    assert f"  a: {shown} of " in capsys.readouterr().out


def test_files_that_are_binarised_are_counted(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    stage = binarise(writer(tmp_path, "subwords", "1"), ("en", "de"), tmp_path / "binarised")
    said = "[de] subwords/test.de: 101 sents, 1371 tokens, 0.0% replaced (by <unk>)"
    code = f"print('[de] Dictionary: 1992 types'); print({said!r}); print({said!r})"
    Runner(tmp_path).run([replace(stage, command=(sys.executable, "-c", code), reads=())])
    shown = capsys.readouterr().out
    assert "  binarise: 2 of 6" in shown


def test_a_stage_starts_anew_only_if_something_it_reads_does(tmp_path: Path) -> None:
    def chain(text: str) -> list[Stage]:
        model = replace(writer(tmp_path, "model", text), reads=())
        other = replace(writer(tmp_path, "other", "1"), reads=())
        return [model, other, replace(writer(tmp_path, "decode", "2"), reads=(model,))]

    Runner(tmp_path).run(chain("old"))
    for name in ("other", "decode"):
        (tmp_path / name / "out.txt").write_text("before\n")
    for stage in chain("new"):
        Runner(tmp_path).run([stage])

    assert written(tmp_path, "model") == ["new"]
    assert written(tmp_path, "other") == ["before"]
    assert written(tmp_path, "decode") == ["2"]


def test_the_log_keeps_what_was_said_before_an_interruption(tmp_path: Path) -> None:
    flag = tmp_path / "flag"
    code = f"import pathlib; p = pathlib.Path({str(flag)!r}); print('run', p.exists()); "
    code += "fails = not p.exists(); p.touch(); raise SystemExit(fails)"
    stage = Stage("a", "a", (sys.executable, "-c", code), output=tmp_path / "a")
    with pytest.raises(StageFailed):
        Runner(tmp_path).run([stage])
    runner = Runner(tmp_path)
    assert runner.seconds(stage) is None
    runner.run([stage])
    assert runner.log(stage).read_text() == "run False\nrun True\n"
    assert runner.seconds(stage) is not None


def test_a_stage_of_two_processes_runs_alone_and_is_not_overtaken(tmp_path: Path) -> None:
    def timed(name: str, processes: int = 1) -> Stage:
        path = str(tmp_path / name / "out.txt")
        code = (
            "import time; begun = time.time(); time.sleep(0.3); "
            f"open({path!r}, 'w').write(f'{{begun}} {{time.time()}}')"
        )
        command = (sys.executable, "-c", code)
        return Stage(name, name, command, tmp_path / name, processes=processes, reads=())

    Runner(tmp_path, at_once=2).run([timed("a"), timed("wide", processes=2), timed("b")])
    times = {
        one: [float(x) for x in written(tmp_path, one)[0].split()] for one in ("a", "wide", "b")
    }
    assert times["a"][1] <= times["wide"][0] < times["wide"][1] <= times["b"][0]


def test_stages_that_do_not_read_each_other_run_at_once(tmp_path: Path) -> None:
    """Each of the two ends only when it has seen the other begin."""
    stages = []
    for name, other in (("a", "b"), ("b", "a")):
        code = f"""
import pathlib, time
pathlib.Path({str(tmp_path / name / "begun")!r}).touch()
end = time.monotonic() + 20
while not pathlib.Path({str(tmp_path / other / "begun")!r}).exists():
    assert time.monotonic() < end, "alone"
    time.sleep(0.01)
"""
        command = (sys.executable, "-c", code)
        stages.append(Stage(name, name, command, output=tmp_path / name, reads=()))
    reader = replace(writer(tmp_path, "c", "both"), reads=tuple(stages))
    Runner(tmp_path, at_once=2).run([*stages, reader])
    assert written(tmp_path, "c") == ["both"]


def test_a_failure_ends_what_runs_beside_it(tmp_path: Path) -> None:
    code = "import time; time.sleep(60)"
    sleeping = Stage("sleep", "sleep", (sys.executable, "-c", code), tmp_path / "sleep", reads=())
    failing = replace(writer(tmp_path, "a", "begun", fails=True), reads=())
    begun = time.monotonic()
    with pytest.raises(StageFailed, match="a: exit code 1"):
        Runner(tmp_path, at_once=2).run([sleeping, failing])
    assert time.monotonic() - begun < 30
