"""fairseq's generation options, one by one: honoured, refused by name, or without effect anywhere.

The options are read from fairseq's own dataclass, so that a new one fails here until it is decided
what the searches do with it.
"""

import dataclasses
import itertools
import logging
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fairseq.dataclass.configs import GenerationConfig

from fairseq_mcts.generators.fairseq_options import REFUSED
from tests.generators.harness import Setup, load, run_generate
from tests.generators.trained import Trained

pytestmark = pytest.mark.slow(seconds=150)

#: fairseq's generation options that every search honours, through `Limits` or because fairseq's
#: commands see to them before or after the generator (shown of
#: each one below)
HONOURED = {
    "nbest",
    "max_len_a",
    "max_len_b",
    "min_len",
    "match_source_len",
    "unkpen",
    "prefix_size",
    "no_repeat_ngram_size",
    "sacrebleu",
    "score_reference",
}
#: options without effect in fairseq itself on translation models: nothing of fairseq reads them,
#: only other tasks do (speech with two decoders, iterative refinement), or fairseq's parser
#: overwrites them (no_seed_provided)
WITHOUT_EFFECT_IN_FAIRSEQ = {
    "no_early_stop",
    "no_seed_provided",
    "no_beamable_mm",
    "eos_token",
    "beam_mt",
    "max_len_a_mt",
    "max_len_b_mt",
    "lenpen_mt",
    "iter_decode_eos_penalty",
    "iter_decode_max_iter",
    "iter_decode_force_max_iter",
    "iter_decode_with_beam",
    "iter_decode_with_external_reranker",
}
FIELDS = {field.name for field in dataclasses.fields(GenerationConfig)} - {"_name"}
SEARCHES: dict[str, dict[str, Any]] = {
    "mcts": {"search": "mcts", "mcts_simulations": 6},
    "vgbs": {"search": "vgbs", "vgbs_beam": 3},
    "sr": {"search": "sr", "sr_samples": 4},
}
SENTENCES = range(0, 90, 10)

Tokens = list[list[list[int]]]


@pytest.fixture(scope="module")
def setup(trained: Trained) -> Setup:
    return load(trained, trained.dual)


@dataclasses.dataclass(frozen=True)
class Run:
    """One search on some test sentences, in this process or through the command."""

    setup: Setup
    trained: Trained
    search: dict[str, Any]
    folder: Path

    def tokens(self, **options: Any) -> Tokens:
        """[sentence][hypothesis] token ids, eos at their ends."""
        found = self.setup.generate(SENTENCES, **{"max_len_b": 20, **self.search, **options})
        return [[one["tokens"].tolist() for one in found[number]] for number in SENTENCES]

    def command(self, *options: str) -> str:
        """The results of fairseq-generate on the few validation sentences."""
        search = [f"--{name.replace('_', '-')}={value}" for name, value in self.search.items()]
        self.folder.mkdir(exist_ok=True)
        return run_generate(
            self.trained,
            *("--gen-subset", "valid", "--max-len-b", "20", *search, *options),
            results=self.folder,
        )


@pytest.fixture(params=SEARCHES)
def run(request: pytest.FixtureRequest, setup: Setup, trained: Trained, tmp_path: Path) -> Run:
    return Run(setup, trained, SEARCHES[request.param], tmp_path)


def lengths(found: Tokens) -> list[int]:
    """Without eos."""
    return [len(tokens) - 1 for hypotheses in found for tokens in hypotheses]


def source_lengths(setup: Setup) -> list[int]:
    """With eos, as fairseq counts them."""
    return [len(source) for source in setup.sources(SENTENCES)]


def check_nbest(run: Run) -> None:
    # MCTS has to offer what its simulations have come across
    budget = {"mcts_simulations": 60} if run.search["search"] == "mcts" else {}
    several = run.tokens(nbest=3, **budget)
    assert max(map(len, several)) == 3
    for one, hypotheses in zip(run.tokens(**budget), several, strict=True):
        assert hypotheses[:1] == one
        assert len({tuple(tokens) for tokens in hypotheses}) == len(hypotheses)


def check_max_len_b(run: Run) -> None:
    assert max(lengths(run.tokens())) > 5
    assert max(lengths(run.tokens(max_len_b=5))) == 5


def check_max_len_a(run: Run) -> None:
    found = lengths(run.tokens(max_len_a=0.5, max_len_b=1))
    most = [int(0.5 * length + 1) for length in source_lengths(run.setup)]
    assert all(one <= limit for one, limit in zip(found, most, strict=True))
    assert found != lengths(run.tokens())


def check_min_len(run: Run) -> None:
    least = min(lengths(run.tokens())) + 3  # how long sentences are depends on the processor
    assert min(lengths(run.tokens(min_len=least))) >= least


def check_match_source_len(run: Run) -> None:
    theirs = run.setup.generate(SENTENCES, search="beam", match_source_len=True)
    ours = lengths(run.tokens(match_source_len=True))
    assert ours == [len(theirs[number][0]["tokens"]) - 1 for number in SENTENCES]
    assert ours == source_lengths(run.setup)


def check_unkpen(run: Run) -> None:
    unknown = run.setup.task.target_dictionary.unk()
    for penalty, present in ((-30.0, True), (30.0, False)):
        found = run.tokens(unkpen=penalty)
        assert any(unknown in tokens for hypotheses in found for tokens in hypotheses) is present


def check_prefix_size(run: Run) -> None:
    dataset = run.setup.task.dataset("test")
    for number, [tokens] in zip(SENTENCES, run.tokens(prefix_size=3), strict=True):
        assert tokens[:3] == dataset[number]["target"].tolist()[:3]
    # the command itself cuts the prefix from the target; a whole target is forced, eos included
    output = run.command("--prefix-size", "100", "--max-len-b", "100")
    assert texts(output, "H") == texts(output, "T")


def check_no_repeat_ngram_size(run: Run) -> None:
    def repeats(found: Tokens) -> bool:
        pairs = [list(itertools.pairwise(tokens)) for [tokens] in found]
        return any(len(set(one)) < len(one) for one in pairs)

    assert repeats(run.tokens(min_len=20))
    assert not repeats(run.tokens(min_len=20, no_repeat_ngram_size=2))


def check_score_reference(run: Run) -> None:
    output = run.command("--score-reference")
    assert texts(output, "H") == texts(output, "T")


def check_sacrebleu(run: Run) -> None:
    """In fairseq it silences a warning about BLEU on subwords, nothing else."""
    bpe = ("--bpe", "sentencepiece", "--sentencepiece-model", str(run.trained.sentencepiece))
    heard: dict[bool, bool] = {}
    for given in (False, True):
        messages = Messages()
        logging.getLogger("fairseq_cli.generate").addHandler(messages)
        run.command(*bpe, *(["--sacrebleu"] if given else []))
        logging.getLogger("fairseq_cli.generate").removeHandler(messages)
        heard[given] = any("Use --sacrebleu" in text for text in messages.texts)
    assert heard == {False: True, True: False}


class Messages(logging.Handler):
    """Remembers what is logged."""

    def __init__(self) -> None:
        super().__init__()
        self.texts: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        self.texts.append(record.getMessage())


def texts(output: str, kind: str) -> dict[str, str]:
    found = re.findall(rf"^{kind}-(\d+)\t(?:.*\t)?(.*)$", output, flags=re.MULTILINE)
    assert len(found) == len(dict(found)) > 0
    return dict(found)


CHECKS: dict[str, Callable[[Run], None]] = {
    name.removeprefix("check_"): check
    for name, check in list(globals().items())
    if name.startswith("check_")
}


def test_every_option_is_decided_upon_once() -> None:
    kinds = [HONOURED, set(REFUSED), WITHOUT_EFFECT_IN_FAIRSEQ]
    assert set.union(*kinds) == FIELDS
    assert sum(map(len, kinds)) == len(FIELDS)
    assert CHECKS.keys() == HONOURED


@pytest.mark.parametrize("name", sorted(HONOURED))
def test_option_is_honoured(name: str, run: Run) -> None:
    CHECKS[name](run)


CHANGED: dict[str, Any] = {
    "beam": 4,
    "lenpen": 0.5,
    "unnormalized": True,
    "temperature": 0.5,
    "sampling": True,
    "sampling_topk": 10,
    "sampling_topp": 0.9,
    "constraints": "ordered",
    "diverse_beam_groups": 2,
    "diverse_beam_strength": 0.1,
    "diversity_rate": 0.5,
    "print_alignment": "hard",
    "replace_unk": "@@ ",
    "print_step": True,
    "retain_iter_history": True,
    "lm_path": "lm.pt",
    "lm_weight": 0.5,
    "retain_dropout": True,
    "retain_dropout_modules": ["TransformerDecoder"],
    "decoding_format": "unigram",
    "no_early_stop": True,
    "no_beamable_mm": True,
    "no_seed_provided": True,
    "eos_token": "x",
    "beam_mt": 3,
    "max_len_a_mt": 0.1,
    "max_len_b_mt": 3,
    "lenpen_mt": 2.0,
    "iter_decode_eos_penalty": 1.0,
    "iter_decode_max_iter": 1,
    "iter_decode_force_max_iter": True,
    "iter_decode_with_beam": 2,
    "iter_decode_with_external_reranker": True,
}


@pytest.mark.parametrize("search", SEARCHES)
@pytest.mark.parametrize("name", REFUSED)
def test_option_is_refused_by_name(name: str, search: str, setup: Setup) -> None:
    flag = "--" + name.replace("_", "-")
    with pytest.raises(ValueError, match=f"^{flag} .*: not with --search {search}; ."):
        setup.generator(**SEARCHES[search], **{name: CHANGED[name]})


@pytest.mark.parametrize("name", sorted(WITHOUT_EFFECT_IN_FAIRSEQ))
def test_option_has_no_effect_in_fairseq_and_none_here(name: str, setup: Setup) -> None:
    changed = {name: CHANGED[name]}
    assert getattr(GenerationConfig(), name) != CHANGED[name]
    for search in ({"search": "beam"}, SEARCHES["mcts"]):
        plain, other = (
            setup.generate(SENTENCES[:4], max_len_b=20, **search, **options)
            for options in ({}, changed)
        )
        for number, hypotheses in plain.items():
            for one, two in zip(hypotheses, other[number], strict=True):
                assert one["tokens"].equal(two["tokens"]) and one["score"] == two["score"]
