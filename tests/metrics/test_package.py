"""The package itself stays light, so that BLEU needs no torch and search metrics no fairseq."""

import subprocess
import sys


def test_importing_metrics_and_using_bleu_loads_no_heavy_library() -> None:
    program = (
        "import sys; from fairseq_mcts.metrics import build_metric;"
        "build_metric('bleu').score(['a b'], ['a b']); build_metric('chrf').score(['a'], ['a']);"
        "print([m for m in ('torch', 'fairseq', 'transformers', 'bert_score') if m in sys.modules])"
    )
    run = subprocess.run(
        [sys.executable, "-c", program], capture_output=True, text=True, check=True
    )
    assert run.stdout.strip() == "[]"
