"""The stages of the demo."""

from pathlib import Path

from examples.demo.plan import Plan, Sizes


def test_the_page_says_what_every_decoder_went_by(tmp_path: Path) -> None:
    plan = Plan(tmp_path, Sizes())
    command = plan.report().command
    given = [command[place + 1] for place, one in enumerate(command) if one == "--optimised"]
    said = dict(one.split("=") for one in given)
    assert list(said) == [decoder.name for decoder in plan.decoders]
    assert (said["greedy"], said["beam"]) == ("none", "none")
    assert (said["mbr"], said["vgbs"]) == ("chrf", "mlbertscore")
