"""Some random texts and command lines at every run of the tests; `make fuzz` has many more."""

from __future__ import annotations

import pytest

from tests.fuzz.choices import SeededChoices
from tests.fuzz.networks import Networks
from tests.fuzz.text_lines import LONG, random_line
from tests.generators.conftest import trained  # noqa: F401 - a fixture
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow

SEED = 2  # not that of the long run
FILES = 2
COMMANDS = 25


@pytest.fixture(scope="module")
def networks(
    trained: Trained,  # noqa: F811
    tmp_path_factory: pytest.TempPathFactory,
) -> Networks:
    return Networks.of(trained, tmp_path_factory.mktemp("fuzz"))


@pytest.mark.parametrize("number", range(FILES))
def test_random_lines(networks: Networks, number: int) -> None:
    networks.translate_lines(SeededChoices(SEED, number))


def test_random_command_lines(networks: Networks) -> None:
    outcomes = [
        networks.run_command_line(SeededChoices(SEED, number)) for number in range(COMMANDS)
    ]
    assert {"decoded", "refused"} == set(outcomes)


def test_lines_are_of_all_kinds() -> None:
    lines = [random_line(SeededChoices(SEED, number), ["a b"]) for number in range(3000)]
    planes = {ord(character) >> 16 for line in lines for character in line}
    assert planes == set(range(17))
    assert max(map(len, lines)) == LONG
    assert any(line == "" for line in lines) and any("\x00" in line for line in lines)
    assert not any("\n" in line for line in lines)
    assert all(line.encode().decode() == line for line in lines)
