"""What the page of fairseq-mcts-explore offers, by the networks that are there."""

from __future__ import annotations

import pytest

from fairseq_mcts.cli.explore_decoders import fields_of, offered_decoders

WITH_VALUE = {"S+RV", "V-MCTS", "VGBS"}
WITH_METRIC = {"MBR", "MCTS+Roll", "S+R"}


@pytest.mark.parametrize("with_value", [False, True])
@pytest.mark.parametrize("with_metric", [False, True])
def test_the_page_opens_with_all_that_is_possible(*, with_value: bool, with_metric: bool) -> None:
    offered = offered_decoders(with_value=with_value, with_metric=with_metric)
    missing = {one["label"]: one["missing"] for one in offered}
    assert missing.keys() == {"beam", *WITH_VALUE, *WITH_METRIC}
    assert missing["beam"] == ""
    assert {missing[label] for label in WITH_VALUE} == {"" if with_value else "a value"}
    assert {missing[label] for label in WITH_METRIC} == {"" if with_metric else "a metric"}


def test_what_a_variant_fixes_is_no_input() -> None:
    offered = {one["label"]: one for one in offered_decoders(with_value=True, with_metric=True)}
    for label, fixed in (("S+R", {"rank_by": "metric"}), ("MCTS+Roll", {"leaf": "rollout"})):
        offer = offered[label]
        assert offer["fixed"] == fixed
        assert not fixed.keys() & {one["name"] for one in offer["options"]}
        fields = fields_of(offer["name"], fixed)
        assert fields == {
            "search": offer["name"],
            **{f"{offer['name']}_{name}": value for name, value in fixed.items()},
        }
    # with rollouts the metric judges finished sentences always
    terminal = [
        label
        for label, offer in offered.items()
        if "terminal" in {one["name"] for one in offer["options"]}
    ]
    assert terminal == ["V-MCTS"]
    assert {"power", "c_scale"} <= {one["name"] for one in offered["MCTS+Roll"]["options"]}
    main = [one["name"] for one in offered["VGBS"]["options"] if one["main"]]
    assert main == ["beam", "alpha"]
    assert [one["name"] for one in offered["beam"]["options"]] == ["beam"]


@pytest.mark.parametrize(("given", "beam"), [({}, 5), ({"beam": "3"}, 3)])
def test_fairseqs_beam_keeps_its_own_default(given: dict[str, str], beam: int) -> None:
    """What stands in for it has another one."""
    assert fields_of("beam", given) == {"search": "vgbs", "vgbs_beam": beam, "vgbs_alpha": 0.0}
