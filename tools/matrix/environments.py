"""The environments that are tried: what their owners have installed before the plugin comes."""

from dataclasses import dataclass
from pathlib import Path

BUILD_TOOLS = ("cython", "wheel", "setuptools<80")


@dataclass(frozen=True)
class Environment:
    """A Python with a torch and a fairseq."""

    name: str
    python: str  # 3.11
    torch: str  # requirements of torch and what must fit it
    fairseq: str  # requirement, a folder, or {fairseq}: the folder of --fairseq
    others: tuple[str, ...] = ()  # that this fairseq needs and does not ask for

    def source(self, folder: Path | None) -> str | None:
        """What pip is to install; None: a folder is needed and none is given."""
        if "{fairseq}" in self.fairseq and folder is None:
            return None
        return self.fairseq.format(fairseq=folder)


ENVIRONMENTS = (
    Environment("fixed-py311", "3.11", "torch==2.13.0", "fairseq-fixed==0.12.3.1", ("numpy",)),
    Environment("fixed-py312", "3.12", "torch==2.13.0", "fairseq-fixed==0.12.3.1", ("numpy",)),
    Environment(
        "main-py310", "3.10", "torch==2.6.0 torchaudio==2.6.0", "{fairseq}", ("numpy<2.3",)
    ),
    # the release of 2022 fails with the numpy of 2023: np.float
    Environment(
        "release-py310",
        "3.10",
        "torch==2.1.2 torchaudio==2.1.2",
        "fairseq==0.12.2",
        ("numpy<1.24",),
    ),
)
