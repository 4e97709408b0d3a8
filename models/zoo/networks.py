# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks that scripts/zoo exports from PyTorch's libraries.

Weights are random with a seed, so that nothing is downloaded and every machine
has the same network. This file imports no library by itself: its list can be
read where none is installed.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    import torch

# Images that set the statistics of batch normalisation. More than one, because
# a pooled map has one element a channel, which has no variance.
STATISTICS_IMAGES = 4


@dataclass(frozen=True)
class Network:
    """A network, the library that defines it, and the size of its images."""

    name: str
    make: Callable[[], Any]
    image: int = 224

    @property
    def shape(self) -> list[int]:
        return [1, 3, self.image, self.image]


def from_torchvision(name: str, **arguments: Any) -> Any:
    from torchvision import models

    return models.get_model(name, weights=None, **arguments)


def from_timm(name: str) -> Any:
    import timm

    return timm.create_model(name, pretrained=False)


def make_inception() -> Any:
    # The initialisation of the paper takes minutes, the usual one a second.
    return from_torchvision("inception_v3", aux_logits=False, init_weights=False)


def take_output(module: Any, name: str) -> Any:
    """A network that returns one of the tensors that `module` names."""
    import torch

    class Taken(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, x: torch.Tensor) -> torch.Tensor:
            return self.module(x)[name]

    return Taken()


def make_deeplab() -> Any:
    arguments: dict[str, Any] = {"weights_backbone": None, "aux_loss": False}
    return take_output(from_torchvision("deeplabv3_resnet50", **arguments), "out")


def make_segformer() -> Any:
    from transformers import SegformerConfig, SegformerForSemanticSegmentation

    return take_output(SegformerForSemanticSegmentation(SegformerConfig()), "logits")


def make_unet() -> Any:
    import segmentation_models_pytorch

    return segmentation_models_pytorch.Unet("resnet34", encoder_weights=None, classes=21)


NETWORKS = (
    Network("efficientnet_b0", partial(from_torchvision, "efficientnet_b0")),
    Network("efficientnet_v2_s", partial(from_torchvision, "efficientnet_v2_s")),
    Network("mobilenet_v3_large", partial(from_torchvision, "mobilenet_v3_large")),
    Network("mobilenetv4_small", partial(from_timm, "mobilenetv4_conv_small")),
    Network("shufflenet_v2", partial(from_torchvision, "shufflenet_v2_x1_0")),
    Network("regnet_y_800mf", partial(from_torchvision, "regnet_y_800mf")),
    Network("resnext50", partial(from_torchvision, "resnext50_32x4d")),
    Network("convnext_tiny", partial(from_torchvision, "convnext_tiny")),
    Network("inception_v3", make_inception, image=299),
    Network("dla34", partial(from_timm, "dla34")),
    Network("unet", make_unet, image=256),
    Network("deeplab_v3", make_deeplab),
    Network("segformer_b0", make_segformer, image=512),
    Network("vit_b_16", partial(from_torchvision, "vit_b_16")),
    Network("swin_t", partial(from_torchvision, "swin_t")),
    Network("mobilevit_s", partial(from_timm, "mobilevit_s"), image=256),
)


def find(name: str) -> Network:
    return next(network for network in NETWORKS if network.name == name)


def build(network: Network) -> torch.nn.Module:
    """The network with its seeded weights, ready for inference."""
    import torch

    torch.manual_seed(zlib.crc32(network.name.encode()))
    module = network.make()
    fill_zeros(module)
    set_statistics(module, network)
    return module.eval()


def fill_zeros(module: torch.nn.Module) -> None:
    """Gives random weights to products that start at zero, as a classifier's may,
    so that the output depends on the rest."""
    import torch

    for parameter in module.parameters():
        if parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)


def set_statistics(module: torch.nn.Module, network: Network) -> None:
    """Sets the statistics of batch normalisation to those of seeded images.

    With random weights, activations of a deep network would otherwise grow or
    vanish, and numbers that are too small for fp32's exponents are slow.
    """
    import torch

    norms = [m for m in module.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    if not norms:
        return
    for norm in norms:
        norm.momentum = 1.0
    module.train()
    with torch.no_grad():
        module(torch.randn([STATISTICS_IMAGES, *network.shape[1:]]))
