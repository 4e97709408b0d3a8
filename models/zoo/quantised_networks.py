# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Networks in full size that three quantisers have quantised. The benchmarks
measure these, too."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from library_networks import from_timm, from_torchvision, make_bert
from network import Input, in_family

TOKENS = {"inputs": (Input("input_ids", (1, 128), "int64", high=30522),)}

# What calm() multiplies weights by.
WEIGHTS_LEFT = 0.5


def torchvision(name: str) -> partial[Any]:
    return partial(from_torchvision, name)


def pooled(name: str) -> partial[Any]:
    """A vision transformer that classifies by the mean of its tokens: one token that is
    quantised has too few numbers for its rounding errors to even out."""
    return partial(from_timm, name, global_pool="avg")


def calm(make: Callable[[], Any]) -> Callable[[], Any]:
    """A transformer whose blocks add less to what passes by them.

    What is rounded to a neighbouring step in one block moves others across a step in
    the next one. With the libraries' random weights, two ways to compute BERT that are
    both right end 5 % apart, as far as each is from the network in fp32.
    """

    def make_calm() -> Any:
        import torch

        module = make()
        with torch.no_grad():
            for layer in module.modules():
                if isinstance(layer, torch.nn.Linear):
                    layer.weight.mul_(WEIGHTS_LEFT)
        return module

    return make_calm


QUANTISED_NETWORKS = in_family(
    "quantised in full size",
    *(
        (f"{name}_{quantised.replace(' ', '_')}", make, {**fields, "quantised": quantised})
        for name, make, quantised, fields in (
            ("resnet50", torchvision("resnet50"), "qdq", {}),
            ("efficientnet_b0", torchvision("efficientnet_b0"), "qdq", {}),
            ("squeezenet", torchvision("squeezenet1_1"), "operators", {}),
            ("mobilenet_v2", torchvision("mobilenet_v2"), "own operators", {}),
            ("bert_base", calm(make_bert), "dynamic", TOKENS),
            ("mobilenet_v3_large", torchvision("mobilenet_v3_large"), "nncf", {}),
            ("regnet_y_800mf", torchvision("regnet_y_800mf"), "nncf", {}),
            ("bert_base", calm(make_bert), "nncf", TOKENS),
            ("vit_base", calm(pooled("vit_base_patch16_224")), "nncf", {}),
            ("resnet18", torchvision("resnet18"), "pt2e", {}),
            ("shufflenet_v2", torchvision("shufflenet_v2_x1_0"), "pt2e", {}),
            ("deit_small", calm(pooled("deit_small_patch16_224")), "pt2e", {}),
            ("swin_t", calm(torchvision("swin_t")), "pt2e", {}),
        )
    ),
)
