"""The tables of the sweeps, on validation sentences: the paper's beside ours."""

from collections.abc import Mapping, Sequence
from pathlib import Path

from examples.common.markdown import NOTHING, number, table
from examples.common.sweeps import read_trials
from examples.multi30k import paper
from examples.multi30k.decoding_tables import TITLES, of_paper
from examples.multi30k.layout import METRICS, Layout
from examples.multi30k.study import MAIN_MODELS, ROLLOUT_BUDGETS, SCALING_BUDGETS
from examples.multi30k.tuning import ALPHA, BACKUP, BEAM, TEMPERATURE
from examples.multi30k.values import dual, hybrid, on_samples
from fairseq_mcts.tuning.grid import grid
from fairseq_mcts.tuning.results import Trial

Grid = Mapping[str, Sequence[str]]
UNPRIVILEGED = MAIN_MODELS["mlbertscore"].name


def trials_of(folder: Path, options: Grid) -> dict[tuple[str, ...], Trial]:
    """The outcomes of a sweep by the values of its options; empty if it has not been made."""
    settings = grid(options)
    try:
        trials = read_trials(folder, settings)
    except FileNotFoundError:
        return {}
    return {
        tuple(value for _, value in setting.values): trial
        for setting, trial in zip(settings, trials, strict=True)
    }


def _percent(trial: Trial | None, metric: str) -> str:
    return NOTHING if trial is None else number(100 * trial.scores[metric])


def beam_sizes(layout: Layout) -> str:
    """The paper's table 7, for the best length normalisation of each size."""
    trials = trials_of(layout.sweep("beam"), BEAM)
    rows = []
    for beam in BEAM["beam"]:
        of_beam = {key[1]: trial for key, trial in trials.items() if key[0] == beam}
        lenpen = max(of_beam, key=lambda one: of_beam[one].scores["bleu"], default=None)
        trial = None if lenpen is None else of_beam[lenpen]
        rows.append(
            [
                *(beam, _percent(trial, "bleu")),
                number(of_paper(paper.BEAM_SIZES[beam], layout.target)),
                *(lenpen or NOTHING, _percent(trial, "chrf"), _percent(trial, "mlbertscore")),
            ]
        )
    return table(["beam", "BLEU", "paper", "θ", "chrF", "MLBERTScore"], rows)


def alphas(layout: Layout) -> str:
    """The paper's table 8, with the metrics that were not optimised."""
    rows = []
    sweeps = {
        metric: trials_of(layout.sweep(f"{MAIN_MODELS[metric].name}-vgbs"), ALPHA)
        for metric in METRICS
    }
    for alpha in ALPHA["vgbs-alpha"]:
        bertscore, mlbertscore = paper.ALPHAS[alpha]
        of_alpha = {metric: sweeps[metric].get((alpha,)) for metric in METRICS}
        rows.append(
            [
                *(alpha, _percent(of_alpha["bleu"], "bleu")),
                *(_percent(of_alpha["bertscore"], "bertscore"), number(bertscore)),
                *(_percent(of_alpha["mlbertscore"], "mlbertscore"), number(mlbertscore)),
                _percent(of_alpha["mlbertscore"], "bleu"),
            ]
        )
    header = ["α", "BLEU", "BERTScore", "paper", "MLBERTScore", "paper", "its BLEU"]
    return table(header, rows)


def backups(layout: Layout) -> str:
    """The paper's table 9, with the BLEU of what was optimised for MLBERTScore."""
    keys = [
        (choice, backup) for choice in BACKUP["mcts-choose"] for backup in BACKUP["mcts-backup"]
    ]
    rows = []
    for metric in METRICS:
        folder = layout.sweep(f"{MAIN_MODELS[metric].name}-mcts-backup")
        trials = trials_of(folder, BACKUP)
        rows.append([TITLES[metric], *(_percent(trials.get(key), metric) for key in keys)])
        if metric in paper.BACKUPS:
            theirs = paper.BACKUPS[metric]
            rows.append(["paper", *(number(theirs.get(key)) for key in keys)])
        if metric != "bleu":
            rows.append(["its BLEU", *(_percent(trials.get(key), "bleu") for key in keys)])
    return table(["", *(f"{choice}, {backup}" for choice, backup in keys)], rows)


def temperatures(layout: Layout) -> str:
    """The paper's table 10, with the BLEU of what was optimised for MLBERTScore."""
    columns = [("sr", "mlbertscore"), *(("srv", metric) for metric in METRICS)]
    sweeps = [
        trials_of(layout.sweep(f"{MAIN_MODELS[metric].name}-{decoder}"), TEMPERATURE)
        for decoder, metric in columns
    ]
    rows = []
    for temperature in TEMPERATURE["sr-temperature"]:
        cells = [temperature]
        for (_, metric), trials, theirs in zip(
            columns, sweeps, paper.TEMPERATURES[temperature], strict=True
        ):
            cells += [_percent(trials.get((temperature,)), metric), number(theirs)]
        cells.append(_percent(sweeps[0].get((temperature,)), "bleu"))
        rows.append(cells)
    header = [
        part
        for decoder, metric in columns
        for part in (f"{TITLES[decoder]} {TITLES[metric]}", "paper")
    ]
    return table(["τ", *header, "BLEU of S+R"], rows)


def greedy_or_sampled(layout: Layout) -> str:
    """What values learn from: each decoder's best setting with the values of either kind."""
    sweeps: dict[str, tuple[str, Grid]] = {
        "vgbs": ("vgbs", ALPHA),
        "srv": ("srv", TEMPERATURE),
        "mcts": ("mcts-backup", BACKUP),
    }
    rows = []
    for model in (dual("mlbertscore"), hybrid("bleu")):
        metric = model.metric
        for decoder, (sweep, options) in sweeps.items():
            cells = [f"{TITLES[metric]}, {TITLES[decoder]}"]
            for learned in (model, on_samples(model)):
                trials = trials_of(layout.sweep(f"{learned.name}-{sweep}"), options)
                best = max(trials.values(), key=lambda trial: trial.scores[metric], default=None)
                cells += [_percent(best, metric), _percent(best, "chrf")]
            rows.append(cells)
    return table(["", "from greedy ones", "its chrF", "from samples", "its chrF"], rows)


def scaling_trials(layout: Layout, metric: str) -> dict[str, dict[str, Trial]]:
    """The outcomes by decoder and budget, as far as there are any."""
    decoders = ["vgbs", "srv", "mcts"]
    if metric == "mlbertscore":
        decoders += ["sr", "mcts-rollout"]
    found = {}
    for decoder in decoders:
        budgets = ROLLOUT_BUDGETS if decoder == "mcts-rollout" else SCALING_BUDGETS
        folder = layout.sweep(f"{MAIN_MODELS[metric].name}-scaling-{decoder}")
        trials = trials_of(folder, {"search-budget": budgets})
        if trials:
            found[decoder] = {key[0]: trial for key, trial in trials.items()}
    return found


def scaling(layout: Layout, metric: str) -> str:
    """The paper's table 5 (MLBERTScore), also of other metrics, with BLEU beside all but BLEU."""
    found = scaling_trials(layout, metric)
    rows = []
    for budget in SCALING_BUDGETS:
        cells = [budget]
        for decoder, trials in found.items():
            cells.append(_percent(trials.get(budget), metric))
            if metric != "bleu":
                cells.append(_percent(trials.get(budget), "bleu"))
            if metric == "mlbertscore" and decoder in paper.SCALING:
                cells.append(number(of_paper(paper.SCALING[decoder][budget], layout.target)))
        rows.append(cells)
    header = ["budget"]
    for decoder in found:
        header.append(TITLES[decoder])
        header += ["its BLEU"] if metric != "bleu" else []
        header += ["paper"] if metric == "mlbertscore" and decoder in paper.SCALING else []
    return table(header, rows)
