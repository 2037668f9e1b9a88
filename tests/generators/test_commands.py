"""fairseq-generate and fairseq-interactive with the searches: what they print, file and refuse."""

import logging
import re
from pathlib import Path

import pytest
import torch

from tests.generators.harness import run_generate, run_interactive
from tests.generators.trained import LANGUAGES, SEEN, UNSEEN, Trained

pytestmark = pytest.mark.slow(seconds=200)

MCTS = ("--search", "mcts", "--mcts-simulations", "4", "--max-len-b", "20")
SR = ("--search", "sr", "--sr-samples", "3", "--max-len-b", "20")
METRIC = ("--search-metric", "vowels", "--search-post-process", "sentencepiece")


def kinds(output: str) -> list[tuple[str, int]]:
    """Letter and sentence number of every output line, in order."""
    return [(kind, int(one)) for kind, one in re.findall(r"^([A-Z])-(\d+)\t", output, re.MULTILINE)]


def numbers(output: str, kind: str) -> list[int]:
    return [one for letter, one in kinds(output) if letter == kind]


def lines(output: str, kind: str) -> list[str]:
    return re.findall(rf"^{kind}-\d+\t(.*)$", output, re.MULTILINE)


def test_two_runs_with_one_seed_are_byte_identical_and_another_differs(trained: Trained) -> None:
    outputs = []
    for number, seed in enumerate("112"):
        results = trained.folder / f"sampled-{number}"
        trained.fairseq.run(
            "generate",
            *("bin", "--task", "translation_mcts", "--cpu", "--path", str(trained.dual)),
            *(*SR, "--gen-subset", "valid", "--seed", seed, "--results-path", str(results)),
        )
        outputs.append((results / "generate-valid.txt").read_bytes())
    assert outputs[0] == outputs[1] != outputs[2]


@pytest.mark.parametrize(
    "options",
    [
        (*MCTS, "--mcts-root", "gumbel", "--mcts-gumbel-scale", "1", "--mcts-backup", "bellman"),
        (*MCTS, "--mcts-backup", "power", "--value-read", "lower:1"),
        (*SR, "--sr-without-replacement"),
        (*SR, "--sr-rank-by", "metric", *METRIC, "--search-metric", "mix:vowels=1,likelihood=1"),
        ("--search", "mbr", "--mbr-samples", "9", "--mbr-prune", "0.9", *METRIC),
        ("--search", "mbr", "--mbr-samples", "9", "--mbr-without-replacement", *METRIC),
    ],
)
def test_two_runs_of_what_is_beyond_the_paper(
    options: tuple[str, ...], trained: Trained, tmp_path: Path
) -> None:
    """With one seed they print the same bytes, and write the same candidates."""
    if "--search-post-process" not in options:  # that of the texts in the file
        options = (*options, "--search-post-process", "sentencepiece")
    outputs = []
    for number in range(2):
        path = tmp_path / f"{number}.jsonl"
        given = (*options, "--max-len-b", "20", "--gen-subset", "valid", "--search-json", str(path))
        output = run_generate(trained, *given, results=tmp_path / str(number))
        outputs.append((output, path.read_bytes()))
    assert outputs[0] == outputs[1]


@pytest.mark.parametrize(
    ("options", "letters"),
    [
        (MCTS, "VNQ"),
        ((*MCTS, "--mcts-leaf", "rollout", *METRIC), "MNQ"),
        ((*MCTS, "--mcts-terminal", "metric", *METRIC), "MNQ"),
        ((*MCTS, "--cheating-value"), "VNXQ"),
        (("--search", "vgbs", "--vgbs-beam", "2", "--nbest", "2"), "VRQ"),
        (("--search", "vgbs", "--vgbs-beam", "2", "--vgbs-alpha", "0"), "RQ"),
        (SR, "VQ"),
        ((*SR, "--sr-rank-by", "metric", *METRIC), "MQ"),
        ((*SR, "--sr-without-replacement"), "VWQ"),
        (("--search", "mbr", "--mbr-samples", "3", "--max-len-b", "20", *METRIC), "MQ"),
        (("--search", "beam", "--beam", "2"), ""),
    ],
)
def test_extra_lines_stand_behind_their_hypothesis(
    options: tuple[str, ...], letters: str, trained: Trained, tmp_path: Path
) -> None:
    output = run_generate(trained, *options, "--gen-subset", "valid", results=tmp_path)
    best = 2 if "--nbest" in options else 1
    expected = []
    for number in numbers(output, "S"):
        expected += [(kind, number) for kind in "ST" + best * ("HDP" + letters)]
    assert kinds(output) == expected
    assert sorted(numbers(output, "S")) == list(range(len(trained.lines("valid.en"))))
    for tokens, visits in zip(lines(output, "H"), lines(output, "N"), strict=False):
        assert len(visits.split()) == len(tokens.split("\t")[1].split()) + 1
    for text in lines(output, "Q"):
        charged, made = map(int, text.split("\t"))
        assert charged >= made > 0
    for text in lines(output, "V") + lines(output, "M"):
        assert 0 <= float(text) <= 1


def test_run_ends_with_a_summary(
    trained: Trained, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        output = run_generate(trained, *MCTS, results=tmp_path)
    told = [one.getMessage() for one in caplog.records if "output_lines" in one.name]
    charged, made = (sum(int(one.split("\t")[i]) for one in lines(output, "Q")) for i in range(2))
    assert len(told) == 2
    assert told[0].startswith(f"--search mcts: {UNSEEN + SEEN} sentences, ")
    assert f"{charged:,} charged, {made:,} made" in told[0]
    for part in ("encoder", "network", "search", "metric", "sentences/s", "peak memory"):
        assert part in told[1]


def test_beam_search_reports_its_evaluations_too(
    trained: Trained, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    with caplog.at_level(logging.INFO):
        output = run_generate(
            trained, "--beam", "1", "--gen-subset", "valid", "--batch-size", "1", results=tmp_path
        )
    tokens = sum(len(one.split("\t")[1].split()) + 1 for one in lines(output, "H"))
    [told] = [one.getMessage() for one in caplog.records if "output_lines" in one.name]
    assert told.endswith(f"{tokens:,} charged, {tokens:,} made (100.0% of it)")


def test_quiet_prints_the_score_alone(trained: Trained, tmp_path: Path) -> None:
    output = run_generate(trained, *MCTS, "--quiet", "--gen-subset", "valid", results=tmp_path)
    assert kinds(output) == []
    assert output.startswith("Generate valid with search=mcts: BLEU4 = ")


def test_shards_share_the_work_without_loss_or_overlap(trained: Trained, tmp_path: Path) -> None:
    whole = run_generate(trained, *MCTS, "--batch-size", "7", results=tmp_path)
    parts = [
        run_generate(
            trained,
            *(*MCTS, "--batch-size", "7"),
            *("--distributed-world-size", "2", "--distributed-rank", str(rank)),
            results=tmp_path / str(rank),
        )
        for rank in range(2)
    ]
    shares = [set(numbers(part, "H")) for part in parts]
    assert shares[0] & shares[1] == set()
    assert shares[0] | shares[1] == set(range(UNSEEN + SEEN))
    by_number = dict(zip(numbers(whole, "H"), lines(whole, "H"), strict=True))
    for part in parts:
        for number, line in zip(numbers(part, "H"), lines(part, "H"), strict=True):
            assert by_number[number] == line


def test_too_long_sources_are_refused_or_skipped(trained: Trained, tmp_path: Path) -> None:
    short = (*MCTS, "--gen-subset", "valid", "--max-source-positions", "9")
    with pytest.raises(Exception, match=r"--skip-invalid-size-inputs-valid-test"):
        run_generate(trained, *short, results=tmp_path)
    output = run_generate(
        trained, *short, "--skip-invalid-size-inputs-valid-test", results=tmp_path
    )
    kept = [
        number
        for number, line in enumerate((trained.folder / "subwords/valid.en").open(encoding="utf-8"))
        if len(line.split()) < 9
    ]
    assert 0 < len(kept) < len(trained.lines("valid.en"))
    assert sorted(numbers(output, "H")) == kept


def test_model_overrides_reach_the_policy(trained: Trained, tmp_path: Path) -> None:
    override = ("--model-overrides", "{'max_target_positions': 8}")
    skip = "--skip-invalid-size-inputs-valid-test"  # references that are longer
    output = run_generate(trained, *MCTS, *override, skip, results=tmp_path)
    # the start symbol and eos, whose value is asked for, take two of the eight positions
    assert max(len(one.split("\t")[1].split()) for one in lines(output, "H")) == 6


def test_ensemble_with_values_of_its_own(trained: Trained, tmp_path: Path) -> None:
    paths = ("--path", f"{trained.plain}:{trained.dual}", "--value-path", str(trained.dual))
    output = run_generate(trained, *MCTS, *paths, "--gen-subset", "valid", results=tmp_path)
    assert sorted(numbers(output, "V")) == list(range(len(trained.lines("valid.en"))))
    alone = run_generate(trained, *MCTS, "--gen-subset", "valid", results=tmp_path / "alone")
    assert lines(output, "H") != lines(alone, "H")


@pytest.mark.parametrize("policy", ["dual", "plain"])
def test_half_precision(policy: str, trained: Trained, tmp_path: Path) -> None:
    """fairseq calls model.half(); nearly the same translations as in full precision."""
    options = ("--search", "vgbs", "--vgbs-beam", "2", "--gen-subset", "valid")
    if policy == "plain":
        options += ("--path", str(trained.plain), "--value-path", str(trained.dual))
    half = run_generate(trained, *options, "--fp16", results=tmp_path)
    full = run_generate(trained, *options, results=tmp_path / "full")
    pairs = zip(lines(half, "V"), lines(full, "V"), strict=True)
    near = [abs(float(one) - float(other)) < 0.02 for one, other in pairs]
    assert sum(near) > 0.7 * len(near)
    assert lines(half, "P") != lines(full, "P")


INPUT = [
    "The old letter was written.",
    "",
    "Yes",
    "   ",
    "日本 Ж the ☃ letter",
    "The doctor thanked Mr. Schmidt.",
    "a " * 1000,
    "Press the button.",
]


def sentencepiece(trained: Trained) -> tuple[str, ...]:
    model = ("--sentencepiece-model", str(trained.sentencepiece))
    return ("--bpe", "sentencepiece", *model, "--buffer-size", "3", "--max-tokens", "400")


def test_interactive_answers_every_line_in_order(
    trained: Trained,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
    caplog: pytest.LogCaptureFixture,
) -> None:
    run_interactive(trained, INPUT, *MCTS, *sentencepiece(trained), folder=tmp_path)
    output = capsys.readouterr().out
    answered = [number for number in range(len(INPUT)) if number != 6]
    assert numbers(output, "S") == answered
    expected = [(kind, number) for number in answered for kind in "SWHDPVNQ"]
    assert kinds(output) == expected
    assert "input line 7 (it would be S-6) has " in caplog.text
    # the same lines one by one
    again = [line for number, line in enumerate(INPUT) if number in answered]
    one_by_one = ("--buffer-size", "1", "--max-tokens", "400")
    run_interactive(trained, again, *MCTS, *sentencepiece(trained), *one_by_one, folder=tmp_path)
    assert lines(capsys.readouterr().out, "H") == lines(output, "H")


def test_interactive_cuts_a_line_that_is_too_long_where_asked_to(
    trained: Trained, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cut = ("--truncate-source", "--max-source-positions", "20", "--max-tokens", "400")
    run_interactive(trained, INPUT, *MCTS, *sentencepiece(trained), *cut, folder=tmp_path)
    assert numbers(capsys.readouterr().out, "H") == list(range(len(INPUT)))


def test_prefixes_of_interactive_are_refused(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--prefix-size: input lines come without targets"):
        run_interactive(
            trained, INPUT[:1], *MCTS, *sentencepiece(trained), "--prefix-size=2", folder=tmp_path
        )


def test_constraints_of_interactive_are_refused(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="--constraints ordered: not with --search mcts"):
        run_interactive(
            trained, INPUT[:1], *MCTS, "--constraints", *sentencepiece(trained), folder=tmp_path
        )


# ------------------------------------------------------------------------------- checkpoints


def edited(trained: Trained, target: Path, name: str, number: float) -> Path:
    state = torch.load(trained.dual, weights_only=False)
    state["model"][name].view(-1)[0] = number
    torch.save(state, target)
    return target


@pytest.mark.parametrize("search", [MCTS, ("--search", "vgbs"), SR])
@pytest.mark.parametrize(
    "name", ["decoder.layers.0.fc1.weight", "decoder.value_head.projection.weight"]
)
def test_broken_weights_are_noticed(
    name: str, search: tuple[str, ...], trained: Trained, tmp_path: Path
) -> None:
    path = edited(trained, tmp_path / "nan.pt", name, float("nan"))
    with pytest.raises(ValueError, match=r"^sentence \d+: the network's (policy|value)"):
        run_generate(trained, *search, "--path", str(path), results=tmp_path)


def test_policy_without_value_names_what_is_missing(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="no value head that was trained; give one with --value-p"):
        run_generate(trained, *MCTS, "--path", str(trained.plain), results=tmp_path)
    with pytest.raises(ValueError, match=r"--value-path .*: holds a model without a value head"):
        run_generate(trained, *MCTS, "--value-path", str(trained.plain), results=tmp_path)


def test_value_of_another_dictionary_is_refused(trained: Trained, tmp_path: Path) -> None:
    state = torch.load(trained.dual, weights_only=False)
    for name, weights in state["model"].items():
        if "embed_tokens" in name or "output_projection" in name:
            state["model"][name] = weights[:-5]
    torch.save(state, tmp_path / "other.pt")
    with pytest.raises(ValueError, match=r"--value-path .*other.pt: its .* has a vocabulary of"):
        run_generate(trained, *MCTS, "--value-path", str(tmp_path / "other.pt"), results=tmp_path)


def test_models_of_other_words_in_the_same_number_are_refused(
    trained: Trained, tmp_path: Path
) -> None:
    for language in LANGUAGES:
        name = f"dict.{language}.txt"
        _, *others = (trained.data / name).read_text(encoding="utf-8").splitlines(True)
        (tmp_path / name).write_text("other 1\n" + "".join(others), encoding="utf-8")
    state = torch.load(trained.dual, weights_only=False)
    state["cfg"]["task"].update(data=str(tmp_path), source_lang="en", target_lang="de")
    torch.save(state, tmp_path / "other.pt")
    other = str(tmp_path / "other.pt")
    with pytest.raises(ValueError, match=r"^--value-path .*other.pt: was trained with .*dict.en"):
        run_generate(trained, *MCTS, "--value-path", other, results=tmp_path)
    for search in (MCTS, ("--beam", "2")):
        with pytest.raises(ValueError, match=r"^--path: a model was trained with .*dict.en"):
            run_generate(trained, *search, "--path", other, results=tmp_path)
    overrides = ("--model-overrides", str({"data": str(trained.data)}))
    run_generate(trained, *MCTS, "--path", other, *overrides, results=tmp_path)


def test_metric_on_bare_subwords_is_refused(trained: Trained, tmp_path: Path) -> None:
    options = (*MCTS, "--mcts-leaf", "rollout", "--search-metric", "vowels")
    with pytest.raises(ValueError, match=r"^a metric reads text, not subwords: give --bpe, "):
        run_generate(trained, *options, results=tmp_path)
    bpe = ("--bpe", "sentencepiece", "--sentencepiece-model", str(trained.sentencepiece))
    by_bpe = run_generate(trained, *options, *bpe, "--gen-subset", "valid", results=tmp_path)
    by_post_process = run_generate(
        trained,
        *(*options, "--search-post-process", "sentencepiece", "--gen-subset", "valid"),
        results=tmp_path / "post",
    )
    assert lines(by_bpe, "M") == lines(by_post_process, "M")


def test_post_process_that_nothing_reads_is_refused(trained: Trained, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=r"^--search-post-process: neither a search nor a scorer"):
        run_generate(trained, "--search-post-process", "sentencepiece", results=tmp_path)


@pytest.mark.parametrize(
    "options", [("--min-len", "30", "--max-len-b", "20"), ("--max-len-b", "0", "--min-len", "0")]
)
def test_lengths_that_leave_no_room_are_refused(
    options: tuple[str, ...], trained: Trained, tmp_path: Path
) -> None:
    with pytest.raises(ValueError, match=r"--min-len .* --max-len-b"):
        run_generate(trained, *MCTS, *options, results=tmp_path)
