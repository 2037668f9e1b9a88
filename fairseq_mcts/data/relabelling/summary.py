"""The record of a relabelled split in words, with the histogram of its scores."""

from typing import Any

_BAR = 40  # characters of the longest bar


def summary(record: dict[str, Any]) -> str:
    """What a run ends with."""
    counts, scores, metric = record["counts"], record["scores"], record["metric"]
    rows = record["rows"]
    decoding = record["decoding"]
    method = decoding["method"]
    if method == "sampling":
        method = f"{decoding['samples']} samples a source at temperature {decoding['temperature']}"
    against = "reference" if metric["privileged"] else "source"
    lines = [
        f"{record['split']}: {rows:,} rows of {record['data']['rows']:,} sources ({method})",
        f"  left out, source too long: {counts['skipped_too_long']:,}; empty samples: "
        f"{counts['empty_samples']:,}; equal to the reference: "
        f"{counts['samples_equal_to_reference']:,}",
        f"  tokens: samples {counts['sample_tokens'] / rows:.1f} on average, at most "
        f"{counts['longest_sample']:,}; references {counts['reference_tokens'] / rows:.1f}, at "
        f"most {counts['longest_reference']:,}",
        f"  {metric['name']} against the {against} ({metric['signature']})",
        f"  scores: mean {scores['mean']:.4f}, from {scores['min']:.4f} to {scores['max']:.4f}",
    ]
    return "\n".join(lines + histogram_lines(scores["histogram"], rows))


def histogram_lines(histogram: dict[str, list[Any]], rows: int) -> list[str]:
    """One line a bin: its bounds, a bar, and its share of all rows."""
    edges, counts = histogram["edges"], histogram["counts"]
    most = max(counts)
    return [
        f"  {edges[bin]:8.3f} – {edges[bin + 1]:<8.3f} "
        f"{'#' * round(_BAR * count / most):<{_BAR}} {count / rows:6.1%} {count:,}"
        for bin, count in enumerate(counts)
    ]
