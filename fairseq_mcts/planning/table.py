"""Plans as text."""

from collections.abc import Sequence

from tabulate import tabulate

from fairseq_mcts.planning.rates import Projection, Rates

_HEADER = ("sentences", "workers", "machines", "time", "between", "memory")
_WRITTEN = {
    "lines": "the output of fairseq-mcts-generate",
    "text": "translations alone",
    "json": "--json-lines",
    "data": "the folder with scores",
    "chunks": "beside it, until they are joined",
}


def as_text(rates: Rates, plan: Sequence[Projection]) -> str:
    """What was measured, and a line for each size of corpus and number of workers."""
    written = list(rates.disk())
    rows = [
        (
            f"{one.sentences:,}",
            one.workers,
            one.machines,
            duration(one.seconds),
            "?" if len(rates.usual) < 2 else f"{duration(one.low)} – {duration(one.high)}",
            size(one.memory_bytes),
            *(size(one.disk[name]) for name in written),
        )
        for one in plan
    ]
    table = tabulate(rows, (*_HEADER, *written), stralign="right", disable_numparse=True)
    on_disk = "; ".join(f"{name}: {_WRITTEN[name]}" for name in written)
    lines = [*_measured(rates), "", table, ""]
    lines.append(
        "time: on the clock, between: two standard errors of the sample; memory: of each machine; "
        f"on disk {on_disk}. For sentences as long as those measured."
    )
    if rates.gpu_bytes:
        lines.append(f"memory on the GPU, of each worker: {size(rates.gpu_bytes)}")
    return "\n".join(lines)


def _measured(rates: Rates) -> list[str]:
    sentences = sum(cost.sentences for cost in rates.usual)
    seconds, tokens = rates.per_sentence("seconds"), rates.per_sentence("tokens")
    made = rates.per_sentence("rows")
    several = "" if made == 1 else f" in {made:.1f} rows"
    figures = (
        f"tokens: sources {rates.per_sentence('source_tokens'):.1f}, translations {tokens:.1f}"
        f"{several}"
    )
    counted = rates.evaluations().items() if tokens else ()
    if counted:
        per_token = (f"{count / tokens:.1f} {name}" for name, count in counted)
        figures += f"; evaluations per token: {', '.join(per_token)}"
    lines = [
        f"measured on {sentences:,} sentences in {len(rates.usual)} parts: "
        f"{1 / seconds:.2f} sentences/s by one process ({rates.threads} thread"
        f"{'' if rates.threads == 1 else 's'}), {rates.start_seconds:.0f} s to start",
        figures,
    ]
    if left_out := len(rates.costs) - len(rates.usual):
        lines.append(
            f"not counted: {left_out} of {len(rates.costs)} parts, which took many times as long "
            "as most: did the machine stand still?"
        )
    if rates.together > 1:
        rate = rates.together / (seconds * rates.slowdown)
        lines.append(
            f"{rates.together} processes at once: {rate:.2f} sentences/s, "
            f"{rates.together / rates.slowdown:.2f} times one"
        )
    return lines


def duration(seconds: float) -> str:
    """In the unit that leaves a number one can read."""
    for unit, name in ((86400 * 365, "years"), (86400, "days"), (3600, "h"), (60, "min")):
        if seconds >= 2 * unit:
            return f"{seconds / unit:.1f} {name}"
    return f"{seconds:.1f} s"


def size(count: float) -> str:
    """Bytes, likewise."""
    for unit, name in ((1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if count >= unit:
            return f"{count / unit:.1f} {name}"
    return f"{count / 1e3:.1f} kB"
