# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Modules of PyTorch's libraries, with random weights."""

from __future__ import annotations

from typing import Any

from network import adapt


def from_torchvision(name: str, **arguments: Any) -> Any:
    from torchvision import models

    return models.get_model(name, weights=None, **arguments)


def from_timm(name: str, **arguments: Any) -> Any:
    import timm

    return timm.create_model(name, pretrained=False, **arguments)


def from_smp(name: str, encoder: str = "resnet18", **arguments: Any) -> Any:
    import segmentation_models_pytorch as smp

    return getattr(smp, name)(encoder, encoder_weights=None, classes=5, **arguments)


def make_inception() -> Any:
    # The initialisation of the paper takes minutes, the usual one a second.
    return from_torchvision("inception_v3", aux_logits=False, init_weights=False)


def make_deeplab() -> Any:
    arguments: dict[str, Any] = {"weights_backbone": None, "aux_loss": False}
    return adapt(from_torchvision("deeplabv3_resnet50", **arguments), (), ("out",))


def make_segformer() -> Any:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    return adapt(SegformerForSemanticSegmentation(SegformerConfig()), (), ("logits",))


def make_bert() -> Any:
    from transformers import BertConfig, BertModel

    model = BertModel(BertConfig(), add_pooling_layer=False)
    return adapt(model, ("input_ids",), ("last_hidden_state",))


def make_whisper_encoder() -> Any:
    from transformers import WhisperConfig
    from transformers.models.whisper.modeling_whisper import WhisperEncoder

    base = WhisperConfig(
        d_model=512, encoder_layers=6, encoder_attention_heads=8, encoder_ffn_dim=2048
    )
    return adapt(WhisperEncoder(base), (), ("last_hidden_state",))


def make_unet() -> Any:
    import segmentation_models_pytorch

    return segmentation_models_pytorch.Unet("resnet34", encoder_weights=None, classes=21)
