"""The search package lives without torch and fairseq."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

PROGRAM = '''
import sys


class Refuse:
    """As if the packages were not installed."""

    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in ("torch", "fairseq", "sacrebleu", "transformers"):
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


sys.meta_path.insert(0, Refuse())
try:
    import torch
except ModuleNotFoundError:
    pass
else:
    raise SystemExit("torch could still be imported: this test proves nothing")

import numpy as np

import fairseq_mcts.search
from fairseq_mcts.search import decode


def evaluate(sentences, prefixes):
    logprobs = np.log(np.tile([0.2, 0.5, 0.3], (len(prefixes), 1)))
    return logprobs, np.array([float(len(prefix)) for prefix in prefixes])


for search in ("mcts", "vgbs", "beam", "sr"):
    for hypotheses in decode(evaluate, 2, search=search, eos=2, max_len=3):
        assert hypotheses[0].tokens[-1] == 2
assert not {"torch", "fairseq"} & set(sys.modules)
print("decoded")
'''


def test_decoding_where_torch_and_fairseq_are_missing() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.strip() == "decoded"
