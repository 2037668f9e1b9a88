"""Packaging of fairseq_mcts; tool settings live in pyproject.toml."""

import re
from pathlib import Path

from setuptools import find_packages, setup

HERE = Path(__file__).parent

# a fairseq that runs on current Pythons; who has another one needs none
FAIRSEQ = ["fairseq-fixed>=0.12.3.1,<0.13"]
METRICS = ["bert-score>=0.3.13", "transformers>=4.40,<5"]
# What unbabel-comet really imports. It asks for numpy < 2 and for old versions of others, which it
# runs without, so it comes by a second command: pip install --no-deps unbabel-comet
COMET = [
    "transformers>=4.40,<5",
    "pytorch-lightning>=2.0,<3",
    "torchmetrics>=0.10.2",
    "entmax>=1.1",
    "pandas>=1.4.1",
    "protobuf>=4.24",
    "scipy>=1.5.4",
    "PyYAML",
]
# tokenizers and subwords of fairseq's flags --tokenizer moses and --bpe subword_nmt
TEXT = ["sacremoses>=0.1", "subword-nmt>=0.3.8"]
REPORT = ["matplotlib>=3.8"]
EXPLORE = ["fastapi>=0.110", "uvicorn>=0.27"]
TUNE = ["optuna>=4.4"]
# `make docs`; ruff breaks long signatures of the API page into lines
DOCS = ["mkdocs-material>=9.6", "mkdocstrings[python]>=0.29", "ruff>=0.6"]


def version() -> str:
    """Read the version from the package, which cannot be imported while it is being built."""
    text = (HERE / "fairseq_mcts" / "__init__.py").read_text(encoding="utf-8")
    found = re.search(r'^__version__ = "(.+)"$', text, flags=re.MULTILINE)
    if found is None:
        raise RuntimeError("fairseq_mcts/__init__.py defines no __version__")
    return found.group(1)


setup(
    name="fairseq_mcts",
    version=version(),
    description="Metric-driven decoding for fairseq: value-guided MCTS, beam search and reranking",
    long_description=(HERE / "README.md").read_text(encoding="utf-8"),
    long_description_content_type="text/markdown",
    license="MIT",
    license_files=["LICENSE"],
    python_requires=">=3.10,<3.13",
    packages=find_packages(include=["fairseq_mcts", "fairseq_mcts.*"]),
    package_data={"fairseq_mcts": ["py.typed"], "fairseq_mcts.report": ["page/*"]},
    install_requires=[
        # Users bring their own fairseq, torch and numpy: no fairseq here, no upper bounds, and
        # lower ones that `make matrix` has tried (docs/fairseq.md).
        "torch>=2.1",
        "numpy>=1.23",
        "numba>=0.58",
        "sacrebleu>=2.0",
        "sentencepiece>=0.1.97",
        "shtab>=1.6",
        "tabulate>=0.9",
        "tqdm>=4.66",
    ],
    entry_points={
        "console_scripts": [
            "fairseq-mcts = fairseq_mcts.cli.commands:main",
            "fairseq-mcts-explore = fairseq_mcts.cli.explore:main",
            "fairseq-mcts-plan = fairseq_mcts.cli.plan:main",
            "fairseq-mcts-generate = fairseq_mcts.cli.generate:main",
            "fairseq-mcts-relabel = fairseq_mcts.cli.relabel:main",
            "fairseq-mcts-report = fairseq_mcts.cli.report:main",
            "fairseq-mcts-score = fairseq_mcts.cli.score:main",
            "fairseq-mcts-sweep = fairseq_mcts.cli.sweep:main",
        ],
    },
    extras_require={
        "fairseq": FAIRSEQ,
        "metrics": METRICS,
        "comet": COMET,
        "text": TEXT,
        "report": REPORT,
        "explore": EXPLORE,
        "tune": TUNE,
        "ray": ["ray>=2.50"],
        "docs": DOCS,
        "dev": [
            # the test suite covers the metrics, the reports and the tuning too
            *METRICS,
            *COMET,
            *TEXT,
            *REPORT,
            *EXPLORE,
            # the browser that it drives is Debian's chromium with chromium-driver
            "selenium>=4.15",
            *TUNE,
            *DOCS,
            "pytest>=9",
            "pytest-xdist>=3.5",
            "hypothesis>=6.100",
            # make coverage, make mutants
            "coverage>=7.10",
            "cosmic-ray>=8.3",
            "mypy>=1.11",
            "import-linter>=2.1",
            "pre-commit>=3.7",
        ],
    },
)
