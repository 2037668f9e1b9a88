"""Write the golden trees from the reference: python -m tests.search.make_golden

Run it again only when the rules of the search change, never to make a test pass.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from tests.search import golden_format
from tests.search.reference_mcts import MctsOptions, ReferenceMcts
from tests.search.reference_rules import Prefix, Rules
from tests.search.toy_models import ToyMetric, ToyModel

CASES: dict[str, tuple[ToyModel, dict[str, Any], MctsOptions]] = {
    "mean_visits": (
        ToyModel(vocab=5, eos=2, seed=4, policy="flat"),
        {"max_len": 4},
        MctsOptions(simulations=12),
    ),
    "max_value": (
        ToyModel(vocab=5, eos=0, seed=2, policy="peaked"),
        {"max_len": 4},
        MctsOptions(simulations=12, c_puct=8.0, temperature=1.1, backup="max", choose="value"),
    ),
    "mean_value": (
        ToyModel(vocab=4, eos=1, seed=6, policy="flat", values="signed_levels"),
        {"max_len": 4},
        MctsOptions(simulations=10, choose="value"),
    ),
    "all_ties": (
        ToyModel(vocab=4, eos=3, seed=4, policy="uniform", values="constant"),
        {"max_len": 3},
        MctsOptions(simulations=9),
    ),
    "zero_is_a_value": (
        ToyModel(vocab=4, eos=2, seed=5, policy="levels", values="mostly_zero"),
        {"max_len": 3},
        MctsOptions(simulations=11, backup="max"),
    ),
    "negative_few_actions": (
        ToyModel(vocab=7, eos=2, seed=6, policy="flat", values="negative"),
        {"max_len": 4},
        MctsOptions(simulations=8, actions=2, temperature=0.5, c_puct=1.0),
    ),
    "narrow_values": (
        ToyModel(vocab=4, eos=0, seed=7, policy="flat", values="narrow"),
        {"max_len": 3},
        MctsOptions(simulations=10),
    ),
    "never_ending": (
        ToyModel(vocab=4, eos=2, seed=8, policy="flat", ending="never"),
        {"max_len": 3},
        MctsOptions(simulations=8),
    ),
    "eos_at_once": (
        ToyModel(vocab=4, eos=2, seed=9, policy="peaked", ending="at_once"),
        {"max_len": 3},
        MctsOptions(simulations=8),
    ),
    "limits": (
        ToyModel(vocab=6, eos=2, seed=10, policy="flat"),
        {
            "max_len": 4,
            "min_len": 2,
            "forbidden": (1,),
            "forced": (3,),
            "no_repeat_ngram_size": 1,
        },
        MctsOptions(simulations=9),
    ),
    "rollout": (
        ToyModel(vocab=4, eos=2, seed=5, policy="flat"),
        {"max_len": 4},
        MctsOptions(simulations=9, leaf="rollout"),
    ),
    "terminal_metric": (
        ToyModel(vocab=4, eos=2, seed=12, policy="flat"),
        {"max_len": 3},
        MctsOptions(simulations=12, terminal="metric", choose="value"),
    ),
}


def golden_tree(model: ToyModel, limits: dict[str, Any], options: MctsOptions) -> dict[str, Any]:
    rules = Rules(vocab=model.vocab, eos=model.eos, **limits)
    metric = ToyMetric(seed=model.seed)
    scores: dict[Prefix, float] = {}

    def noted_score(sentence: int, tokens: Prefix) -> float:
        scores[tokens] = metric.score(sentence, tokens)
        return scores[tokens]

    result = ReferenceMcts(model, 0, rules, options, noted_score).decode()
    rows = []
    for prefix in sorted(result.asked, key=lambda prefix: (len(prefix), prefix)):
        logprobs, value = model(0, prefix)
        rows.append([list(prefix), [float(x) for x in logprobs], value])
    return {
        "limits": asdict(rules),
        "options": asdict(options),
        "model": rows,
        "metric": [[list(tokens), score] for tokens, score in sorted(scores.items())],
        **golden_format.trace_of(result),
    }


def main() -> None:
    golden_format.FOLDER.mkdir(exist_ok=True)
    for name, case in CASES.items():
        path = golden_format.FOLDER / f"{name}.json"
        golden_format.write(path, golden_tree(*case))
        print(f"{path} ({path.stat().st_size} bytes)")


if __name__ == "__main__":
    main()
