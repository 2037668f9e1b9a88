"""The searches' own options: each has an effect where it belongs and is refused elsewhere."""

import math
from typing import Any

import pytest

from fairseq_mcts.generators.decoder_flags import decoder_flags
from fairseq_mcts.tasks.search_config import search_field_names
from tests.generators.harness import METRIC, Setup, load
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow(seconds=150)

FIELDS = set(search_field_names())
MCTS = {"search": "mcts", "mcts_simulations": 10}
GUMBEL = {**MCTS, "mcts_root": "gumbel"}
ROLLOUTS = {"search": "mcts", "mcts_simulations": 3, "mcts_leaf": "rollout", **METRIC}
VGBS = {"search": "vgbs", "vgbs_beam": 3}
SR = {"search": "sr", "sr_samples": 6}
BEAM = {"search": "beam", "beam": 4}
MBR = {"search": "mbr", "mbr_samples": 6, "search_post_process": "sentencepiece"}
MBR = {**MBR, "search_metric": "chrf"}  # that needs a reference: here candidates are references

#: option -> (a search that it belongs to, another value for it)
CHANGES: dict[str, tuple[dict[str, Any], Any]] = {
    "search": (BEAM, "mcts"),
    "search_budget": ({"search": "mcts"}, 4),
    "search_preset": (MCTS, "unprivileged"),
    "search_metric": (ROLLOUTS, "vowels:scale=0.5"),
    "search_post_process": (ROLLOUTS, "@@ "),
    "value_path": (MCTS, "other value"),
    "value_read": (MCTS, "lower:2"),
    "cheating_value": (MCTS, True),
    "mcts_simulations": (MCTS, 2),
    "mcts_actions": (MCTS, 1),
    "mcts_c_puct": (MCTS, 0.1),
    "mcts_temperature": (MCTS, 3.0),
    "mcts_backup": (MCTS, "max"),
    "mcts_choose": (MCTS, "value"),
    "mcts_power": ({**MCTS, "mcts_backup": "power"}, 16.0),
    "mcts_root": (MCTS, "gumbel"),
    "mcts_below_root": (MCTS, "improved"),
    "mcts_gumbel_actions": (GUMBEL, 2),
    "mcts_gumbel_scale": (GUMBEL, 3.0),
    "mcts_c_scale": (GUMBEL, 10.0),
    "mcts_c_visit": (GUMBEL, 2000.0),
    "mcts_leaf": ({**MCTS, **METRIC, "mcts_terminal": "metric"}, "rollout"),
    "mcts_terminal": (MCTS, "metric"),
    "mcts_leaves": (MCTS, 4),
    "vgbs_beam": (VGBS, 2),
    "vgbs_alpha": (VGBS, 1.0),
    "vgbs_temperature": (VGBS, 2.0),
    "vgbs_value_scale": (VGBS, "log"),
    "vgbs_value_bounds": ({**VGBS, "vgbs_value_scale": "log"}, "0.45,0.5"),
    "sr_samples": (SR, 2),
    "sr_temperature": (SR, 0.5),
    "sr_top_k": (SR, 2),
    "sr_top_p": (SR, 0.3),
    "sr_epsilon": (SR, 0.1),
    "sr_rank_by": (SR, "metric"),
    "sr_without_replacement": (SR, True),
    "mbr_samples": (MBR, 2),
    "mbr_candidates": (MBR, "beam"),
    "mbr_temperature": (MBR, 0.5),
    "mbr_top_k": (MBR, 2),
    "mbr_top_p": (MBR, 0.3),
    "mbr_epsilon": (MBR, 0.2),
    "mbr_without_replacement": (MBR, True),
    "mbr_weights": (MBR, "probability"),
    "mbr_references": (MBR, "aggregated"),
    "mbr_prune": ({**MBR, "mbr_samples": 40}, 0.6),
    "beam_normalization": ({**BEAM, "lenpen": 2.0}, "gnmt"),
}
NEED_A_METRIC = {"mcts_terminal", "sr_rank_by"}
#: shown in test_candidate_file.py, test_empty_source.py, test_failures.py, test_memory.py,
#: test_prefetch.py, test_search_record.py, test_search_settings.py and test_tree_recorder.py
ELSEWHERE = {
    "search_json": "file",
    "search_record": "file",
    "search_record_sentences": "1",
    "mcts_prefetch": 3,
    "search_memory": 1.0,
    "search_settings": "tuned.json",
    "search_trees": "folder",
    "search_tree_sentences": "1",
    "search_tree_steps": "1",
    "skip_failed": True,
    "translate_empty": True,
}
SENTENCES = range(0, 90, 12)


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


def found(setup: Setup, options: dict[str, Any]) -> list[Any]:
    """Everything that a caller of the generator sees."""
    keys = ("score", "value", "metric", "visits", "search_score", "evaluations")
    hypotheses = setup.generate(SENTENCES, max_len_b=15, **options)
    return [
        (one["tokens"].tolist(), *(one.get(key) for key in keys))
        for number in SENTENCES
        for one in hypotheses[number][:1]
    ]


def test_every_option_is_looked_at() -> None:
    assert CHANGES.keys() | ELSEWHERE.keys() == FIELDS


@pytest.mark.parametrize("name", CHANGES)
def test_option_has_an_effect(name: str, setup: Setup, trained: Trained) -> None:
    base, value = CHANGES[name]
    if name == "value_path":
        value = str(with_another_value(trained))
    changed = {**base, name: value}
    if name == "search":
        changed = {"search": value}
    if name in NEED_A_METRIC:
        changed.update(METRIC)
    assert found(setup, changed) != found(setup, base)


def with_another_value(trained: Trained) -> Any:
    """The model as it left training, before its value was given opinions."""
    return trained.folder / "dual" / "checkpoint_last.pt"


OWNED = sorted(name for name, flag in decoder_flags().items() if flag.decoder != "beam")


@pytest.mark.parametrize("name", OWNED)
def test_option_of_one_search_is_refused_by_the_others(name: str, setup: Setup) -> None:
    flag = "--" + name.replace("_", "-")
    value = ELSEWHERE[name] if name in ELSEWHERE else CHANGES[name][1]
    for other in (MCTS, VGBS, SR, MBR, BEAM):
        if other["search"] == name.partition("_")[0]:
            continue
        with pytest.raises(ValueError, match=f"^{flag} .*has no effect with --search"):
            setup.generator(**other, **{name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("search_budget", 4),
        ("search_preset", "privileged"),
        ("search_metric", "vowels"),
        ("search_memory", 1.0),
        ("value_path", "any.pt"),
        ("value_read", "lower:1"),
        ("cheating_value", True),
        ("search_trees", "folder"),
    ],
)
def test_options_of_all_searches_are_refused_by_fairseqs_beam_search(
    name: str, value: Any, setup: Setup
) -> None:
    flag = "--" + name.replace("_", "-")
    with pytest.raises(ValueError, match=f"^{flag} .*: has no effect with --search beam"):
        setup.generator(**BEAM, **{name: value})


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({**MCTS, "beam_normalization": "gnmt"}, "--beam-normalization gnmt: has no effect"),
        ({**BEAM, "beam_normalization": "gnmt", "unnormalized": True}, "not with --unnormalized"),
        ({**MCTS, "mcts_power": 2.0}, "^--mcts-power 2.0: .* only with --mcts-backup power"),
        ({**MCTS, "mcts_gumbel_scale": 1.0}, "^--mcts-gumbel-scale 1.0: .*--mcts-root gumbel"),
        (
            {**MCTS, "mcts_c_scale": 1.0},
            "^--mcts-c-scale 1.0: has an effect only with --mcts-root gumbel or "
            "--mcts-below-root improved",
        ),
        ({**GUMBEL, "mcts_choose": "value"}, "^--mcts-choose value: .* only with --mcts-root puct"),
        (
            {**GUMBEL, "mcts_below_root": "improved", "mcts_c_puct": 1.0},
            "^--mcts-c-puct 1.0: has an effect only with --mcts-root puct or --mcts-below-root",
        ),
        ({**VGBS, "vgbs_value_bounds": "0.1,0.9"}, "no effect with --vgbs-value-scale plain"),
        ({**VGBS, "vgbs_alpha": 0.0, "value_path": "any.pt"}, "--value-path: .* uses no value"),
        ({**ROLLOUTS, "value_path": "any.pt"}, "--value-path: .* uses no value"),
        ({**ROLLOUTS, "value_read": "mean"}, "--value-read: .* uses no value"),
        ({**MCTS, "value_read": "upper:1"}, "^--value-read upper:1: must be mean or lower:κ"),
        ({**ROLLOUTS, "cheating_value": True}, "--cheating-value: .* uses no value"),
        ({**MCTS, "search_metric": "vowels"}, "--search-metric: .* uses no metric"),
        ({**VGBS, "search_metric": "vowels"}, "--search-metric: has no effect"),
        ({**SR, "search_post_process": "@@ "}, "--search-post-process: .* uses no metric"),
        ({**VGBS, "search_trees": "here"}, "^--search-trees here: .* builds no search trees"),
        ({**MCTS, "search_tree_steps": "1"}, "--search-tree-steps 1: .* without --search-trees"),
        (
            {**MCTS, "search_tree_sentences": "1"},
            "--search-tree-sent.* without --search-trees",
        ),
        ({**MCTS, "search_budget": 50}, "^--search-budget 50: .* beside --mcts-simulations 10"),
        ({**ROLLOUTS, "mcts_terminal": "value"}, "^--mcts-terminal value: .*--mcts-leaf rollout"),
        (
            {**MBR, "mbr_candidates": "beam", "mbr_epsilon": 0.1},
            "^--mbr-epsilon 0.1: has no effect",
        ),
        ({**MBR, "mbr_references": "aggregated", "mbr_prune": 0.9}, "^--mbr-prune 0.9: has no eff"),
        ({**MBR, "value_path": "any.pt"}, "--value-path: .* uses no value"),
        ({**MBR, "nbest": 7}, "--nbest 7: more than --mbr-samples 6 gives"),
        ({**VGBS, "nbest": 4}, "--nbest 4: more than --vgbs-beam 3 gives"),
        ({**SR, "nbest": 7}, "--nbest 7: more than --sr-samples 6 gives"),
    ],
)
def test_option_that_nothing_would_read_is_refused(
    options: dict[str, Any], complaint: str, setup: Setup
) -> None:
    with pytest.raises(ValueError, match=complaint):
        setup.generator(**options)


@pytest.mark.parametrize(
    ("options", "complaint"),
    [
        ({**MCTS, "mcts_simulations": 0}, "^--mcts-simulations: must be a whole number"),
        ({**MCTS, "mcts_temperature": 0.0}, "^--mcts-temperature: must be greater than 0"),
        ({"search": "mcts", "search_budget": 0}, "^--search-budget: must be a whole number"),
        ({**MCTS, "mcts_leaf": "rollout"}, "^--mcts-leaf rollout needs --search-metric"),
        ({**MCTS, "mcts_terminal": "metric"}, "^--mcts-terminal metric needs --search-metric"),
        ({**SR, "sr_rank_by": "metric"}, "^--sr-rank-by metric needs --search-metric"),
        ({**SR, "sr_top_p": 1.5}, "^--sr-top-p: "),
        ({"search": "mbr"}, "^--search mbr needs --search-metric"),
        ({**MBR, "mbr_prune": 1.0}, "^--mbr-prune: must lie between 0 and 1"),
        (
            {**MBR, "mbr_references": "aggregated", "search_metric": "vowels"},
            "^--mbr-references aggregated: --search-metric vowels can't aggregate references",
        ),
        ({**VGBS, "vgbs_alpha": 1.5}, "^--vgbs-alpha: must lie in"),
        (
            {**VGBS, "vgbs_value_scale": "log", "vgbs_value_bounds": "high"},
            "^--vgbs-value-bounds high: expected two numbers",
        ),
        ({**MCTS, "search_memory": 0.0}, "^--search-memory 0.0: must be a number greater than 0"),
        ({**MCTS, "search_memory": math.nan}, "^--search-memory nan: must be a number greater"),
        ({**ROLLOUTS, "search_metric": "bleu"}, "^--search-metric bleu: needs the reference"),
        ({**ROLLOUTS, "search_metric": "taste"}, "unknown metric 'taste'"),
        ({**MCTS, "mcts_simulation": 4}, "^mcts_simulation: the searches have no such option"),
    ],
)
def test_bad_value_is_refused_by_name(
    options: dict[str, Any], complaint: str, setup: Setup
) -> None:
    with pytest.raises(ValueError, match=complaint):
        setup.generator(**options)


def test_budget_sets_each_searchs_own_option(setup: Setup) -> None:
    for search, own in (("mcts", "mcts_simulations"), ("sr", "sr_samples")):
        by_budget = found(setup, {"search": search, "search_budget": 5})
        assert by_budget == found(setup, {"search": search, own: 5})
    # 2 + 2² < 12 = 3 + 3²
    by_budget = found(setup, {"search": "vgbs", "search_budget": 12})
    assert by_budget == found(setup, {"search": "vgbs", "vgbs_beam": 3})
