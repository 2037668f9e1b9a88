"""fairseq-generate does not overwrite results of other settings."""

from pathlib import Path

import pytest

from fairseq_mcts.tasks.kept_results import keep_results
from tests.generators.harness import generate_command, run_generate
from tests.generators.trained import Trained

GIVEN = ("--gen-subset", "valid", "--max-len-b", "9")


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
    assert (tmp_path / "generate-valid.txt").read_text(encoding="utf-8") == before
    # its own are made anew, with other batches too
    run_generate(trained, *GIVEN, "--beam", "1", "--batch-size", "1000", results=tmp_path)
    (tmp_path / "generate-valid.settings.json").unlink()
    with pytest.raises(ValueError, match=r"generate-valid\.txt there does not tell its settings"):
        run_generate(trained, *GIVEN, "--beam", "1", results=tmp_path)
