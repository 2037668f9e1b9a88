"""Trials that need no networks."""

from fairseq_mcts.tuning.grid import Setting
from fairseq_mcts.tuning.results import Trial


def trial(bleu: float, *, charged: int = 100, chrf: float = 0.5, setting: str = "") -> Trial:
    return Trial(
        flags=setting.split(),
        scores={"bleu": bleu, "chrf": chrf},
        signatures={"bleu": "b", "chrf": "c"},
        hypotheses=["a translation"],
        tokens=10,
        charged=charged,
        made=charged // 2,
        seconds=1.0,
    )


def score_of(setting: Setting) -> float:
    """A landscape with one hill: highest where lenpen is 1 and beam is 4."""
    values = {name: float(value) for name, value in setting.values}
    return 1 - (values["lenpen"] - 1) ** 2 / 10 - (values["beam"] - 4) ** 2 / 100
