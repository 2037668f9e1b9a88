"""Train, relabel, train a value, decode by every search: run by the Python of an environment.

    PYTHON tools/matrix/pipeline.py FOLDER

Needs nothing of the project but the installed package. Ends with a JSON object of what was done.
"""

import json
import os
import random
import re
import subprocess
import sys
import time
from itertools import product
from pathlib import Path

SCRIPTS = Path(sys.executable).parent
WORDS = {
    "subject": [("the dog", "der Hund"), ("a cat", "eine Katze"), ("my sister", "meine Schwester")],
    "verb": [("sees", "sieht"), ("finds", "findet"), ("buys", "kauft"), ("forgets", "vergisst")],
    "object": [("the book", "das Buch"), ("a key", "einen Schlüssel"), ("some bread", "Brot")],
    "tail": [("today", "heute"), ("again", "wieder"), ("in the garden", "im Garten")],
}
SPLITS = {"train": 80, "valid": 14, "test": 13}  # 13 is no multiple of 8: a last batch is at stake

TRAINING = (
    *("--optimizer", "adam", "--lr", "0.005", "--max-tokens", "400", "--cpu", "--seed", "1"),
    *("--num-workers", "0", "--no-epoch-checkpoints", "--log-format", "none"),
)
POLICY = (
    *("--arch", "transformer", "--share-all-embeddings", "--dropout", "0"),
    *("--encoder-layers", "1", "--encoder-embed-dim", "32", "--encoder-ffn-embed-dim", "64"),
    *("--decoder-layers", "1", "--decoder-embed-dim", "32", "--decoder-ffn-embed-dim", "64"),
    *("--encoder-attention-heads", "2", "--decoder-attention-heads", "2"),
)
DUAL = (
    *("--arch", "dual_head_multiquery_transformer_tiny", "--share-all-embeddings"),
    *("--value-buckets", "20"),
)
SEARCHES: dict[str, tuple[str, ...]] = {
    "beam": (),
    "vgbs": ("--search", "vgbs", "--vgbs-beam", "2"),
    "mcts": ("--search", "mcts", "--mcts-simulations", "4"),
    "mcts-rollout": (
        *("--search", "mcts", "--mcts-simulations", "3", "--mcts-leaf", "rollout"),
        *("--search-metric", "likelihood"),
    ),
    "sr": ("--search", "sr", "--sr-samples", "3"),
    "sr-metric": (
        *("--search", "sr", "--sr-samples", "3", "--sr-rank-by", "metric"),
        *("--search-metric", "likelihood"),
    ),
    "mbr": ("--search", "mbr", "--mbr-samples", "3", "--search-metric", "chrf"),
}


def write_corpus(folder: Path) -> None:
    """A toy corpus of three splits."""
    sentences = list(product(*WORDS.values()))
    random.Random(1).shuffle(sentences)
    begin = 0
    for split, size in SPLITS.items():
        for side, language in enumerate(("en", "de")):
            lines = [
                " ".join(words[side] for words in one) for one in sentences[begin : begin + size]
            ]
            text = "".join(f"{line}\n" for line in lines)
            (folder / f"{split}.{language}").write_text(text, encoding="utf-8")
        begin += size


def run(folder: Path, command: str, *options: str) -> str:
    """What a console script of the environment prints; it must succeed."""
    result = subprocess.run(
        [str(SCRIPTS / command), *options],
        cwd=folder,
        capture_output=True,
        text=True,
        check=False,
        env={**os.environ, "OMP_NUM_THREADS": "1"},
    )
    if result.returncode:
        raise SystemExit(f"{command} {' '.join(options)}\n{result.stdout}\n{result.stderr}")
    return result.stdout


def main(folder: Path) -> None:
    folder.mkdir(parents=True)
    write_corpus(folder)
    user_dir = run(folder, "python", "-m", "fairseq_mcts.user_dir").strip()
    task = ("--user-dir", user_dir, "--task", "translation_mcts")
    begun = time.perf_counter()
    run(
        folder,
        *("fairseq-preprocess", *task, "--source-lang", "en", "--target-lang", "de"),
        *("--trainpref", "train", "--validpref", "valid", "--testpref", "test"),
        *("--joined-dictionary", "--destdir", "bin"),
    )
    run(
        folder,
        *("fairseq-train", "bin", *task, *POLICY, *TRAINING, "--criterion", "cross_entropy"),
        *("--max-epoch", "20", "--disable-validation", "--save-dir", "policy"),
    )
    policy = "policy/checkpoint_last.pt"
    run(
        folder,
        *("fairseq-mcts-relabel", "bin", "--path", policy, "--metric", "bleu"),
        *("--out", "scored", "--cpu"),
    )
    heads: dict[str, tuple[str, ...]] = {
        "frozen": (
            *("--arch", "policy_with_value", "--policy-path", policy, "--freeze-policy"),
            *("--policy-weight", "0", "--value-weight", "1"),
        ),
        "dual": (*DUAL, "--policy-loss", "nll", "--value-weight", "1"),
    }
    for name, options in heads.items():
        run(
            folder,
            *("fairseq-train", "scored", *task, *options, *TRAINING, "--criterion", "value"),
            *("--max-epoch", "2", "--save-dir", name),
            *("--eval-bleu", "--eval-bleu-args", '{"beam": 1, "max_len_b": 9}'),
            *("--eval-search", "mcts", "--mcts-simulations", "2", "--eval-search-metric", "chrf"),
            *("--best-checkpoint-metric", "mcts_chrf", "--maximize-best-checkpoint-metric"),
        )
    lines: dict[str, int] = {}
    for name, options in SEARCHES.items():
        output = run(
            folder,
            *("fairseq-generate", "bin", *task, "--path", "frozen/checkpoint_best.pt", "--cpu"),
            *("--max-len-b", "12", *options),
        )
        lines[name] = len(re.findall(r"^D-\d+\t", output, flags=re.MULTILINE))
        if lines[name] != SPLITS["test"]:
            raise SystemExit(f"{name}: {lines[name]} translations of {SPLITS['test']} lines")
    seconds = round(time.perf_counter() - begun)
    print(json.dumps({"searches": sorted(lines), "seconds": seconds}))


if __name__ == "__main__":
    main(Path(sys.argv[1]).resolve())
