"""The tables of the test set: the paper's layout, our numbers beside the paper's."""

from examples.common.markdown import NOTHING, number, table
from examples.multi30k import paper
from examples.multi30k.layout import METRICS, TARGETS
from examples.multi30k.markdown import with_p_value
from examples.multi30k.scores import BASELINE, SHOWN, HeldOutScores
from examples.multi30k.study import MAIN_MODELS
from examples.multi30k.systems import beam_for, name_of
from examples.multi30k.values import SEEDS, cheating, dual, hybrid, on_samples, with_seed

TITLES = {
    "bleu": "BLEU",
    "bertscore": "BERTScore",
    "mlbertscore": "MLBERTScore",
    "chrf": "chrF",
    "random": "Random",
    "reference": "Reference",
    "greedy": "Greedy",
    "beam": "Beam search",
    "vgbs": "VGBS",
    "srv": "S+RV",
    "mcts": "V-MCTS",
    "sr": "S+R",
    "mcts-rollout": "MCTS+Roll",
    "mcts-terminal": "V-MCTS, metric at the end",
}
#: rows of the main table that are the same system whatever metric is asked for
COMMON_ROWS = ("random", "reference", "greedy", "beam")
#: those that search for a metric
DECODERS = tuple(row for row in paper.MAIN if row not in COMMON_ROWS)


def of_paper(pair: paper.Pair, target: str) -> float | None:
    return pair[TARGETS.index(target)]


def main_comparison(scores: HeldOutScores, target: str) -> str:
    """The paper's table 4; each column has the systems that were made for its metric."""
    rows = []
    for row, theirs in paper.MAIN.items():
        cells = [TITLES[row]]
        for metric in METRICS:
            system = row if row in COMMON_ROWS else name_of(MAIN_MODELS[metric], row)
            cells.append(with_p_value(scores.score(system, metric)))
            cells.append(number(of_paper(theirs[metric], target)) if metric in theirs else NOTHING)
        rows.append(cells)
    header = [part for metric in METRICS for part in (TITLES[metric], "paper")]
    return table(["", *header], rows)


def tuned_beams(scores: HeldOutScores) -> str:
    """The searches for a metric against the beam search that was tuned for the same metric.

    A harder comparison than the paper's, whose beam search is tuned for BLEU.
    """
    rows = []
    for metric in METRICS:
        beam = beam_for(metric)
        for decoder in ("beam", *DECODERS):
            system = beam if decoder == "beam" else name_of(MAIN_MODELS[metric], decoder)
            if scores.has(system):
                cells = (with_p_value(scores.score(system, shown, beam)) for shown in SHOWN)
                rows.append([TITLES[metric], TITLES[decoder], *cells])
    return table(["tuned for", "", *(TITLES[metric] for metric in SHOWN)], rows)


def gains(scores: dict[str, HeldOutScores]) -> str:
    """What part of S+R's gain over beam search the searches by a value have, by MLBERTScore.

    Of the beam search that is best for MLBERTScore on validation; means over seeds, and the least
    and the greatest.
    """
    metric, model = "mlbertscore", MAIN_MODELS["mlbertscore"]
    beam, rows = beam_for(metric), []
    for target, found in scores.items():
        base, best = found.score(beam, metric), found.score(name_of(model, "sr"), metric, beam)
        if base is None or best is None:
            continue
        for decoder in ("vgbs", "mcts", "srv", "sr"):
            names = [name_of(with_seed(model, seed), decoder) for seed in SEEDS]
            names = [name for name in names if found.has(name)]
            tests = [test for name in names if (test := found.score(name, metric, beam))]
            if not tests:
                continue
            each = [test.percent - base.percent for test in tests]
            chrf = [_difference(found, name, beam, "chrf") for name in names]
            mean = sum(each) / len(each)
            rows.append(
                [
                    *(f"en-{target}", TITLES[decoder], f"{mean:+.2f}"),
                    f"{min(each):+.2f} to {max(each):+.2f}" if len(each) > 1 else NOTHING,
                    f"{100 * mean / (best.percent - base.percent):.0f} %",
                    f"{max(test.p_value or 0.0 for test in tests):.3f}",
                    f"{sum(chrf) / len(chrf):+.2f}",
                ]
            )
    return table(["pair", "", "gain", "by seed", "of S+R's", "greatest p", "chrF"], rows)


def _difference(scores: HeldOutScores, system: str, baseline: str, metric: str) -> float:
    own, other = scores.score(system, metric), scores.score(baseline, metric)
    assert own is not None and other is not None
    return own.percent - other.percent


def all_scores(scores: HeldOutScores) -> str:
    """Every system by every metric, optimised or not, with what it cost."""
    rows = []
    for name in ("random", "reference", *_by_importance(scores.names())):
        cost = scores.cost(name)
        rows.append(
            [
                name,
                *(with_p_value(scores.score(name, metric)) for metric in SHOWN),
                number(cost.charged if cost else None, 1),
                number(cost.made if cost else None, 1),
                number(cost.seconds if cost else None, 0),
            ]
        )
    return table(["system", *(TITLES[m] for m in SHOWN), "charged", "made", "seconds"], rows)


def _by_importance(names: list[str]) -> list[str]:
    return sorted(names, key=lambda name: (name not in ("greedy", "beam5", BASELINE), name))


def unprivileged_metric(scores: dict[str, HeldOutScores]) -> str:
    """The paper's table 1: MLBERTScore of what no search for it has made."""
    rows = []
    for target, found in scores.items():
        cells = [f"en-{target}"]
        for row, theirs in paper.MLBERTSCORE.items():
            score = found.score(row, "mlbertscore")
            cells += [number(score.percent if score else None), number(of_paper(theirs, target))]
        rows.append(cells)
    header = [part for row in paper.MLBERTSCORE for part in (TITLES[row], "paper")]
    return table(["pair", *header], rows)


def architectures(scores: HeldOutScores) -> str:
    """The paper's table 6: the metric that each model was trained for."""
    makers = {"normal": dual, "cheating": cheating, "hybrid": hybrid}
    rows = []
    for (metric, decoder), theirs in paper.ARCHITECTURES.items():
        cells = [f"{TITLES[metric]}, {TITLES[decoder]}"]
        for architecture, make in makers.items():
            model = make(metric)
            model = model if architecture == "cheating" else on_samples(model)
            ours = scores.score(name_of(model, decoder), metric)
            cells += [with_p_value(ours), number(theirs[architecture])]
        rows.append(cells)
    return table(["", *(part for name in makers for part in (name, "paper"))], rows)


def policies(scores: dict[str, HeldOutScores]) -> str:
    """The paper's table 12: greedy BLEU of the supervised policy and of distilled ones."""
    models = {metric: name_of(model, "greedy") for metric, model in MAIN_MODELS.items()}
    rows = []
    for target, found in scores.items():
        supervised = found.score("greedy", "bleu")
        cells = [f"en-{target}", number(supervised.percent if supervised else None)]
        cells.append(number(of_paper(paper.POLICIES["supervised"], target)))
        for system in models.values():
            score = found.score(system, "bleu")
            cells.append(number(score.percent if score else None))
        cells.append(number(of_paper(paper.POLICIES["distilled"], target)))
        rows.append(cells)
    distilled = [f"distilled for {TITLES[metric]}" for metric in models]
    return table(["pair", "supervised", "paper", *distilled, "paper"], rows)


def separate_values(scores: HeldOutScores, target: str) -> str:
    """The paper's table 13, by all metrics: a policy with another model's value, 25 simulations."""
    rows = []
    for row, theirs in paper.SEPARATE_VALUES.items():
        system = row if row == BASELINE else f"separate-{row}-mcts"
        title = TITLES[row] if row == BASELINE else f"value of {TITLES[row]}"
        cells = [with_p_value(scores.score(system, metric)) for metric in SHOWN]
        rows.append([title, cells[0], number(of_paper(theirs, target)), *cells[1:]])
    bleu, *others = (TITLES[metric] for metric in SHOWN)
    return table(["", bleu, f"{bleu}, paper", *others], rows)
