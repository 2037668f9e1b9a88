"""fairseq-mcts-sweep: decode some sentences with many settings and tell the best one."""

import argparse
import dataclasses
import shlex
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from fairseq_mcts.cli.errors import exit_on_errors, refuse_below_one
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.register import register
from fairseq_mcts.tuning.grid import grid, parse_options
from fairseq_mcts.tuning.results import Trial, TrialStore, as_text, best_of

PROGRAM = "fairseq-mcts-sweep"


def make_parser() -> argparse.ArgumentParser:
    """All options of fairseq-generate, and those of the sweep."""
    from fairseq import options

    parser: argparse.ArgumentParser = options.get_generation_parser(default_task="translation_mcts")
    parser.prog = PROGRAM
    parser.description = (
        "Decode with all combinations of some options' values and score each; takes all options "
        "of fairseq-generate. Networks are loaded once. Killed at any moment, the same command "
        "goes on where it was."
    )
    group = parser.add_argument_group("sweep")
    group.add_argument(
        "--sweep",
        action="append",
        required=True,
        metavar="NAME[=VALUE,…]",
        help="an option of decoding and the values to try, for example lenpen=0.6,1.0; without "
        "values those that its decoder proposes; may be repeated",
    )
    group.add_argument(
        "--sweep-metric",
        action="append",
        required=True,
        metavar="NAME[:OPTION=VALUE,…]",
        help="the first one chooses the best setting, further ones are shown beside it",
    )
    group.add_argument(
        "--sweep-sentences",
        type=int,
        metavar="N",
        help="decode the first N sentences of --gen-subset (default: all)",
    )
    group.add_argument(
        "--sweep-out",
        type=Path,
        required=True,
        metavar="FOLDER",
        help="folder for the translations and scores of every setting",
    )
    group.add_argument(
        "--write-settings",
        type=Path,
        metavar="FILE",
        help="file for the best setting, which all commands that decode read by --search-settings "
        "(default: best.json in the folder of --sweep-out)",
    )
    return parser


def main(arguments: Sequence[str] | None = None) -> None:
    register()
    arguments = sys.argv[1:] if arguments is None else list(arguments)
    with exit_on_errors(PROGRAM):
        run(arguments)


def run(arguments: Sequence[str]) -> None:
    """Try what has not been tried, print the table, write the best setting."""
    from fairseq_mcts.subset.decoder import SubsetDecoder
    from fairseq_mcts.subset.options import check_options, generator_options
    from fairseq_mcts.tuning.best import flags_beside, refuse_missing_folder, write_best
    from fairseq_mcts.tuning.trying import Trier

    options, cfg = _parse(arguments)
    refuse_below_one(options, "sweep_sentences")
    if options.write_settings is not None:
        refuse_missing_folder(options.write_settings, options.sweep_out)
    settings = grid(parse_options(options.sweep, _sweepable()))
    # a value that some option refuses is found before anything is decoded
    configurations = [_parse([*arguments, *setting.flags()])[1] for setting in settings]
    for of_setting in configurations:
        check_options(of_setting)
    metrics = [build_metric(spec) for spec in options.sweep_metric]
    if len({metric.name for metric in metrics}) < len(metrics):
        raise ValueError("--sweep-metric: the same metric is asked for twice")
    trier = Trier(SubsetDecoder(cfg, options.sweep_sentences, "--sweep-sentences"), metrics)
    store = TrialStore(options.sweep_out)
    trials: list[Trial] = []
    for setting, of_setting in zip(settings, configurations, strict=True):
        key = trier.key(of_setting)
        trial = store.read(key)
        known = trial is not None
        if trial is None:
            trial = trier.try_out(setting, of_setting)
            store.write(key, trial)
        trials.append(trial)
        score = metrics[0].format(trial.scores[metrics[0].name])
        how = "already there" if known else f"{trial.seconds:.1f} s"
        number = f"{len(trials)}/{len(settings)}"
        print(f"{number} {setting}: {metrics[0].name} {score} ({how})", flush=True)
    print(f"\n{len(trier.sources)} sentences\n{as_text(settings, trials, metrics)}")
    for metric in metrics:
        print(f"{metric.name}: {metric.signature()}")
    best = best_of(trials, metrics[0].name)
    best_options = generator_options(configurations[best])
    origin = {
        "command": shlex.join([PROGRAM, *arguments]),
        "subset": cfg.dataset.gen_subset,
        "sentences": len(trier.sources),
        "settings": len(settings),
    }
    path = options.write_settings or options.sweep_out / "best.json"
    write_best(path, settings[best], best_options, trials[best], metrics[0].name, origin)
    flags = ["--search-settings", str(path), *flags_beside(best_options)]
    print(f"to decode so: {shlex.join(flags)}")


def _parse(arguments: Sequence[str]) -> tuple[argparse.Namespace, Any]:
    from fairseq import options
    from fairseq.dataclass.utils import convert_namespace_to_omegaconf

    # fairseq adds to a parser what the arguments ask for: each parsing takes a new one
    parsed = options.parse_args_and_arch(make_parser(), list(arguments))
    return parsed, convert_namespace_to_omegaconf(parsed)


def _sweepable() -> dict[str, list[str]]:
    """Options of generation and of the searches, with the values to try if none are given."""
    from fairseq.dataclass.configs import GenerationConfig

    from fairseq_mcts.generators.decoder_flags import decoder_flags
    from fairseq_mcts.generators.decoding_checks import OF_FILES
    from fairseq_mcts.tasks.search_config import unset_search_fields

    defaults = {field.name: field.default for field in dataclasses.fields(GenerationConfig)}
    defaults.update(unset_search_fields())
    flags = decoder_flags()
    grids = {name: list(map(str, one.info.grid)) for name, one in flags.items()}
    switches = {name for name, one in flags.items() if one.info.flag_type is bool}
    switches |= {name for name, default in defaults.items() if default is False}
    return {
        name.replace("_", "-"): grids.get(name, [])
        for name in defaults
        if not name.startswith("_") and name not in switches and name not in OF_FILES
    }


if __name__ == "__main__":
    main()
