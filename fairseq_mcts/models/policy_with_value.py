"""`policy_with_value`: a value head on top of an existing policy checkpoint of any kind.

For users who have a trained fairseq transformer and want the searches without training it again:
the policy may stay frozen, then only the head (and a small tower in front of it) is trained.
"""

import json
from argparse import Namespace
from dataclasses import dataclass
from typing import Any, Optional

from fairseq.models import FairseqEncoderDecoderModel, build_model, register_model
from omegaconf import DictConfig, OmegaConf
from torch import Tensor, nn

from fairseq_mcts.models.checkpoints import load_model
from fairseq_mcts.models.options import ValueHeadOptions, option
from fairseq_mcts.models.value_head import ValueHead, bucket_options


@dataclass
class PolicyWithValueConfig(ValueHeadOptions):
    """Options of `policy_with_value`."""

    policy_path: Optional[str] = option(None, "checkpoint of the policy that gets a value head")
    freeze_policy: bool = option(
        False, "train the value head alone; the policy's outputs stay as they are"
    )
    value_tower_layers: int = option(
        0, "feed-forward blocks between the policy's features and the value head"
    )
    policy_model: Optional[str] = option(
        None,
        "the policy's own model options as JSON; training writes it into its checkpoints, which "
        "thus need no other file",
    )


class TowerValueHead(ValueHead):
    """A value head on top of residual feed-forward blocks of its own."""

    def __init__(self, embed_dim: int, *, layers: int, **buckets: Any) -> None:
        """`buckets` are those of `ValueHead`."""
        super().__init__(embed_dim, **buckets)
        self.tower = nn.ModuleList(
            nn.Sequential(
                nn.LayerNorm(embed_dim),
                nn.Linear(embed_dim, 2 * embed_dim),
                nn.ReLU(),
                nn.Linear(2 * embed_dim, embed_dim),
            )
            for _ in range(layers)
        )

    def forward(self, features: Tensor) -> tuple[Tensor, Tensor]:
        for block in self.tower:
            features = features + block(features)
        return super().forward(features)


@register_model("policy_with_value", dataclass=PolicyWithValueConfig)
class PolicyWithValueModel(FairseqEncoderDecoderModel):  # type: ignore[misc]
    """The encoder and decoder of the policy, the latter with a value head."""

    def __init__(self, policy: Any, head: ValueHead, *, freeze: bool, policy_model: str) -> None:
        super().__init__(policy.encoder, policy.decoder)
        self.policy_model = policy_model  # the option of this name, for checkpoints
        self.policy_is_frozen = freeze
        if freeze:
            self.requires_grad_(False)
        self.decoder.value_head = head

    @classmethod
    def build_model(cls, cfg: Any, task: Any) -> "PolicyWithValueModel":
        """From the policy's checkpoint in training, from the stored options afterwards."""
        if cfg.policy_model is not None:
            policy_model = cfg.policy_model
            options = json.loads(policy_model)
            is_new = "_name" in options  # older checkpoints have a Namespace
            policy = build_model(
                OmegaConf.create(options) if is_new else Namespace(**options), task
            )
        elif cfg.policy_path is not None:
            policy, saved = load_model("--policy-path", cfg.policy_path, task)
            policy_model = json.dumps(_as_plain(saved.model))
        else:
            raise ValueError("--arch policy_with_value needs --policy-path")
        width = _feature_size(policy.decoder)
        head = TowerValueHead(width, layers=cfg.value_tower_layers, **bucket_options(cfg))
        return cls(policy, head, freeze=cfg.freeze_policy, policy_model=policy_model)

    def train(self, mode: bool = True) -> "PolicyWithValueModel":
        """Training mode; a frozen policy stays in evaluation mode, without dropout."""
        super().train(mode)
        if self.policy_is_frozen:
            self.encoder.eval()
            self.decoder.eval()
            self.decoder.value_head.train(mode)
        return self

    def forward(
        self,
        src_tokens: Tensor,  # [B, S]
        src_lengths: Tensor,  # [B]
        prev_output_tokens: Tensor,  # [B, T]
        features_only: bool = False,
    ) -> tuple[Tensor, dict[str, Any]]:
        """Logits [B, T, V] (or features [B, T, C]) and extras, among them the value [B, T]."""
        encoder_out = self.encoder(src_tokens, src_lengths=src_lengths)
        features, extra = self.decoder.extract_features(prev_output_tokens, encoder_out=encoder_out)
        value_logits, value = self.decoder.value_head(features)
        extra = {**extra, "features": features, "value_logits": value_logits, "value": value}
        return (features if features_only else self.decoder.output_layer(features)), extra


def _feature_size(decoder: Any) -> int:
    """Width of what the decoder's output layer reads."""
    size = getattr(decoder, "output_embed_dim", None)
    return int(size if size is not None else decoder.layer_norm.normalized_shape[0])


def _as_plain(model: Any) -> dict[str, Any]:
    """A model's saved options as JSON can hold them."""
    options = OmegaConf.to_container(model) if isinstance(model, DictConfig) else vars(model)
    simple = (str, int, float, bool, type(None), list, dict)
    return {name: value for name, value in options.items() if isinstance(value, simple)}
