"""The files of Multi30k, as they come and as the stages want them."""

import gzip
import sys
from pathlib import Path

import pytest

from examples.multi30k import __main__ as driver
from examples.multi30k.corpus import write
from examples.multi30k.study import Study


def make_data(folder: Path, *languages: str, val: str = "valid", compressed: bool = False) -> Path:
    folder.mkdir()
    for name in ("train", val, "test_2016_flickr"):
        for language in languages or ("en", "de"):
            text = "".join(f"{name} {language} {n} \n" for n in range(2)).encode()
            path = folder / (f"{name}.{language}" + (".gz" if compressed else ""))
            path.write_bytes(gzip.compress(text) if compressed else text)
    return folder


@pytest.mark.parametrize("val", ["val", "valid"])
@pytest.mark.parametrize("compressed", [False, True])
def test_plain_and_compressed_files_are_laid_out(
    tmp_path: Path, compressed: bool, val: str
) -> None:
    data = make_data(tmp_path / "data", val=val, compressed=compressed)
    out = tmp_path / "out"
    out.mkdir()
    assert write(data, ("en", "de"), out) == {"train": 2, "valid": 2, "test": 2}
    assert (out / "test.de").read_text() == "test_2016_flickr de 0\ntest_2016_flickr de 1\n"
    assert (out / "valid.en").read_text() == f"{val} en 0\n{val} en 1\n"
    assert len(list(out.iterdir())) == 6


def test_sides_of_different_length_are_refused(tmp_path: Path) -> None:
    data = make_data(tmp_path / "data")
    (data / "valid.de").write_text("one\n")
    with pytest.raises(ValueError, match=r"the sides differ in length: valid.en 2, valid.de 1"):
        write(data, ("en", "de"), tmp_path)


def run_driver(
    monkeypatch: pytest.MonkeyPatch, data: Path, work: Path, encoder: str = "none"
) -> int:
    options = ["--data", str(data), "--work", str(work), "--encoder", encoder]
    monkeypatch.setattr(sys, "argv", ["multi30k", *options])
    return driver.main()


def test_a_missing_folder_is_refused_by_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, work = tmp_path / "nowhere", tmp_path / "work"
    assert run_driver(monkeypatch, data, work) == 1
    assert f"--data {data}: there is no such folder" in capsys.readouterr().err
    assert not work.exists()


def test_a_missing_file_is_refused_by_name_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, work = make_data(tmp_path / "data"), tmp_path / "work"
    assert run_driver(monkeypatch, data, work) == 1  # it holds no French
    message = f"--data {data}: holds none of train.fr, train.fr.gz"
    assert message in capsys.readouterr().err
    assert not work.exists()


def test_a_missing_encoder_is_refused_by_name_before_anything_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    data, work = make_data(tmp_path / "data", "en", "de", "fr"), tmp_path / "work"
    monkeypatch.setattr(Study, "run_policy", lambda study: study.layout.work.mkdir())
    monkeypatch.setattr(Study, "run_metric", lambda study, metric: None)
    encoder = str(tmp_path / "nowhere")
    assert run_driver(monkeypatch, data, work, encoder) == 1
    assert f"no encoder at {encoder}" in capsys.readouterr().err
    assert not work.exists()
