# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks that scripts/zoo exports from PyTorch's libraries: those that the
benchmarks measure, in full size, and the small ones of the other lists."""

from __future__ import annotations

from functools import partial

from library_networks import from_timm, from_torchvision, make_deeplab, make_inception
from library_networks import make_bert, make_segformer, make_unet, make_whisper_encoder
from network import Input, Network, build
from quantised_networks import QUANTISED_NETWORKS
from small_networks import SMALL_NETWORKS
from timm_networks import TIMM_NETWORKS
from torchvision_networks import TORCHVISION_NETWORKS
from transformers_networks import TRANSFORMERS_NETWORKS

__all__ = ["ALL", "NETWORKS", "QUANTISED_NETWORKS", "build", "find"]

CLASSIFIER, SEGMENTATION, TRANSFORMER = "classifier", "segmentation", "vision transformer"
TEXT_ENCODER, SPEECH = "text encoder", "speech"

# The benchmarks measure these.
NETWORKS = (
    Network("efficientnet_b0", CLASSIFIER, partial(from_torchvision, "efficientnet_b0")),
    Network("efficientnet_v2_s", CLASSIFIER, partial(from_torchvision, "efficientnet_v2_s")),
    Network("mobilenet_v3_large", CLASSIFIER, partial(from_torchvision, "mobilenet_v3_large")),
    Network("mobilenetv4_small", CLASSIFIER, partial(from_timm, "mobilenetv4_conv_small")),
    Network("shufflenet_v2", CLASSIFIER, partial(from_torchvision, "shufflenet_v2_x1_0")),
    Network("regnet_y_800mf", CLASSIFIER, partial(from_torchvision, "regnet_y_800mf")),
    Network("resnext50", CLASSIFIER, partial(from_torchvision, "resnext50_32x4d")),
    Network("convnext_tiny", CLASSIFIER, partial(from_torchvision, "convnext_tiny")),
    Network("inception_v3", CLASSIFIER, make_inception, image=299),
    Network("dla34", CLASSIFIER, partial(from_timm, "dla34")),
    Network("unet", SEGMENTATION, make_unet, image=256),
    Network("deeplab_v3", SEGMENTATION, make_deeplab),
    Network("segformer_b0", SEGMENTATION, make_segformer, image=512),
    Network("vit_b_16", TRANSFORMER, partial(from_torchvision, "vit_b_16")),
    Network("swin_t", TRANSFORMER, partial(from_torchvision, "swin_t")),
    Network("bert_base", TEXT_ENCODER, make_bert,
            inputs=(Input("input_ids", (1, 128), "int64", high=30522),)),
    Network("whisper_base_encoder", SPEECH, make_whisper_encoder,
            inputs=(Input("input", (1, 80, 3000)),)),
    Network("mobilevit_s", TRANSFORMER, partial(from_timm, "mobilevit_s"), image=256),
)

ALL = (
    *NETWORKS,
    *QUANTISED_NETWORKS,
    *TORCHVISION_NETWORKS,
    *TIMM_NETWORKS,
    *TRANSFORMERS_NETWORKS,
    *SMALL_NETWORKS,
)


def find(name: str) -> Network:
    return next(network for network in ALL if network.name == name)
