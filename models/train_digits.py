#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Trains the networks of models/trained on scikit-learn's digits.

usage: scripts/train-digits [NAME...]

Writes models/trained/NAME.onnx for each network (cnn, separable, mlp) and
models/trained/digits.npz, which has the images that no network was trained on: those
for the tuner and those that are held out, 8 x 8 pixels from 0 to 16, with their classes.
digits.py makes inputs of them. Everything follows from seeds; another version of
PyTorch, or another CPU, trains other weights.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy
import onnx
import sklearn.datasets
import torch
from onnx import TensorProto, helper, numpy_helper
from torch import nn

import digits

SEED = 22
EPOCHS = {"cnn": 12, "separable": 12, "mlp": 40}
BATCH = 32


def split() -> dict[str, tuple[numpy.ndarray, numpy.ndarray]]:
    """The images and classes of each part, every part with its share of each class."""
    data = sklearn.datasets.load_digits()
    images = data.images.astype(numpy.uint8)
    order = numpy.random.default_rng(SEED).permutation(len(images))
    # A stable sort by class, dealt out in turn, is a stratified split.
    order = order[numpy.argsort(data.target[order], kind="stable")]
    place = numpy.arange(len(order)) * digits.TUNE // len(order)
    is_tune = numpy.diff(place, prepend=-1) > 0
    rest = order[~is_tune]
    place = numpy.arange(len(rest)) * digits.HELD_OUT // len(rest)
    is_held_out = numpy.diff(place, prepend=-1) > 0
    parts = {"tune": order[is_tune], "held_out": rest[is_held_out], "train": rest[~is_held_out]}
    return {name: (images[part], data.target[part]) for name, part in parts.items()}


# ===------------------------------------------------------------------------------------------===
# Networks
# ===------------------------------------------------------------------------------------------===


def conv(inputs: int, outputs: int, kernel: int = 3, stride: int = 1, groups: int = 1) -> nn.Sequential:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, groups=groups, bias=False),
        nn.BatchNorm2d(outputs),
    )


class Residual(nn.Module):
    """A depthwise convolution between two pointwise ones, as in MobileNetV2."""

    def __init__(self, channels: int, hidden: int) -> None:
        super().__init__()
        self.expand = conv(channels, hidden, 1)
        self.depthwise = conv(hidden, hidden, 3, groups=hidden)
        self.project = conv(hidden, channels, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return x + self.project(torch.relu(self.depthwise(torch.relu(self.expand(x)))))


def make_cnn() -> nn.Sequential:
    return nn.Sequential(
        conv(1, 64), nn.ReLU(), conv(64, 64), nn.ReLU(), nn.MaxPool2d(2),
        conv(64, 96), nn.ReLU(), conv(96, 96), nn.ReLU(), nn.AdaptiveAvgPool2d(1),
        nn.Flatten(), nn.Linear(96, 10),
    )


def make_separable() -> nn.Sequential:
    return nn.Sequential(
        conv(1, 64), nn.ReLU(), Residual(64, 192), Residual(64, 192), conv(64, 96, 3, 2), nn.ReLU(),
        Residual(96, 288), Residual(96, 288), nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(96, 10),
    )


def make_mlp() -> nn.Sequential:
    return nn.Sequential(
        nn.Flatten(), nn.Linear(64, 288), nn.ReLU(), nn.Linear(288, 288), nn.ReLU(),
        nn.Linear(288, 288), nn.ReLU(), nn.Linear(288, 10),
    )


NETWORKS = {"cnn": make_cnn, "separable": make_separable, "mlp": make_mlp}


# ===------------------------------------------------------------------------------------------===
# Training
# ===------------------------------------------------------------------------------------------===


def augment(images: torch.Tensor) -> torch.Tensor:
    """Moves images by up to an eighth of their size, and adds noise."""
    most = images.shape[-1] // 8
    x, y = torch.randint(-most, most + 1, (2,)).tolist()
    return torch.roll(images, (x, y), (2, 3)) + 0.1 * torch.randn_like(images)


def train(network: nn.Sequential, images: torch.Tensor, classes: torch.Tensor, epochs: int) -> None:
    optimiser = torch.optim.AdamW(network.parameters(), lr=2e-3, weight_decay=1e-2)
    steps = epochs * (len(images) // BATCH)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimiser, 4e-3, total_steps=steps)
    network.train()
    for _ in range(epochs):
        order = torch.randperm(len(images))
        for part in order.split(BATCH)[: len(images) // BATCH]:
            loss = nn.functional.cross_entropy(
                network(augment(images[part])), classes[part], label_smoothing=0.05
            )
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            schedule.step()
    network.eval()


def count_right(network: nn.Sequential, images: torch.Tensor, classes: torch.Tensor) -> float:
    with torch.no_grad():
        return (network(images).argmax(1) == classes).double().mean().item()


# ===------------------------------------------------------------------------------------------===
# Export
# ===------------------------------------------------------------------------------------------===


class Exporter:
    """Makes an ONNX graph of a trained network, with batch norms folded into convolutions."""

    def __init__(self) -> None:
        self.nodes: list[onnx.NodeProto] = []
        self.constants: list[onnx.TensorProto] = []

    def add(self, op: str, *inputs: str, **attributes: object) -> str:
        name = f"{op.lower()}_{len(self.nodes)}"
        self.nodes.append(helper.make_node(op, inputs, [name], name, **attributes))
        return name

    def constant(self, values: torch.Tensor) -> str:
        name = f"constant_{len(self.constants)}"
        self.constants.append(numpy_helper.from_array(values.detach().numpy().astype("f4"), name))
        return name

    def conv(self, pair: nn.Sequential, value: str) -> str:
        layer, norm = pair
        scale = norm.weight / torch.sqrt(norm.running_var + norm.eps)
        return self.add(
            "Conv", value,
            self.constant(layer.weight * scale[:, None, None, None]),
            self.constant(norm.bias - norm.running_mean * scale),
            kernel_shape=layer.kernel_size, strides=layer.stride, group=layer.groups,
            pads=[layer.padding[0]] * 4,
        )

    def residual(self, block: Residual, value: str) -> str:
        inner = self.add("Relu", self.conv(block.expand, value))
        inner = self.add("Relu", self.conv(block.depthwise, inner))
        return self.add("Add", self.conv(block.project, inner), value)

    def module(self, layer: nn.Module, value: str) -> str:
        if isinstance(layer, nn.Sequential):
            return self.conv(layer, value)
        if isinstance(layer, Residual):
            return self.residual(layer, value)
        if isinstance(layer, nn.ReLU):
            return self.add("Relu", value)
        if isinstance(layer, nn.MaxPool2d):
            return self.add("MaxPool", value, kernel_shape=[2, 2], strides=[2, 2])
        if isinstance(layer, nn.AdaptiveAvgPool2d):
            return self.add("GlobalAveragePool", value)
        if isinstance(layer, nn.Flatten):
            return self.add("Flatten", value)
        assert isinstance(layer, nn.Linear)
        return self.add(
            "Gemm", value, self.constant(layer.weight), self.constant(layer.bias), transB=1
        )

    def export(self, name: str, network: nn.Sequential, shape: tuple[int, ...]) -> onnx.ModelProto:
        value = "image"
        for layer in network:
            value = self.module(layer, value)
        self.nodes[-1].output[0] = "logits"
        graph = helper.make_graph(
            self.nodes, name,
            [helper.make_tensor_value_info("image", TensorProto.FLOAT, shape)],
            [helper.make_tensor_value_info("logits", TensorProto.FLOAT, (shape[0], 10))],
            self.constants,
        )
        return helper.make_model(
            graph, ir_version=8, opset_imports=[helper.make_opsetid("", 13)], producer_name="train_digits.py"
        )


def make(name: str, parts: dict[str, tuple[numpy.ndarray, numpy.ndarray]]) -> None:
    torch.manual_seed(SEED)
    network = NETWORKS[name]()
    data = {
        part: (torch.from_numpy(digits.prepare(name, images)), torch.from_numpy(classes))
        for part, (images, classes) in parts.items()
    }
    train(network, *data["train"], EPOCHS[name])
    path = digits.FOLDER / f"{name}.onnx"
    shape = (digits.BATCH[name], *data["tune"][0].shape[1:])
    onnx.save(Exporter().export(name, network, shape), path)
    rates = ", ".join(f"{part} {count_right(network, *data[part]):.4f}" for part in parts)
    print(f"{path}: {path.stat().st_size / 1e3:.0f} kB, top-1 of {rates}", flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description="Trains networks on scikit-learn's digits.")
    parser.add_argument("names", nargs="*", choices=[[], *NETWORKS], metavar="NAME", help=", ".join(NETWORKS))
    names = parser.parse_args().names or list(NETWORKS)
    torch.use_deterministic_algorithms(True)
    torch.set_num_threads(2)
    digits.FOLDER.mkdir(exist_ok=True)
    parts = split()
    numpy.savez_compressed(
        digits.FOLDER / "digits.npz",
        **{f"{part}_images": parts[part][0] for part in ("tune", "held_out")},
        **{f"{part}_classes": parts[part][1].astype(numpy.uint8) for part in ("tune", "held_out")},
    )
    for name in names:
        make(name, parts)
    return 0


if __name__ == "__main__":
    sys.exit(main())
