"""`python -m fairseq_mcts` explains what `--help` of fairseq's commands cannot."""

import re
import subprocess
import sys

from fairseq_mcts.tasks.search_config import search_field_names


def test_every_option_of_the_decoders_is_explained() -> None:
    command = [sys.executable, "-m", "fairseq_mcts"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    explained = done.stdout.split()  # a switch may end its line, others are followed by a name
    for name in search_field_names():
        assert f"--{name.replace('_', '-')}" in explained
    # of each option its default, of a required one none
    options = re.split(r"\n(?=  -)|\n\n", done.stdout)
    flags = [option for option in options if option.startswith("  --")]
    assert len(flags) > 100
    for option in flags:
        assert "default" in option, option
    assert re.search(
        r"--policy-weight POLICY_WEIGHT\s+weight of the policy loss \(default: 1.0\)", done.stdout
    )
    for other in ("--freeze-policy", "--value-weight", "--distance-weight", "--eval-search "):
        assert other in done.stdout
