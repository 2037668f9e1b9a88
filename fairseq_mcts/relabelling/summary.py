"""The record of a relabelled split in words, with the histogram of its scores."""

from typing import Any

_BAR = 40  # characters of the longest bar


def summary(record: dict[str, Any]) -> str:
    """Describes a split: what a run ends with."""
    counts, scores, metric = record["counts"], record["scores"], record["metric"]
    rows = record["rows"]
    method = method_of(record["decoding"])
    empty = " or empty" if record["data"]["monolingual"] else ""
    against = "reference" if metric["privileged"] else "source"
    lines = [
        f"{record['split']}: {rows:,} rows of {record['data']['rows']:,} sources ({method})",
        f"  left out, source too long{empty}: {counts['skipped_too_long']:,}; empty samples: "
        f"{counts['empty_samples']:,}; equal to the reference: "
        f"{counts['samples_equal_to_reference']:,}",
        f"  tokens: samples {counts['sample_tokens'] / rows:.1f} on average, at most "
        f"{counts['longest_sample']:,}; references {counts['reference_tokens'] / rows:.1f}, at "
        f"most {counts['longest_reference']:,}",
        f"  {metric['name']} against the {against} ({metric['signature']})",
        f"  scores: mean {scores['mean']:.4f}, from {scores['min']:.4f} to {scores['max']:.4f}",
    ]
    if record.get("similarities"):
        lines.append(f"  matches of tokens: in {counts['rows_with_matches']:,} rows")
    return "\n".join(lines + histogram_lines(scores["histogram"], rows))


def method_of(decoding: dict[str, Any]) -> str:
    """How rows were made, in words."""
    parts = [] if decoding["method"] == "samples" else [decoding["method"]]
    if "rounds" in decoding:
        parts[-1] += f" in {decoding['rounds']} rounds of {decoding['rows_per_round']}"
    if "searches" in decoding:
        searches = " and of ".join(decoding["searches"])
        parts[-1] += f" from the {decoding['nbest']} best of {searches}"
    if "samples" in decoding:
        temperatures = ", ".join(map(str, decoding["temperatures"]))
        parts.append(f"{decoding['samples']} samples a source at temperature {temperatures}")
    return " and ".join(parts)


def histogram_lines(histogram: dict[str, list[Any]], rows: int) -> list[str]:
    """One line a bin, from the first that holds scores to the last: bounds, bar, share, count."""
    edges, counts = histogram["edges"], histogram["counts"]
    filled = [bin for bin, count in enumerate(counts) if count]
    lines = []
    for bin in range(filled[0], filled[-1] + 1):
        bar = "#" * round(_BAR * counts[bin] / max(counts))
        bounds = f"{edges[bin]:8.3f} – {edges[bin + 1]:<8.3f}"
        lines.append(f"  {bounds} {bar:<{_BAR}} {counts[bin] / rows:6.1%} {counts[bin]:,}")
    return lines
