"""`python docs/decoder_table.py` writes what the decoders' classes say into docs/decoders.md.

With --check it writes nothing and fails if the page is not up to date.
"""

import argparse
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from fairseq_mcts.generators.decoder_flags import as_flag
from fairseq_mcts.search import Decoder, decoder_class, decoder_names
from fairseq_mcts.search.options import OptionInfo

PAGE = Path(__file__).with_name("decoders.md")
BEGIN = "<!-- written by docs/decoder_table.py: begin -->"
END = "<!-- written by docs/decoder_table.py: end -->"
BUDGET = 50  # evaluations per output token: the paper's


def with_tables(page: str) -> str:
    """The text of the page with the tables as the registry has them now."""
    before, begin, rest = page.partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{PAGE}: the marks {BEGIN!r} and {END!r} are missing")
    return f"{before}{BEGIN}\n\n{tables()}\n{END}{after}"


def tables() -> str:
    """All decoders in a table, then the options of each."""
    classes = [decoder_class(name) for name in decoder_names()]
    header = ("`--search`", "what it does", "value", "metric", f"`--search-budget {BUDGET}`")
    parts = [_table(header, map(_row, classes))]
    parts += [_section(cls) for cls in classes]
    return "\n".join(parts)


def _row(cls: type[Decoder[Any]]) -> tuple[str, ...]:
    return f"`{cls.name}`", cls.summary(), _value(cls), _metric(cls), _budget(cls)


def _value(cls: type[Decoder[Any]]) -> str:
    if not cls.uses_value:
        return "–"
    settings = _settings(cls, cls.value_unless)
    return f"needed, but not with {' or '.join(settings)}" if settings else "needed"


def _metric(cls: type[Decoder[Any]]) -> str:
    if cls.uses_metric:
        return "needed"
    settings = _settings(cls, cls.metric_if)
    return f"with {' or '.join(settings)}" if settings else "–"


def _settings(cls: type[Decoder[Any]], settings: Mapping[str, tuple[Any, ...]]) -> list[str]:
    """Settings that a command line can give, as it writes them."""
    infos = cls.option_infos()
    found = []
    for name, values in settings.items():
        offered = infos[name].flag_choices or infos[name].choices
        found += [_spelt(cls, name, one) for one in values if not offered or one in offered]
    return found


def _budget(cls: type[Decoder[Any]]) -> str:
    count = cls.count_for_budget(BUDGET)
    assert isinstance(count, int)  # of one budget
    where = "in Python " if cls.is_fairseqs_own else ""  # fairseq's commands have no budget for it
    return f"{where}{_spelt(cls, cls.budget_option, count)}, charged {cls.charge(count)}"


def _section(cls: type[Decoder[Any]]) -> str:
    header = ("option", "default", "what it is", "a sweep tries")
    rows = [_option_row(cls, *item) for item in cls.option_infos().items()]
    lines = [f"## {cls.name}", "", f"{cls.summary()}.", "", _table(header, rows)]
    presets = {preset: settings for preset, settings in cls.presets.items() if settings}
    for preset, settings in presets.items():
        given = ", ".join(_spelt(cls, *item) for item in settings.items())
        lines.append(f"- `--search-preset {preset}`: {given}")
    return "\n".join([*lines, ""] if presets else lines)


def _option_row(cls: type[Decoder[Any]], name: str, info: OptionInfo) -> tuple[str, ...]:
    choices = info.flag_choices or info.choices
    text = info.help + (f" ({', '.join(choices)})" if choices else "")
    for other, setting in info.no_effect_with.items():
        text += f"; has no effect with {_spelt(cls, other, setting)}"
    if info.only_with:
        needed = (_spelt(cls, other, setting) for other, setting in info.only_with.items())
        text += f"; only with {' or '.join(needed)}"
    default = "–" if info.default is None else f"`{_written(info.default)}`"
    return _spelt(cls, name), default, text, ", ".join(map(_written, info.grid)) or "–"


def _spelt(cls: type[Decoder[Any]], name: str, value: Any = None) -> str:
    """An option as a command line writes it; as Python does where it has no flag."""
    given = None if value is None else _written(value)
    if cls.option_infos()[name].flag:
        return f"`{as_flag(cls.name)(name, given)}`"
    return f"`{name}`" if given is None else f"`{name}={given}`"


def _written(value: Any) -> str:
    if isinstance(value, tuple):
        return ",".join(map(_written, value))
    return f"{value:g}" if isinstance(value, float) else str(value)


def _table(header: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    lines = [header, ("---",) * len(header), *rows]
    escaped = ([cell.replace("|", "\\|") for cell in cells] for cells in lines)
    return "".join(f"| {' | '.join(cells)} |\n" for cells in escaped)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true", help="only tell whether it is up to date")
    check = parser.parse_args().check
    old = PAGE.read_text(encoding="utf-8")
    new = with_tables(old)
    if check and new != old:
        sys.exit(f"{PAGE} is out of date: run python docs/decoder_table.py")
    if not check:
        PAGE.write_text(new, encoding="utf-8")


if __name__ == "__main__":
    main()
