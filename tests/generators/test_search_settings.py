"""The file of --search-settings: who wins, what is refused, what is written is read again."""

import json
from argparse import Namespace
from pathlib import Path
from typing import Any

import pytest
from fairseq.dataclass.configs import GenerationConfig

from fairseq_mcts.generators.decoder_flags import decoder_from_settings
from fairseq_mcts.generators.search_settings import (
    GENERATION,
    read_settings,
    resolve,
    settings_of,
)
from fairseq_mcts.search.registry import decoder_class
from fairseq_mcts.tasks.search_config import unset_search_fields
from tests.generators.harness import DECODERS, run_generate, run_interactive
from tests.generators.trained import Trained

TUNED = {
    "search": "mcts",
    "budget": 30,
    "options": {"mcts-c-puct": 4, "--mcts_backup": "max", "max-len-b": 9},
    "tuned_for": {"metric": "bleu"},
    "how": "by hand",
}


def write(folder: Path, content: Any) -> str:
    path = folder / "tuned.json"
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return str(path)


def merged(path: str, **given: Any) -> tuple[dict[str, Any], Any]:
    """What is decoded by if the command line gives this beside the file."""
    known = unset_search_fields()
    generation = {name: value for name, value in given.items() if name not in known}
    settings = {name: value for name, value in given.items() if name in known}
    return resolve(
        {**known, **settings, "search_settings": path},
        Namespace(**{**vars(GenerationConfig()), **generation}),
    )


def options(path: str, **given: Any) -> Any:
    """The decoder's options then."""
    return decoder_from_settings(merged(path, **given)[0]).options


def test_the_file_says_what_the_command_line_does_not(tmp_path: Path) -> None:
    path = write(tmp_path, TUNED)
    settings, generation = merged(path)
    decoder = decoder_from_settings(settings)
    assert decoder.name == "mcts"
    found = decoder.options
    assert (found.simulations, found.c_puct, found.backup) == (30, 4.0, "max")
    assert isinstance(found.c_puct, float)
    assert generation.max_len_b == 9
    assert settings["search_settings"] is None
    assert merged(path, search="mcts") == (settings, generation)


def test_without_a_file_nothing_changes() -> None:
    given = {**unset_search_fields(), "search": "vgbs", "vgbs_alpha": 0.2}
    generation = Namespace(beam=3)
    assert resolve(given, generation) == (given, generation)
    assert resolve(unset_search_fields(), generation)[0]["search"] == "beam"


def test_flags_win_over_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, TUNED)
    assert options(path, mcts_c_puct=2.0).c_puct == 2.0
    assert options(path, mcts_backup="mean").backup == "mean"
    assert merged(path, max_len_b=50)[1].max_len_b == 50


def test_a_budget_wins_over_a_count_and_a_count_over_a_budget(tmp_path: Path) -> None:
    path = write(tmp_path, TUNED)
    assert options(path, search_budget=7).simulations == 7
    assert options(path, mcts_simulations=7).simulations == 7
    path = write(tmp_path, {"search": "mcts", "options": {"mcts-simulations": 30}})
    assert options(path, search_budget=7).simulations == 7
    assert options(path, mcts_simulations=7).simulations == 7


def test_a_preset_wins_over_the_file_where_it_says_something(tmp_path: Path) -> None:
    path = write(tmp_path, {**TUNED, "options": {"mcts-c-puct": 4.0, "mcts-actions": 7}})
    found = options(path, search_preset="unprivileged")
    assert (found.c_puct, found.actions, found.simulations) == (8.0, 7, 30)


def test_what_a_flag_leaves_without_effect_is_no_fault_of_the_flag(tmp_path: Path) -> None:
    log = {"vgbs-value-scale": "log", "vgbs-value-bounds": "0.1,0.9"}
    path = write(tmp_path, {"search": "vgbs", "options": log})
    assert options(path).value_bounds == (0.1, 0.9)
    assert options(path, vgbs_value_scale="plain").value_scale == "plain"
    path = write(tmp_path, {"search": "mcts", "options": {"mcts-terminal": "value"}})
    assert options(path, mcts_leaf="rollout").leaf == "rollout"


def test_how_values_are_read_is_part_of_the_file(tmp_path: Path) -> None:
    path = write(tmp_path, {"search": "vgbs", "options": {"value-read": "lower:0.5"}})
    assert merged(path)[0]["value_read"] == "lower:0.5"
    assert merged(path, value_read="mean")[0]["value_read"] == "mean"
    assert merged(path, vgbs_alpha=0.0)[0]["value_read"] is None


def test_flags_of_other_decoders_are_refused(tmp_path: Path) -> None:
    path = write(tmp_path, TUNED)
    with pytest.raises(ValueError, match=rf"^--search-settings {path}: is for --search mcts, not"):
        merged(path, search="vgbs")
    with pytest.raises(ValueError, match="not for --search beam"):
        merged(path, search="beam")
    with pytest.raises(ValueError, match=r"^--vgbs-alpha 0.5: has no effect with --search mcts"):
        merged(path, vgbs_alpha=0.5)


@pytest.mark.parametrize(
    ("content", "complaint"),
    [
        ("{", "no JSON: "),
        ([], "expected {"),
        ({}, "search: None is none of beam, .*mcts"),
        ({"search": ["mcts"]}, r"search: \['mcts'\] is none of"),
        ({"search": "mcst"}, "search: 'mcst' is none of"),
        ({"search": "mcts", "option": {}}, "'option' is none of search, budget, options"),
        ({"search": "mcts", "options": ["mcts-leaves"]}, "options: expected {"),
        (
            {"search": "mcts", "options": {"mcts-c": 3}},
            "'mcts-c': --search mcts has no such option",
        ),
        ({"search": "mcts", "options": {"vgbs-alpha": 0.5}}, "'vgbs-alpha': --search mcts has no"),
        ({"search": "mcts", "options": {"value-path": "v.pt"}}, "'value-path': --search mcts has"),
        ({"search": "mcts", "options": {"nbest": 2}}, "'nbest': --search mcts has no such option"),
        ({"search": "mcts", "options": {"beam": 3}}, "--beam 3: not with --search mcts"),
        (
            {"search": "mcts", "options": {"mcts-c-puct": "3"}},
            "mcts-c-puct: expected a number, fou",
        ),
        (
            {"search": "mcts", "options": {"mcts-actions": 2.5}},
            "mcts-actions: expected a whole num",
        ),
        ({"search": "mcts", "options": {"mcts-actions": True}}, "mcts-actions: .* found true"),
        (
            {"search": "mcts", "options": {"mcts-backup": 1}},
            "mcts-backup: expected a text, found 1",
        ),
        ({"search": "mcts", "options": {"mcts-backup": None}}, "mcts-backup: .* found null"),
        ({"search": "beam", "options": {"sampling": 1}}, "sampling: expected true or false, found"),
        ({"search": "mcts", "options": {"mcts-backup": "min"}}, "--mcts-backup: 'min' is none of"),
        ({"search": "mcts", "options": {"mcts-actions": 0}}, "--mcts-actions: must be a whole"),
        ({"search": "sr", "options": {"sr-rank-by": "none"}}, "--sr-rank-by none: is none of"),
        ({"search": "mcts", "options": {"value-read": "max"}}, "--value-read max: must be mean or"),
        (
            {"search": "vgbs", "options": {"vgbs-alpha": 0, "value-read": "mean"}},
            "value-read: --search vgbs, as it is set, uses no value",
        ),
        (
            {"search": "mcts", "options": {"mcts-leaves": 1, "--mcts_leaves": 2}},
            "'--mcts_leaves': is given twice",
        ),
        ({"search": "mcts", "budget": "50"}, 'budget: expected a whole number, found "50"'),
        ({"search": "mcts", "budget": 0}, "--search-budget: must be a whole number"),
        ({"search": "beam", "budget": 5}, "budget 5: has no effect with --search beam"),
        (
            {"search": "mcts", "budget": 5, "options": {"mcts-simulations": 5}},
            "--search-budget 5: has no effect beside --mcts-simulations 5",
        ),
        (
            {"search": "vgbs", "options": {"vgbs-value-bounds": "0.1,0.9"}},
            "--vgbs-value-bounds .* no effect with --vgbs-value-scale plain",
        ),
    ],
)
def test_a_broken_file_is_refused_by_name(tmp_path: Path, content: Any, complaint: str) -> None:
    path = write(tmp_path, content)
    with pytest.raises(ValueError, match=f"^--search-settings {path}: {complaint}"):
        read_settings(path)


def test_a_file_that_can_not_be_read_is_refused_by_name(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=rf"^--search-settings {tmp_path}/no.json: no such file"):
        read_settings(f"{tmp_path}/no.json")
    with pytest.raises(ValueError, match=rf"^--search-settings {tmp_path}: Is a directory"):
        read_settings(str(tmp_path))
    (tmp_path / "bytes.json").write_bytes(b"\xff\xfe\xff")
    with pytest.raises(ValueError, match="no JSON: "):
        read_settings(f"{tmp_path}/bytes.json")


@pytest.mark.parametrize("budget", [None, 13])
@pytest.mark.parametrize("name", DECODERS)
def test_what_is_written_is_read_again(tmp_path: Path, name: str, budget: int | None) -> None:
    fields = {**unset_search_fields(), **DECODERS[name]}
    if budget is not None:
        count = decoder_class(fields["search"]).budget_option
        fields[f"{fields['search']}_{count}"] = None
        fields["search_budget"] = budget
    decoder = decoder_from_settings(fields)
    generation = Namespace(**{**vars(GenerationConfig()), "unkpen": 0.5})
    written = settings_of(decoder, generation, budget=budget, named=["max_len_b"])
    path = write(tmp_path, written)
    assert options(path) == decoder.options
    assert read_settings(path).generation == {"unkpen": 0.5, "max_len_b": 200}
    assert read_settings(path).budget == budget
    assert merged(path)[0]["value_read"] == ("mean" if decoder.needs_value else None)


def test_every_generation_option_of_a_file_is_one_of_fairseqs() -> None:
    assert set(GENERATION) <= vars(GenerationConfig()).keys()


@pytest.mark.slow
def test_commands_decode_by_the_file_as_by_its_flags(
    trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    path = write(tmp_path, {**TUNED, "budget": 5})
    flags = (
        *("--search", "mcts", "--search-budget", "5", "--mcts-c-puct", "4"),
        *("--mcts-backup", "max", "--max-len-b", "9"),
    )
    outputs = []
    for name, given in (("flags", flags), ("file", ("--search-settings", path))):
        folder = tmp_path / name
        generated = run_generate(trained, *given, "--gen-subset", "valid", results=folder)
        capsys.readouterr()
        run_interactive(trained, trained.lines("valid.en")[:5], *given, folder=folder)
        printed = capsys.readouterr().out.splitlines()
        timed = [line for line in printed if not line.startswith("W-")]
        outputs.append((generated, timed))
    assert outputs[0] == outputs[1]
