"""Metrics that are mixed with the policy's likelihood."""


def mixed(metric: str, weight: float) -> str:
    """A metric and the policy's likelihood, which has the rest of the weight."""
    if weight == 1.0:
        return metric
    name, _, options = metric.partition(":")
    own = [f"{name}.{option}" for option in options.split(",") if option]
    return ",".join([f"mix:{name}={weight:g}", *own, f"likelihood={1 - weight:.2g}"])
