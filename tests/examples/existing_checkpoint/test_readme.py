"""The page's commands, one after the other, on a small checkpoint in the format of fairseq 0.9."""

import re
import shutil
from pathlib import Path

import pytest

from tests.conftest import ParallelTexts
from tests.docs.pages import blocks, follow, run
from tests.old_checkpoints import save_as_namespace

pytestmark = pytest.mark.slow(seconds=90)

PAGE = "../examples/existing_checkpoint/README.md"
SPLITS = {"train": slice(0, 160), "valid": slice(160, 180), "test": slice(180, 193)}
TRAINING = """
cat corpus/train.en corpus/train.de | subword-nmt learn-bpe -s 150 > wmt.en-de/bpecodes
for language in en de; do
    sacremoses -l $language tokenize < corpus/train.$language \
        | subword-nmt apply-bpe -c wmt.en-de/bpecodes > train.$language
done
fairseq-preprocess --source-lang en --target-lang de --trainpref train --destdir theirs
cp theirs/dict.*.txt wmt.en-de
fairseq-train theirs --user-dir "$(python -m fairseq_mcts.user_dir)" --task translation \
    --arch transformer --encoder-layers 1 --decoder-layers 1 --encoder-embed-dim 32 \
    --decoder-embed-dim 32 --encoder-ffn-embed-dim 64 --decoder-ffn-embed-dim 64 \
    --encoder-attention-heads 2 --decoder-attention-heads 2 --share-decoder-input-output-embed \
    --criterion cross_entropy --optimizer adam --lr 0.01 --max-tokens 800 --max-epoch 15 --cpu \
    --disable-validation --no-epoch-checkpoints --save-dir theirs --dropout 0
"""


@pytest.fixture
def folder(tmp_path: Path, toy_pairs: ParallelTexts, toy_encoder: Path) -> Path:
    """What the page takes for granted."""
    pytest.importorskip("sacremoses", reason="the extra text is not installed")
    for name in ("corpus", "wmt.en-de"):
        (tmp_path / name).mkdir()
    for split, part in SPLITS.items():
        for language, lines in (("en", toy_pairs.sources), ("de", toy_pairs.targets)):
            text = "".join(f"{line}\n" for line in lines[part])
            (tmp_path / "corpus" / f"{split}.{language}").write_text(text, encoding="utf-8")
    shutil.copytree(toy_encoder, tmp_path / "encoder")
    run(TRAINING, tmp_path)
    checkpoint = tmp_path / "theirs" / "checkpoint_last.pt"
    save_as_namespace(checkpoint, tmp_path / "wmt.en-de" / "model.pt")
    return tmp_path


def translations(path: Path) -> list[str]:
    return re.findall(r"^D-\d+\t\S+\t(.*)$", path.read_text(encoding="utf-8"), re.MULTILINE)


def test_every_command_of_the_page_runs(folder: Path) -> None:
    printed = follow(
        PAGE, folder, smaller=lambda text: re.sub(r"(-num|-max)-update \d+", r"\1-update 30", text)
    )
    lines = SPLITS["test"].stop - SPLITS["test"].start
    for name in ("sr.txt", "mbr/generate-test.txt", "vgbs/generate-test.txt"):
        found = translations(folder / name)
        assert len(found) == lines, name
        assert "@@" not in "".join(found)
    assert re.search(r"^vgbs .*", printed, re.MULTILINE)
    # two sentences of two candidates each
    of_python = [block for block in blocks(PAGE) if block.language == "python"]
    assert len(of_python) == 1
    assert len(re.findall(r"^ {4}\S.* 0\.\d+$", printed, re.MULTILINE)) == 4
