"""A folder in which the commands of the pages run as they stand: the names are those of the pages.

Everything in it is small and real: a corpus, a policy, values and an encoder.
"""

import gzip
import shutil
from collections.abc import Collection
from pathlib import Path

from examples.common import subwords
from tests.conftest import ParallelTexts
from tests.docs.command_server import REPOSITORY, CommandServer

LANGUAGES = ("en", "de")
SPLITS = {"train": slice(0, 160), "valid": slice(160, 168), "test": slice(168, 176)}
PIECES = 80
TEXT = "--bpe sentencepiece --sentencepiece-model sp.model"
PREPARATION = f"""
fairseq-preprocess --user-dir user_dir --task translation_mcts --source-lang en --target-lang de \
    --trainpref pieces/train --validpref pieces/valid --testpref pieces/test --joined-dictionary \
    --destdir data-bin
fairseq-train data-bin --user-dir user_dir --task translation_mcts --cpu --seed 1 \
    --arch multiquery_transformer_tiny --share-all-embeddings --dropout 0 \
    --criterion label_smoothed_cross_entropy --label-smoothing 0.1 --optimizer adam --lr 0.005 \
    --lr-scheduler inverse_sqrt --warmup-updates 50 --max-tokens 800 --max-update 100 \
    --disable-validation --no-epoch-checkpoints --save-dir policy --log-format none
fairseq-mcts-relabel data-bin --out scored --path policy/checkpoint_last.pt --metric bleu {TEXT} \
    --subset train,valid --samples 1
fairseq-train scored --user-dir user_dir --task translation_mcts --cpu --seed 1 \
    --arch policy_with_value --policy-path policy/checkpoint_last.pt --freeze-policy \
    --criterion value --policy-weight 0 --optimizer adam --lr 0.001 --max-tokens 1000 \
    --max-update 3 --save-dir value --no-epoch-checkpoints --log-format none
fairseq-train scored --user-dir user_dir --task translation_mcts --cpu --seed 1 \
    --arch dual_head_multiquery_transformer_tiny --share-all-embeddings --value-preset paper \
    --finetune-from-model policy/checkpoint_last.pt --criterion value \
    --teacher-path policy/checkpoint_last.pt --optimizer adam --lr 0.001 --max-tokens 1000 \
    --max-update 3 --save-dir dual --no-epoch-checkpoints --log-format none
fairseq-generate data-bin --user-dir user_dir --task translation_mcts {TEXT} \
    --path policy/checkpoint_last.pt --results-path beam
fairseq-generate data-bin --user-dir user_dir --task translation_mcts {TEXT} \
    --path value/checkpoint_best.pt --search mcts --search-budget 4 --results-path mcts
"""
#: names on the pages, and what they are here
NAMES = {
    "policy.pt": "policy/checkpoint_last.pt",
    "model.pt": "policy/checkpoint_last.pt",
    "any_transformer.pt": "policy/checkpoint_last.pt",
    "value.pt": "value/checkpoint_best.pt",
    "dual_head.pt": "dual/checkpoint_best.pt",
    "FOLDER": "encoder",
    "FOLDER_OR_HUB_NAME": "encoder",
}


def prepare(folder: Path, pairs: ParallelTexts, encoder: Path, server: CommandServer) -> None:
    """Makes everything; some twenty seconds of one core."""
    from tests.docs.commands import split_commands

    for name in ("user_dir", "examples"):
        (folder / name).symlink_to(REPOSITORY / name)
    shutil.copytree(encoder, folder / "encoder")
    _write_corpus(folder, pairs)
    for words in split_commands(PREPARATION):
        done = server.run(words, folder)
        assert done.code == 0, done.out[-2000:] + done.err[-4000:]
    for name, target in NAMES.items():
        (folder / name).symlink_to(target)
    for name in ("beam", "mcts"):
        generated = (folder / name / "generate-test.txt").read_text(encoding="utf-8")
        found = sorted(line for line in generated.splitlines() if line.startswith("D-"))
        text = "".join(line.split("\t")[2] + "\n" for line in found)
        (folder / f"{name}.de").write_text(text, encoding="utf-8")


def _write_corpus(folder: Path, pairs: ParallelTexts) -> None:
    (folder / "pieces").mkdir()
    for split, part in SPLITS.items():
        for language, lines in zip(LANGUAGES, pairs, strict=True):
            text = "".join(f"{line}\n" for line in lines[part])
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")
    model = subwords.learn(folder, LANGUAGES, folder / "pieces", PIECES)
    for split in SPLITS:
        for language in LANGUAGES:
            name = f"{split}.{language}"
            subwords.split(model, folder / name, folder / "pieces" / name)
    (folder / "sp.model").symlink_to("pieces/sentencepiece.model")
    sources = (folder / "test.en").read_bytes()
    for name in ("news.en.gz", "captions.en.gz"):
        (folder / name).write_bytes(gzip.compress(sources, mtime=0))


def copy_for_page(prepared: Path, folder: Path, without: Collection[str] = ()) -> None:
    """A folder for the commands of one page: what they write, they write there.

    What they make themselves is not there yet.
    """
    for path in prepared.iterdir():
        if path.name in without:
            continue
        target = folder / path.name
        if path.is_dir() and not path.is_symlink():
            shutil.copytree(path, target)
        else:
            target.symlink_to(path.resolve())
