# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Convolutions that the GPUs' static model was not fitted to."""

from __future__ import annotations

import peers

# How many of each network, the largest first, at each batch.
LAYERS = {"inception-v3": 10, "densenet121": 5, "yolov3": 5, "retinanet": 3}
BATCHES = (1, 16)
# The model's constants were fitted to convolutions of these, which are left out.
FITTED = ("resnet50", "mobilenetv2", "vgg16")
# The host compares each result with another: that of a larger tensor takes it longer than the
# GPU.
MOST_ELEMENTS = 8 << 20


def pick(layers: list[peers.Layer], count: int) -> list[peers.Layer]:
    """As many of them, from the largest to the smallest."""
    return [layers[i * len(layers) // count] for i in range(min(count, len(layers)))]


def is_small(layer: peers.Layer) -> bool:
    height, width = layer.compute_output()
    elements = max(layer.channels * layer.height * layer.width, layer.filters * height * width)
    return max(BATCHES) * elements <= MOST_ELEMENTS


def list_keys() -> list[str]:
    """The keys of the problems, in fp16."""
    fitted = {layer.get_key(1) for name in FITTED for layer in peers.read_layers(name)}
    keys = []
    for network, count in LAYERS.items():
        layers = [
            layer
            for layer in peers.read_layers(network)
            if layer.groups == 1 and is_small(layer) and layer.get_key(1) not in fitted
        ]
        keys += [layer.get_key(batch) for layer in pick(layers, count) for batch in BATCHES]
    return keys
