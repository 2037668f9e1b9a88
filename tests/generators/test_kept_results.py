"""fairseq-generate does not overwrite results of other settings."""

from collections.abc import Callable
from pathlib import Path

import pytest
from fairseq import options
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

from fairseq_mcts.tasks.kept_results import keep_results
from tests.generators.harness import generate_command, run_generate
from tests.generators.trained import Trained

GIVEN = ("--gen-subset", "valid", "--max-len-b", "9")


@pytest.fixture
def guarded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., None]:
    """fairseq-generate whose work is nothing but a file of results."""
    results = tmp_path / "results" / "generate-test.txt"

    def main(cfg: object) -> None:
        results.write_text("H-0")

    monkeypatch.setattr(generate_command, "main", main)
    keep_results()
    (tmp_path / "data").mkdir()

    def run(*more: str) -> None:
        parser = options.get_generation_parser(default_task="translation_mcts")
        given = [str(tmp_path / "data"), "--path", str(tmp_path / "model.pt"), *more]
        given += ["--results-path", str(tmp_path / "results")]
        parsed = options.parse_args_and_arch(parser, given)
        generate_command.main(convert_namespace_to_omegaconf(parsed))

    return run


def test_networks_and_files_count_by_what_is_in_them(
    tmp_path: Path, guarded: Callable[..., None]
) -> None:
    model, value = tmp_path / "model.pt", tmp_path / "value.pt"
    tuned, pieces = tmp_path / "tuned.json", tmp_path / "pieces.model"
    for path in (model, value, pieces):
        path.write_text("old")
    tuned.write_text('{"search": "mcts", "options": {"mcts-c-puct": 4.0}, "how": "by hand"}')
    given = ("--value-path", str(value), "--search-settings", str(tuned))
    given += ("--bpe", "sentencepiece", "--sentencepiece-model", str(pieces))
    guarded(*given)
    tuned.write_text('{"search": "mcts", "options": {"mcts-c-puct": 4.0}, "how": "by a sweep"}')
    guarded(*given)
    for path, content, told in (
        (model, "new", r"otherwise: networks\.path was"),
        (value, "new", r"otherwise: networks\.value_path was"),
        (pieces, "new", r"otherwise: bpe\.sentencepiece_model was"),
        (
            tuned,
            '{"search": "mcts", "options": {"mcts-c-puct": 5.0}}',
            r"otherwise: task\.mcts_c_puct was .*4\.0.*, is now .*5\.0",
        ),
    ):
        before = path.read_text()
        path.write_text(content)
        with pytest.raises(ValueError, match=told):
            guarded(*given)
        path.write_text(before)
    guarded(*given)


@pytest.mark.parametrize("content", ["", "[1]", "{"])
def test_settings_that_are_damaged_are_named(
    tmp_path: Path, guarded: Callable[..., None], content: str
) -> None:
    guarded()
    record = tmp_path / "results" / "generate-test.settings.json"
    record.write_text(content)
    with pytest.raises(ValueError, match=rf"{record} is damaged \(.*\); give another folder, or"):
        guarded()


@pytest.mark.slow
def test_results_of_other_settings_are_kept(
    trained: Trained, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(generate_command, "main", generate_command.main)  # restored at the end
    keep_results()
    before = run_generate(trained, *GIVEN, "--beam", "1", results=tmp_path)
    told = trained.fairseq.fail(
        *("generate", str(trained.data), "--task", "translation_mcts", "--cpu", *GIVEN),
        *("--path", str(trained.dual), "--beam", "2", "--results-path", str(tmp_path)),
    )
    assert "generate-valid.txt there was made otherwise: generation.beam was 1, is now 2" in told
    assert told.splitlines()[-1].startswith("fairseq-generate: error: ")
    assert "Traceback" not in told
    assert (tmp_path / "generate-valid.txt").read_text(encoding="utf-8") == before
    # its own are made anew, with other batches too
    run_generate(trained, *GIVEN, "--beam", "1", "--batch-size", "1000", results=tmp_path)
    (tmp_path / "generate-valid.settings.json").unlink()
    with pytest.raises(ValueError, match=r"generate-valid\.txt there does not tell its settings"):
        run_generate(trained, *GIVEN, "--beam", "1", results=tmp_path)
