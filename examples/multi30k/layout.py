"""Where the study of one language pair keeps what it makes, and what all its commands share."""

from dataclasses import dataclass
from pathlib import Path

# Paths are relative to the root of the repository, where `python -m examples.multi30k` has to run.
PLUGIN = ("--user-dir", "user_dir", "--task", "translation_mcts")
SEED = "1"
SOURCE = "en"
TARGETS = ("de", "fr")


@dataclass(frozen=True)
class Layout:
    """The folders of one language pair below the work folder."""

    data: Path
    work: Path
    target: str

    @property
    def languages(self) -> tuple[str, str]:
        return SOURCE, self.target

    @property
    def pair(self) -> Path:
        """Everything of this language pair."""
        return self.work / f"{SOURCE}-{self.target}"

    @property
    def corpus(self) -> Path:
        return self.pair / "corpus"

    @property
    def subwords(self) -> Path:
        return self.pair / "subwords"

    @property
    def binarised(self) -> Path:
        return self.pair / "binarised"

    @property
    def policy_folder(self) -> Path:
        return self.pair / "policy"

    @property
    def policy(self) -> Path:
        """The supervised policy."""
        return self.policy_folder / "checkpoint_best.pt"
