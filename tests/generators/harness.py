"""The decoders as fairseq's commands use them, in this process; and the slow truth beside them."""

import math
from argparse import Namespace
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from fairseq import checkpoint_utils, options
from fairseq.dataclass.configs import GenerationConfig
from fairseq.dataclass.utils import convert_namespace_to_omegaconf
from fairseq_cli import generate as generate_command
from fairseq_cli import interactive as interactive_command

import tests.generators.vowels  # noqa: F401 - registers the metric
from fairseq_mcts.decoding.caution import parse_value_read
from fairseq_mcts.generators.search_generator import sentence_seed
from fairseq_mcts.metrics import build_metric
from fairseq_mcts.metrics.text import TextDecoder
from fairseq_mcts.search import Hypothesis, decode
from fairseq_mcts.tasks.translation_mcts import TranslationMctsTask
from tests.decoding.networks import FullForward
from tests.generators.trained import Trained
from tests.models.toys import Batch

SEED = 7
METRIC = {"search_metric": "vowels", "search_post_process": "sentencepiece"}
#: every decoder, with small budgets: the options of `SearchConfig`
DECODERS: dict[str, dict[str, Any]] = {
    "mcts_mean": {"search": "mcts", "mcts_simulations": 8, "mcts_temperature": 0.9},
    "mcts_max": {
        **{"search": "mcts", "mcts_simulations": 8, "mcts_c_puct": 8.0},
        **{"mcts_backup": "max", "mcts_choose": "value", "mcts_temperature": 1.1},
    },
    "mcts_rollout": {"search": "mcts", "mcts_simulations": 5, "mcts_leaf": "rollout", **METRIC},
    "mcts_terminal": {"search": "mcts", "mcts_simulations": 8, "mcts_terminal": "metric", **METRIC},
    "mcts_prefetch": {"search": "mcts", "mcts_simulations": 8, "mcts_prefetch": 30},
    "mcts_leaves": {"search": "mcts", "mcts_simulations": 8, "mcts_leaves": 3},
    "mcts_gumbel": {
        **{"search": "mcts", "mcts_simulations": 8, "mcts_backup": "bellman"},
        **{"mcts_root": "gumbel", "mcts_gumbel_scale": 1.0, "mcts_below_root": "improved"},
    },
    "mcts_cautious": {
        **{"search": "mcts", "mcts_simulations": 8, "mcts_backup": "weighted-max"},
        **{"value_read": "lower:0.5"},
    },
    "vgbs": {"search": "vgbs", "vgbs_beam": 3, "vgbs_alpha": 0.6},
    "vgbs_log": {
        **{"search": "vgbs", "vgbs_beam": 3, "vgbs_alpha": 0.3, "vgbs_temperature": 1.2},
        **{"vgbs_value_scale": "log", "vgbs_value_bounds": "0.01,0.9"},
    },
    "sr_value": {"search": "sr", "sr_samples": 8, "sr_temperature": 0.75},
    "sr_metric": {
        **{"search": "sr", "sr_samples": 8, "sr_top_k": 20, "sr_top_p": 0.95, "sr_epsilon": 0.001},
        **{"sr_rank_by": "metric", **METRIC},
    },
    "sr_without_replacement": {
        **{"search": "sr", "sr_samples": 6, "sr_without_replacement": True},
        **{"sr_temperature": 0.75},
    },
    "sr_mix": {
        **{"search": "sr", "sr_samples": 8, "sr_rank_by": "metric", **METRIC},
        **{"search_metric": "mix:vowels=0.7,likelihood=0.3"},
    },
    "mbr": {"search": "mbr", "mbr_samples": 8, **METRIC},
    "mbr_beam": {
        **{"search": "mbr", "mbr_samples": 4, "mbr_candidates": "beam", **METRIC},
        **{"mbr_weights": "probability"},
    },
    "mbr_mcts": {"search": "mbr", "mbr_samples": 8, "mbr_candidates": "mcts", **METRIC},
}


@dataclass(frozen=True)
class Setup:
    """A task and its models, loaded as the commands load them."""

    task: TranslationMctsTask
    models: list[Any]
    values: list[Any]  # of --value-path, or the models themselves
    value_path: str | None = None

    def generator(self, seed: int = SEED, **given: Any) -> Any:
        """What `fairseq-generate` builds for these options; fairseq's defaults for the others."""
        uses_value = "metric" not in (given.get("sr_rank_by"), given.get("mcts_leaf"))
        uses_value &= given.get("mcts_leaf") != "rollout" and given.get("vgbs_alpha") != 0
        uses_value &= given.get("search") != "mbr" or given.get("mbr_candidates") == "mcts"
        if self.value_path is not None and given.get("search", "beam") != "beam" and uses_value:
            given = {"value_path": self.value_path, **given}
        torch.manual_seed(seed)
        args = Namespace(**{**vars(GenerationConfig()), **given})
        return self.task.build_generator(self.models, args)

    def generate(
        self, sentences: Sequence[int] | None = None, batch_size: int = 64, **given: Any
    ) -> dict[int, list[dict[str, Any]]]:
        """Hypotheses by the number of their test sentence."""
        generator = self.generator(**given)
        dataset = self.task.dataset("test")
        chosen = list(sentences if sentences is not None else range(len(dataset)))
        found: dict[int, list[dict[str, Any]]] = {}
        for begin in range(0, len(chosen), batch_size):
            sample = dataset.collater([dataset[one] for one in chosen[begin : begin + batch_size]])
            prefix = None
            if given.get("prefix_size"):
                prefix = sample["target"][:, : given["prefix_size"]]
            hypotheses = self.task.inference_step(
                generator, self.models, sample, prefix_tokens=prefix
            )
            found.update(zip(sample["id"].tolist(), hypotheses, strict=True))
        return found

    def sources(self, sentences: Sequence[int]) -> list[torch.Tensor]:
        return [self.task.dataset("test")[one]["source"] for one in sentences]

    def slowly(
        self, sentences: Sequence[int], max_len: int, **given: Any
    ) -> list[list[Hypothesis]]:
        """The pure algorithm on full forward passes without any cache; options as above."""
        sources = self.sources(sentences)
        search = given["search"]
        own = {
            name.removeprefix(f"{search}_"): value
            for name, value in given.items()
            if name.startswith(f"{search}_")
        }
        if "value_bounds" in own:
            own["value_bounds"] = tuple(map(float, own["value_bounds"].split(",")))
        if "search_metric" in given:
            own["metric"] = self._metric(sources, given)
        if search == "vgbs":
            heads = [model.decoder.value_head for model in self.values]
            own["highest_value"] = float(np.mean([head.high for head in heads]))
        caution = parse_value_read(given.get("value_read", "mean"))
        truth = FullForward(self.models, self.values, Sentences(sources), caution)
        dictionary = self.task.target_dictionary
        return decode(
            truth,
            len(sources),
            search=search,
            eos=dictionary.eos(),
            forbidden=(dictionary.pad(),),
            max_len=max_len,
            min_len=1,
            seed=[sentence_seed(SEED, source) for source in sources],
            n_best=2,
            **own,
        )

    def _metric(self, sources: Sequence[torch.Tensor], given: dict[str, Any]) -> Any:
        metric = build_metric(given["search_metric"], with_likelihood=True)
        text = TextDecoder(
            self.task.target_dictionary, post_process=given["search_post_process"]
        ).decode

        def score(sentence: int, tokens: tuple[int, ...], logprob: float) -> float:
            pair = ([text(tokens)], [text(sources[sentence])])
            return metric.score_likely(*pair, [math.exp(logprob / len(tokens))])[0]

        score.reads_logprob = True  # type: ignore[attr-defined]

        def compare(sentence: int, tokens: tuple[int, ...], other: tuple[int, ...]) -> float:
            return metric.score([text(tokens)], [text(other)])[0]

        return compare if given["search"] == "mbr" else score


@dataclass(frozen=True)
class Sentences(Batch):
    """Unpadded sentences in the form that `FullForward` reads."""

    def __init__(self, sources: Sequence[torch.Tensor]) -> None:
        object.__setattr__(self, "sources", sources)

    def row(self, index: int) -> Batch:
        source = self.sources[index]  # type: ignore[attr-defined]
        return Batch(source[None], torch.tensor([len(source)]), torch.empty(0))


def load(trained: Trained, *paths: Path, values: Sequence[Path] = ()) -> Setup:
    """The models of `--path` and `--value-path`."""
    parser = options.get_generation_parser(default_task="translation_mcts")
    arguments = [str(trained.data), "--task", "translation_mcts", "--path", "none"]
    args = options.parse_args_and_arch(parser, input_args=arguments)
    cfg = convert_namespace_to_omegaconf(args)
    task = TranslationMctsTask.setup_task(cfg.task)
    task.build_tokenizer(cfg.tokenizer)
    task.load_dataset("test")

    def models(files: Sequence[Path]) -> list[Any]:
        loaded, _ = checkpoint_utils.load_model_ensemble(list(map(str, files)), task=task)
        return [model.eval() for model in loaded]

    policies = models(paths)
    if not values:
        return Setup(task, policies, policies)
    return Setup(task, policies, models(values), ":".join(map(str, values)))


def run_generate(trained: Trained, *given: str, results: Path) -> str:
    """What `fairseq-generate` writes into its results file, run in this process."""
    arguments = [
        *(str(trained.data), "--task", "translation_mcts", "--cpu", "--results-path", str(results)),
        *("--path", str(trained.dual), *given),
    ]
    parser = options.get_generation_parser()
    generate_command.main(options.parse_args_and_arch(parser, input_args=arguments))
    return next(results.glob("generate-*.txt")).read_text(encoding="utf-8")


def run_interactive(trained: Trained, lines: Sequence[str], *given: str, folder: Path) -> None:
    """Runs `fairseq-interactive` on these lines in this process; it prints to stdout."""
    folder.mkdir(exist_ok=True)
    text = folder / "input"
    text.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
    arguments = [
        *(str(trained.data), "--task", "translation_mcts", "--cpu", "--input", str(text)),
        *("--source-lang", "en", "--target-lang", "de", "--path", str(trained.dual), *given),
    ]
    parser = options.get_interactive_generation_parser()
    interactive_command.main(options.parse_args_and_arch(parser, input_args=arguments))
