"""Random command lines of fairseq-generate and fairseq-mcts-generate, up to a generator at work."""

from __future__ import annotations

import contextlib
import dataclasses
import io
from pathlib import Path
from typing import Any

import torch
from fairseq import options
from fairseq.dataclass.configs import GenerationConfig
from fairseq.dataclass.utils import convert_namespace_to_omegaconf

from fairseq_mcts.cli import generate_config
from fairseq_mcts.generators.decoder_flags import flag
from fairseq_mcts.search.registry import decoder_class, decoder_names
from fairseq_mcts.tasks.search_config import search_fields
from fairseq_mcts.tasks.translation_mcts import TranslationMctsTask
from tests.fuzz.choices import Choices, chance, some_of
from tests.fuzz.search_checks import Fault
from tests.generators.harness import Setup
from tests.generators.trained import Trained

NUMBERS = ("0", "0.25", "0.5", "0.5", "0.9", "0.9", "1", "1.0", "3")
COUNTS = ("0", "1", "2", "3", "5")
EXTREMES = ("-1", "-0.5", "nan", "inf", "-inf", "1e300", "1e-300", "1e3", "", " ", "x", "0x10", "٣")
TEXTS = ("0.1,0.9", "1-3", "lower:0.5", "yes", "no", "vowels", "chrf", "bleu", "beam", "sampling")
ODD_TEXTS = ("", "vowels:scale", "lower:-1", "0,", "1,0", "mean:", "nonsense", "a:b=c", "ß", "-")
EXTREME_SHARE = 5  # of a hundred values
#: what only makes a decoding long, or would write files
LEFT_OUT = {"search_json", "search_trees", "search_record", "search_settings", "value_path"}
#: fairseq's own that its commands, not its generators, read; and models of other kinds
LEFT_OUT |= {"lm_path", "score_reference", "_name", "constraints", "iter_decode_max_iter"}
#: fairseq's own that searches honour
HONOURED = ("nbest", "min_len", "unkpen", "prefix_size", "no_repeat_ngram_size", "match_source_len")
#: a search by default values would take seconds, and lengths beyond some tokens too
ALWAYS = ("--max-len-b", "6")


def random_arguments(choices: Choices) -> list[str]:
    """Flags of one decoder with values, some of them odd, now and then flags of another."""
    search = choices.one_of(decoder_names())
    fields = {name: kind for name, kind, _ in search_fields() if name not in LEFT_OUT}
    del fields["search"]
    count = f"{search}_{decoder_class(search).budget_option}"
    own = [name for name in fields if name.startswith(f"{search}_") and name != count]
    decoders = tuple(f"{name}_" for name in decoder_names())
    common = [name for name in fields if not name.startswith(decoders)]
    others = [name for name in fields if name not in own and name not in common]
    generation = {
        one.name: one.type
        for one in dataclasses.fields(GenerationConfig)
        if one.name not in LEFT_OUT
    }
    given = ["--search", search if chance(choices, 98) else choices.one_of(("", "nonsense"))]
    if count in fields:
        given.append(f"{flag(count)}={choices.integer(1, 6)}")
    for name in some_of(choices, own, 3):
        given += _flag(choices, name, fields[name])
    for names, kinds, in_hundred in ((common, fields, 15), (others, fields, 5)):
        if chance(choices, in_hundred):
            given += _flag(choices, one := choices.one_of(names), kinds[one])
    if chance(choices, 40):
        given += _flag(choices, one := choices.one_of([*HONOURED]), generation[one])
    if chance(choices, 10):
        given += _flag(choices, one := choices.one_of([*generation]), generation[one])
    asks = any(one in " ".join(given) for one in ("metric", "rollout")) or search == "mbr"
    if asks if chance(choices, 95) else not asks:
        given += ["--search-metric", choices.one_of(("vowels", "vowels:scale=0.5"))]
        given += ["--search-post-process", "sentencepiece"]
    return given


def _flag(choices: Choices, name: str, kind: Any) -> list[str]:
    """A flag with a value that more or less fits its type."""
    extreme = chance(choices, EXTREME_SHARE)
    text = str(kind)
    if kind is bool or "bool" in text:
        return [flag(name)]
    allowed = _choices_of(kind)
    if allowed and not extreme:
        value = choices.one_of(allowed)
    elif "float" in text:
        value = choices.one_of(EXTREMES if extreme else NUMBERS)
    elif "int" in text:
        value = choices.one_of(EXTREMES if extreme else COUNTS)
    else:
        value = choices.one_of(ODD_TEXTS if extreme else TEXTS)
    return [f"{flag(name)}={value}"]


def _choices_of(kind: Any) -> list[str]:
    """The names of an enumeration, also of one that may be missing."""
    for one in (kind, *getattr(kind, "__args__", ())):
        if hasattr(one, "__members__"):
            return [str(member.value) for member in one]
    return []


def check_command_line(
    trained: Trained, models: Setup, arguments: list[str], *, own_command: bool
) -> bool:
    """Parses, builds and decodes one sentence; whether it came so far, else it must be refused."""
    parsed = _parsed(trained, arguments, own_command=own_command)
    if parsed is None:
        return False
    try:
        task = TranslationMctsTask.setup_task(parsed.task)
        task.build_tokenizer(parsed.tokenizer)
        task.build_bpe(parsed.bpe)
        torch.manual_seed(1)
        generator = task.build_generator(models.models, parsed.generation)
        dataset = models.task.dataset("valid")
        sample = dataset.collater([dataset[0]])
        size = parsed.generation.prefix_size
        forced = sample["target"][:, :size] if size else None
        [hypotheses] = task.inference_step(generator, models.models, sample, prefix_tokens=forced)
    except (ValueError, OSError, ImportError, NotImplementedError) as error:
        _require_named(arguments, str(error), error)
        return False
    if not hypotheses:
        raise Fault("no hypothesis")
    return True


def _parsed(trained: Trained, arguments: list[str], *, own_command: bool) -> Any:
    """fairseq's configuration, or None if the parser refuses by name."""
    given = [str(trained.data), "--task", "translation_mcts", "--cpu", "--path", str(trained.dual)]
    given += [*arguments, *ALWAYS] if "--max-len-b" not in " ".join(arguments) else arguments
    heard = io.StringIO()
    try:
        with contextlib.redirect_stderr(heard):
            if own_command:
                out = ["--out", str(Path(trained.folder, "never-written"))]
                found, cfg = generate_config.parse([*given, *out])
                generate_config.refuse_unfit(found, cfg)
                return cfg
            parser = options.get_generation_parser()
            return convert_namespace_to_omegaconf(
                options.parse_args_and_arch(parser, input_args=given)
            )
    except SystemExit as end:
        if end.code != 2 or "error: " not in heard.getvalue():
            raise Fault(f"ends with {end.code} and says {heard.getvalue()[-300:]!r}") from end
        _require_named(arguments, heard.getvalue().rpartition("error: ")[2], end)
    except ValueError as error:
        _require_named(arguments, str(error), error)
    return None


def _require_named(arguments: list[str], complaint: str, error: BaseException) -> None:
    """A refusal says one of the flags that were given, or one that is missing."""
    given = {one.partition("=")[0] for one in arguments if one.startswith("--")}
    if not any(name in complaint for name in given) and "--" not in complaint:
        raise Fault(f"an error that names no option: {error!r}") from error
