"""What stands beside a model's options in the whole configuration that they are a part of."""

from typing import Any

from omegaconf import DictConfig, OmegaConf


def beside(cfg: Any, path: str) -> Any:
    """The option at `path` (criterion.policy_weight) of the configuration that `cfg` is a part of.

    None if there is none, or if `cfg` stands alone. Not by omegaconf's own `select`, which takes
    relative paths and defaults only since version 2.1: fairseq asks for 2.0.
    """
    node = cfg._get_parent() if isinstance(cfg, DictConfig) else None
    for name in path.split("."):
        if not isinstance(node, DictConfig) or name not in node or OmegaConf.is_missing(node, name):
            return None
        node = node[name]
    return node
