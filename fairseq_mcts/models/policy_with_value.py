"""`policy_with_value`: a value head on top of an existing policy checkpoint of any kind.

For users who have a trained fairseq transformer and want the searches without training it again:
the policy may stay frozen, then only the head is trained.
"""

import json
from argparse import Namespace
from dataclasses import dataclass
from typing import Any, Optional

import torch
from fairseq.dataclass import ChoiceEnum
from fairseq.models import FairseqEncoderDecoderModel, build_model, register_model
from omegaconf import DictConfig, OmegaConf
from torch import Tensor, nn

from fairseq_mcts.models.checkpoints import load_model
from fairseq_mcts.models.comparing_head import ComparingValueHead, Sizes
from fairseq_mcts.models.options import ValueHeadOptions, option
from fairseq_mcts.models.value_head import ValueHead, bucket_options
from fairseq_mcts.models.value_reading import read_values

VALUE_HEADS = ChoiceEnum(["comparing", "plain"])


@dataclass
class PolicyWithValueConfig(ValueHeadOptions):
    """Options of `policy_with_value`."""

    policy_path: Optional[str] = option(None, "checkpoint of the policy that gets a value head")
    freeze_policy: bool = option(
        False, "train the value head alone; the policy's outputs stay as they are"
    )
    value_head: VALUE_HEADS = option(  # type: ignore[valid-type]
        "comparing",
        "comparing: compares each token with the source and with what the policy expected; plain: "
        "reads the policy's features alone",
    )
    value_dropout: float = option(0.1, "dropout in the layers of --value-head comparing")
    value_tower_layers: int = option(
        0, "feed-forward blocks between the policy's features and --value-head plain"
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
            policy, saved = load_model(
                "--policy-path", cfg.policy_path, task, needs_policy=cfg.freeze_policy
            )
            policy_model = json.dumps(_as_plain(saved.model))
        else:
            raise ValueError("--arch policy_with_value needs --policy-path")
        head = _make_head(cfg, policy)
        return cls(policy, head, freeze=cfg.freeze_policy, policy_model=policy_model)

    def train(self, mode: bool = True) -> "PolicyWithValueModel":
        """Training mode; a frozen policy stays in evaluation mode, without dropout."""
        super().train(mode)
        if self.policy_is_frozen:
            self.encoder.eval()
            self.decoder.eval()
            self.decoder.value_head.train(mode)
        return self

    def make_generation_fast_(self, **options: Any) -> None:
        """fairseq's; frozen weights thaw, since torch multiplies by those with another kernel.

        Its last bits differ, and the policy's outputs are to stay as they are.
        """
        self.requires_grad_(True)
        super().make_generation_fast_(**options)

    def forward(
        self,
        src_tokens: Tensor,  # [B, S]
        src_lengths: Tensor,  # [B]
        prev_output_tokens: Tensor,  # [B, T]
        features_only: bool = False,
        source_of_row: Optional[Tensor] = None,  # [B] into the sources; None: one source a row
        values_at: Optional[Tensor] = None,  # bool [B, T]; None: all are read
    ) -> tuple[Tensor, dict[str, Any]]:
        """Logits [B, T, V] (or features [B, T, C]) and extras, among them the value [B, T]."""
        tokens = prev_output_tokens
        with torch.set_grad_enabled(torch.is_grad_enabled() and not self.policy_is_frozen):
            encoder_out = of_rows = self.encoder(src_tokens, src_lengths=src_lengths)
            if source_of_row is None:
                source_of_row = torch.arange(len(tokens), device=tokens.device)
            else:
                of_rows = self.encoder.reorder_encoder_out(encoder_out, source_of_row)
            features, extra = self.decoder.extract_features(tokens, encoder_out=of_rows)
            output = features if features_only else self.decoder.output_layer(features)
        values = read_values(self, features, tokens, encoder_out, source_of_row, values_at)
        return output, {**extra, "features": features, **values}


def _make_head(cfg: PolicyWithValueConfig, policy: Any) -> ValueHead:
    """The head that the options name, for the widths of this policy."""
    width = _feature_size(policy.decoder)
    if str(cfg.value_head) == "plain":
        return TowerValueHead(width, layers=cfg.value_tower_layers, **bucket_options(cfg))
    if cfg.value_tower_layers:
        raise ValueError("--value-tower-layers: only with --value-head plain")
    encoder_layers = getattr(policy.encoder, "layers", None)
    if not encoder_layers or not hasattr(policy.decoder, "embed_tokens"):
        raise ValueError(
            f"--value-head comparing needs a transformer, not {type(policy.encoder).__name__}; "
            "use --value-head plain"
        )
    return ComparingValueHead(
        width,
        token_dim=policy.decoder.embed_tokens.embedding_dim,
        source_dim=_state_size(policy.encoder),
        sizes=Sizes(width=min(Sizes.width, width)),  # no wider than a small policy
        dropout=cfg.value_dropout,
        **bucket_options(cfg),
    )


def _state_size(encoder: Any) -> int:
    """Width of a transformer encoder's states."""
    return int(encoder.layers[-1].final_layer_norm.normalized_shape[0])


def _feature_size(decoder: Any) -> int:
    """Width of what the decoder's output layer reads."""
    size = getattr(decoder, "output_embed_dim", None)
    return int(size if size is not None else decoder.layer_norm.normalized_shape[0])


def _as_plain(model: Any) -> dict[str, Any]:
    """A model's saved options as JSON can hold them."""
    options = OmegaConf.to_container(model) if isinstance(model, DictConfig) else vars(model)
    simple = (str, int, float, bool, type(None), list, dict)
    return {name: value for name, value in options.items() if isinstance(value, simple)}
