"""fairseq-mcts-report: what it writes, and what it refuses without a traceback."""

from __future__ import annotations

import gzip
import json
import re
from pathlib import Path

import pytest

from fairseq_mcts.cli.report import main
from fairseq_mcts.pictures.record_file import read_records
from tests.report.runs import toy_search, write_generated

TEXTS = ["Ein Haus.", "Zwei Häuser und 3 Türen."]


def data_of(page: Path) -> dict[str, object]:
    found = re.search(r'id="report-data">(.*?)</script>', page.read_text(encoding="utf-8"))
    assert found is not None
    return json.loads(found[1])


def test_markdown(decodings: Path, tmp_path: Path) -> None:
    out = tmp_path / "new" / "report.html"
    runs = [str(decodings / name) for name in ("beam", "mcts-20")]
    main([str(out), *runs, "--optimised", "bleu", "--title", "<script>*_"])
    text = out.with_suffix(".md").read_text(encoding="utf-8")
    assert "60 sentences; baseline: beam." in text
    assert re.search(r"\| mcts-20 +\| [\d.]+† \([+-][\d.]+, p[<=][\d.]+\)", text)
    assert re.search(r"\| beam .*\| ≈5.0 +\| – +\|", text)
    assert text.startswith("# &lt;script&gt;\\*\\_\n")
    assert "## Sentences of mcts-20 that changed most by bleu" in text
    assert "charged and made: network evaluations for an output token" in text
    assert "≈: the beam size, where nobody counted." in text


def test_a_run_that_went_by_a_mix_is_judged_by_a_part(decodings: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    runs = [str(decodings / name) for name in ("beam", "mcts-20")]
    spec = "mix:chrf=0.7,likelihood=0.3"
    main([str(out), *runs, "--optimised", f"mcts-20={spec}", "--resamples", "0"])
    mcts = data_of(out)["runs"][1]  # type: ignore[index]
    assert mcts["optimised"] == spec
    assert [one["optimised"] for one in mcts["scores"]] == [False, True]  # bleu, chrf
    assert mcts["judgedBy"] == 1


def test_figures(decodings: Path, tmp_path: Path) -> None:
    out = tmp_path / "report.html"
    main([str(out), str(decodings / "beam"), f"search={decodings / 'mcts-20'}"])
    beam, mcts = data_of(out)["runs"]  # type: ignore[misc]
    assert (beam["search"], mcts["search"]) == ("beam", "mcts")
    assert mcts["name"] == "search"
    assert (mcts["charged"], mcts["made"], mcts["estimated"]) == (20.0, 7.0, False)
    assert mcts["likelihoods"] == [0.5] * 60  # 2^-1
    assert mcts["values"][10] == pytest.approx(0.55)
    assert mcts["numbers"]["7"] == ["7"]
    assert mcts["names"]["7"] == ["Anna"]
    assert beam["copied"] == {"4": ["houses"]}


def test_plain_text_and_unprivileged_runs(tmp_path: Path) -> None:
    for name in ("a.txt", "b.txt", "ref.txt"):
        (tmp_path / name).write_text("\n".join(TEXTS) + "\n", encoding="utf-8")
    out = tmp_path / "report.html"
    files = [str(tmp_path / name) for name in ("a.txt", "b.txt")]
    main([str(out), *files, "--references", str(tmp_path / "ref.txt"), "--resamples", "10"])
    assert data_of(out)["sources"] is None


def test_a_page_is_no_larger_than_asked(tmp_path: Path) -> None:
    """Searches of sentences that changed most come first; others are left out, and counted."""
    count = 30
    texts = [f"Satz {number}." for number in range(count)]
    changed = [*texts[:-1], "Anders."]
    beam = write_generated(tmp_path / "beam", texts, texts, texts)
    mcts = write_generated(tmp_path / "mcts", texts, texts, changed, search="mcts")
    toy_search(range(count), mcts / "searches.jsonl.gz", simulations=30)
    out = tmp_path / "report.html"
    main([str(out), str(beam), str(mcts), "--max-megabytes", "0.1"])
    page = out.read_text(encoding="utf-8")
    inside = re.findall(r'id="search-1-(\d+)"', page)
    assert 0 < len(inside) < count
    assert str(count - 1) in inside
    assert len(page.encode()) < 0.1 * 10**6
    assert data_of(out)["numRecorded"] == count


def test_a_page_that_cannot_be_written(
    decodings: Path,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """As on a full disk, which shows only when everything is computed."""

    def refuse(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(Path, "write_text", refuse)
    out = tmp_path / "report.html"
    with pytest.raises(SystemExit):
        main([str(out), str(decodings / "beam"), "--resamples", "0"])
    assert f"OUT.html {out}: can't write there: [Errno 28]" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        (["report.pdf", "beam"], "OUT.html report.pdf: the name of the page must end in .html"),
        (["r.html", "nowhere"], "RUN nowhere: there is no file nowhere"),
        (["r.html", "x=void.txt"], "RUN x=void.txt: void.txt is empty; it must hold a translation"),
        (
            ["r.html", "beam", "--references", "void.txt"],
            "--references void.txt: 0): all must be of the same test set",
        ),
        (["r.html", "beam", "--references", "no"], "--references no: there is no file no"),
        (["r.html", "beam", "--max-megabytes", "-1"], "--max-megabytes -1.0: must be a number ≥ 0"),
        (["r.html", "beam", "--max-megabytes", "inf"], "--max-megabytes inf: must be a number ≥ 0"),
        (["folder.html", "beam"], "OUT.html folder.html: can't write there: folder.html is a"),
        (["r.html", "empty"], "RUN empty: expected one generate-*.txt in it, found none"),
        (["r.html", "beam", "--metric", "nome"], "unknown metric 'nome'"),
        (["r.html", "beam", "--baseline", "x"], "--baseline x: the systems are beam"),
        (["r.html", "beam", "beam"], "two systems are called beam"),
        (["r.html", "beam", "cut"], "searches.jsonl.gz: is no whole gzip file"),
        (["r.html", "beam", "odd"], "odd/searches.jsonl, line 2: holds no search"),
        (["r.html", "beam", "short"], "deviation: 1 entries for 4 nodes"),
        (["r.html", "beam", "other"], "there is a search of sentence 9, but there are only 2"),
        (["nodir/file/r.html", "beam"], "OUT.html nodir/file/r.html: can't write there: "),
    ],
)
def test_refusals(
    arguments: list[str],
    complaint: str,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("empty").mkdir()
    Path("folder.html").mkdir()
    Path("void.txt").write_text("", encoding="utf-8")
    Path("nodir").write_text("a file", encoding="utf-8")
    for name in ("beam", "cut", "odd", "other", "short"):
        write_generated(Path(name), TEXTS, TEXTS, TEXTS)
    toy_search((0, 1), Path("odd/searches.jsonl"), simulations=3)
    line = Path("odd/searches.jsonl").read_text(encoding="utf-8").splitlines()[0]
    broken = line.replace('"parent":[-1,0', '"parent":[-1,7', 1)
    short = line.replace('"parent":', '"deviation":[0.1],"parent":', 1)
    Path("odd/searches.jsonl").write_text(f"{line}\n{broken}\n", encoding="utf-8")
    Path("short/searches.jsonl").write_text(f"{short}\n", encoding="utf-8")
    Path("cut/searches.jsonl.gz").write_bytes(gzip.compress(line.encode())[:-20])
    toy_search((9,), Path("other/searches.jsonl"), simulations=3)
    with pytest.raises(SystemExit) as ended:
        main(arguments)
    assert ended.value.code == 2
    error = capsys.readouterr().err
    assert error.startswith("fairseq-mcts-report: error: ")
    assert complaint in error
    assert not Path("r.html").exists()


def test_other_json_lines_are_none_of_its_business(tmp_path: Path) -> None:
    path = tmp_path / "candidates.jsonl"
    path.write_text('{"id": 1, "hypotheses": []}\n', encoding="utf-8")
    assert read_records(path) == {}
