#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes the convolution shapes that benchmarks/convs measures: convs.txt.

usage: convs.py [--check]

The shapes of ResNet-50, VGG-16, MobileNetV2 and DenseNet-121 come from the
builders in models/. The others are written down here from what was published:

  EfficientNet-B0  Tan and Le, "EfficientNet", ICML 2019, table 1; 224 x 224.
                   Without the squeeze-and-excitation layers, which are fully
                   connected ones on one pixel.
  Inception-v3     Szegedy et al., "Rethinking the Inception Architecture",
                   CVPR 2016, as torchvision builds it; 299 x 299.
  YOLOv3           Redmon and Farhadi, "YOLOv3", 2018: Darknet-53 and its three
                   heads; 416 x 416.
  YOLOv5s          Ultralytics, yolov5s.yaml of release 6.0; 640 x 640.
  RetinaNet        Lin et al., "Focal Loss", ICCV 2017, on ResNet-50-FPN;
                   640 x 640 as in TensorFlow's detection zoo.
  Mask R-CNN       He et al., ICCV 2017, on ResNet-50-FPN; 800 x 1344. Its
                   heads run on regions: batch 16 stands for 16 of them.
  ResNeXt-50       Xie et al., CVPR 2017, 32x4d; 224 x 224. The grouped layers.
  RegNet           Radosavovic et al., CVPR 2020, as torchvision builds X-200MF,
                   X-400MF and Y-1.6GF; 224 x 224. The grouped layers.

Activations are what can be fused everywhere: relu, relu6, leaky (0.1), none.
SiLU counts as none, because its exponential would be measured and not the
convolution.
"""

from __future__ import annotations

import importlib
import sys
from dataclasses import dataclass, replace
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
LIST = HERE / "convs.txt"
sys.path.insert(0, str(ROOT / "models"))

import onnx  # noqa: E402

HEADER = """\
# Convolutions of published networks; written by convs.py, which says whose.
# N C H W: input; K R S: output channels and kernel; then strides, padding (top
# left bottom right), dilations, groups, activation, and the layers that pose it.
# N C H W K R S sh sw pt pl pb pr dh dw G activation layers
"""

BUILT = ("resnet50", "vgg16", "mobilenetv2", "densenet121")
ACTIVATIONS = {"Relu": "relu", "Clip": "relu6"}

# DenseNet's 1x1 layers differ by 32 channels from one to the next.
DENSENET_STEP = 3

# Batch 16: these networks, of which every so manieth shape is taken.
BATCHES = (("resnet50", 2), ("mobilenetv2", 3), ("efficientnet-b0", 4),
           ("densenet121", 6), ("inception-v3", 6), ("yolov5s", 6))
MAX_BATCH_GFLOP = 0.5


@dataclass(frozen=True)
class Conv:
    """One shape; padding is top, left, bottom, right."""

    n: int
    c: int
    h: int
    w: int
    k: int
    r: int
    s: int
    strides: tuple[int, int] = (1, 1)
    pads: tuple[int, int, int, int] = (0, 0, 0, 0)
    dilations: tuple[int, int] = (1, 1)
    groups: int = 1
    activation: str = "none"

    @property
    def output(self) -> tuple[int, int]:
        top, left, bottom, right = self.pads
        return (
            (self.h + top + bottom - self.dilations[0] * (self.r - 1) - 1)
            // self.strides[0] + 1,
            (self.w + left + right - self.dilations[1] * (self.s - 1) - 1)
            // self.strides[1] + 1,
        )

    @property
    def gflop(self) -> float:
        height, width = self.output
        taps = self.c // self.groups * self.r * self.s
        return 2e-9 * self.n * self.k * height * width * taps

    def __str__(self) -> str:
        numbers = (
            self.n, self.c, self.h, self.w, self.k, self.r, self.s,
            *self.strides, *self.pads, *self.dilations, self.groups,
        )
        return " ".join(map(str, numbers)) + f" {self.activation}"


class Network:
    """Collects the convolutions of one network in order."""

    def __init__(self, name: str, activation: str) -> None:
        self.name = name
        self.activation = activation
        self.layers: list[tuple[str, Conv]] = []

    def conv(
        self, layer: str, c: int, k: int, size: int | tuple[int, int],
        kernel: int | tuple[int, int] = 1, stride: int = 1,
        pad: int | tuple[int, int] | None = None, groups: int = 1,
        activation: str | None = None, batch: int = 1,
    ) -> None:
        """Adds a layer; padding keeps the size unless it is given."""
        h, w = (size, size) if isinstance(size, int) else size
        r, s = (kernel, kernel) if isinstance(kernel, int) else kernel
        if pad is None:
            pad = (r // 2, s // 2)
        elif isinstance(pad, int):
            pad = (pad, pad)
        shape = Conv(
            batch, c, h, w, k, r, s, (stride, stride), (*pad, *pad), (1, 1), groups,
            self.activation if activation is None else activation,
        )
        self.layers.append((f"{self.name}/{layer}", shape))


# From our builders


def follow(graph: onnx.GraphProto, name: str) -> str:
    """The activation of the convolution that gives `name`."""
    users = [node for node in graph.node if name in node.input]
    if len(users) == 1 and users[0].op_type == "BatchNormalization":
        return follow(graph, users[0].output[0])
    if len(users) == 1:
        return ACTIVATIONS.get(users[0].op_type, "none")
    return "none"


def built(name: str) -> Network:
    """The convolutions of one of our models."""
    model = importlib.import_module(name).build(1)
    weights = {tensor.name: tensor.dims for tensor in model.graph.initializer}
    # Shapes need no values, which take long to copy.
    for tensor in model.graph.initializer:
        if len(tensor.dims) > 1:
            tensor.ClearField("raw_data")
    graph = onnx.shape_inference.infer_shapes(model).graph
    shapes = {
        value.name: [dim.dim_value for dim in value.type.tensor_type.shape.dim]
        for value in (*graph.input, *graph.value_info)
    }
    network = Network(name, "")
    for node in graph.node:
        if node.op_type != "Conv":
            continue
        attributes = {a.name: onnx.helper.get_attribute_value(a) for a in node.attribute}
        n, c, h, w = shapes[node.input[0]]
        k, _, r, s = weights[node.input[1]]
        shape = Conv(
            n, c, h, w, k, r, s, tuple(attributes["strides"]),
            tuple(attributes["pads"]), tuple(attributes["dilations"]),
            attributes["group"], follow(graph, node.output[0]),
        )
        network.layers.append((f"{name}/{node.name}", shape))
    if name == "densenet121":
        pointwise = [entry for entry in network.layers if entry[1].r == 1]
        kept = pointwise[::DENSENET_STEP]
        network.layers = [e for e in network.layers if e[1].r > 1 or e in kept]
    return network


# From papers


def efficientnet() -> Network:
    net = Network("efficientnet-b0", "none")
    net.conv("stem", 3, 32, 224, 3, 2)
    channels, size = 32, 112
    stages = ((1, 16, 1, 1, 3), (6, 24, 2, 2, 3), (6, 40, 2, 2, 5), (6, 80, 3, 2, 3),
              (6, 112, 3, 1, 5), (6, 192, 4, 2, 5), (6, 320, 1, 1, 3))
    for number, (expansion, out, blocks, first_stride, kernel) in enumerate(stages, 2):
        for block in range(blocks):
            stride = first_stride if block == 0 else 1
            hidden = expansion * channels
            layer = f"stage{number}.{block}"
            if expansion > 1:
                net.conv(f"{layer}.expand", channels, hidden, size)
            net.conv(f"{layer}.depthwise", hidden, hidden, size, kernel, stride,
                     groups=hidden)
            size //= stride
            net.conv(f"{layer}.project", hidden, out, size)
            channels = out
    net.conv("head", 320, 1280, size)
    return net


def inception() -> Network:
    net = Network("inception-v3", "relu")
    net.conv("1a", 3, 32, 299, 3, 2, 0)
    net.conv("2a", 32, 32, 149, 3, 1, 0)
    net.conv("2b", 32, 64, 147, 3)
    net.conv("3b", 64, 80, 73)
    net.conv("4a", 80, 192, 73, 3, 1, 0)
    for layer, c, pool in (("5b", 192, 32), ("5c", 256, 64), ("5d", 288, 64)):
        net.conv(f"{layer}.1x1", c, 64, 35)
        net.conv(f"{layer}.5x5_1", c, 48, 35)
        net.conv(f"{layer}.5x5_2", 48, 64, 35, 5)
        net.conv(f"{layer}.3x3_2", 64, 96, 35, 3)
        net.conv(f"{layer}.3x3_3", 96, 96, 35, 3)
        net.conv(f"{layer}.pool", c, pool, 35)
    net.conv("6a.3x3", 288, 384, 35, 3, 2, 0)
    net.conv("6a.3x3_3", 96, 96, 35, 3, 2, 0)
    for layer, mid in (("6b", 128), ("6c", 160), ("6e", 192)):
        net.conv(f"{layer}.1x1", 768, 192, 17)
        net.conv(f"{layer}.7x7_1", 768, mid, 17)
        net.conv(f"{layer}.7x7_2", mid, mid, 17, (1, 7))
        net.conv(f"{layer}.7x7_3", mid, 192, 17, (7, 1))
        net.conv(f"{layer}.7x7dbl_2", mid, mid, 17, (7, 1))
        net.conv(f"{layer}.7x7dbl_5", mid, 192, 17, (1, 7))
    net.conv("7a.3x3_2", 192, 320, 17, 3, 2, 0)
    net.conv("7a.7x7x3_4", 192, 192, 17, 3, 2, 0)
    for layer, c in (("7b", 1280), ("7c", 2048)):
        net.conv(f"{layer}.1x1", c, 320, 8)
        net.conv(f"{layer}.3x3_1", c, 384, 8)
        net.conv(f"{layer}.3x3_2a", 384, 384, 8, (1, 3))
        net.conv(f"{layer}.3x3_2b", 384, 384, 8, (3, 1))
        net.conv(f"{layer}.3x3dbl_1", c, 448, 8)
        net.conv(f"{layer}.3x3dbl_2", 448, 384, 8, 3)
        net.conv(f"{layer}.pool", c, 192, 8)
    return net


def yolov3() -> Network:
    net = Network("yolov3", "leaky")
    net.conv("0", 3, 32, 416, 3)
    size, channels = 416, 32
    for blocks in (1, 2, 8, 8, 4):
        layer = f"darknet{2 * channels}"
        net.conv(f"{layer}.down", channels, 2 * channels, size, 3, 2)
        size, channels = size // 2, 2 * channels
        for _ in range(blocks):
            net.conv(f"{layer}.1x1", channels, channels // 2, size)
            net.conv(f"{layer}.3x3", channels // 2, channels, size, 3)
    for size, joined, channels in ((13, 1024, 512), (26, 768, 256), (52, 384, 128)):
        net.conv(f"head{size}.1x1", joined, channels, size)
        net.conv(f"head{size}.again", 2 * channels, channels, size)
        net.conv(f"head{size}.3x3", channels, 2 * channels, size, 3)
        net.conv(f"head{size}.detect", 2 * channels, 255, size, activation="none")
        if size < 52:
            net.conv(f"head{size}.up", channels, channels // 2, size)
    return net


def yolov5s() -> Network:
    net = Network("yolov5s", "none")

    def c3(layer: str, c: int, k: int, size: int) -> None:
        net.conv(f"{layer}.cv1", c, k // 2, size)
        net.conv(f"{layer}.m.cv1", k // 2, k // 2, size)
        net.conv(f"{layer}.m.cv2", k // 2, k // 2, size, 3)
        net.conv(f"{layer}.cv3", k, k, size)

    net.conv("0", 3, 32, 640, 6, 2, 2)
    channels, size = 32, 320
    for layer in (1, 3, 5, 7):
        net.conv(str(layer), channels, 2 * channels, size, 3, 2)
        channels, size = 2 * channels, size // 2
        c3(str(layer + 1), channels, channels, size)
    net.conv("9.cv1", 512, 256, 20)
    net.conv("9.cv2", 1024, 512, 20)
    c3("13", 512, 256, 40)
    net.conv("14", 256, 128, 40)
    c3("17", 256, 128, 80)
    net.conv("18", 128, 128, 80, 3, 2)
    net.conv("21", 256, 256, 40, 3, 2)
    for channels, size in ((128, 80), (256, 40), (512, 20)):
        net.conv(f"24.{size}", channels, 255, size)
    return net


def resnet50_stages(net: Network, height: int, width: int) -> None:
    """The distinct layers of ResNet-50 behind the stem."""
    h, w, channels = height // 4, width // 4, 64
    for number, mid in enumerate((64, 128, 256, 512), 1):
        stride = 1 if number == 1 else 2
        layer = f"res{number + 1}"
        net.conv(f"{layer}.first", channels, mid, (h, w))
        if stride == 2:
            net.conv(f"{layer}.down", mid, mid, (h, w), 3, 2)
            net.conv(f"{layer}.shortcut", channels, 4 * mid, (h, w), 1, 2,
                     activation="none")
            h, w = -(-h // 2), -(-w // 2)
        net.conv(f"{layer}.1x1", 4 * mid, mid, (h, w))
        net.conv(f"{layer}.3x3", mid, mid, (h, w), 3)
        net.conv(f"{layer}.widen", mid, 4 * mid, (h, w), activation="none")
        channels = 4 * mid


def retinanet() -> Network:
    net = Network("retinanet", "relu")
    net.conv("stem", 3, 64, 640, 7, 2, 3)
    resnet50_stages(net, 640, 640)
    for channels, size in ((512, 80), (1024, 40), (2048, 20)):
        net.conv(f"lateral{size}", channels, 256, size, activation="none")
        net.conv(f"output{size}", 256, 256, size, 3, activation="none")
    net.conv("p6", 256, 256, 20, 3, 2, activation="none")
    net.conv("p7", 256, 256, 10, 3, 2, activation="none")
    for size in (80, 40, 20, 10, 5):
        net.conv(f"head{size}", 256, 256, size, 3)
        if size in (40, 10):
            net.conv(f"classes{size}", 256, 720, size, 3, activation="none")
            net.conv(f"boxes{size}", 256, 36, size, 3, activation="none")
    return net


def mask_rcnn() -> Network:
    net = Network("mask-rcnn", "relu")
    net.conv("stem", 3, 64, (800, 1344), 7, 2, 3)
    net.conv("res2.3x3", 64, 64, (200, 336), 3)
    net.conv("res3.3x3", 128, 128, (100, 168), 3)
    net.conv("res4.1x1", 1024, 256, (50, 84))
    net.conv("res5.3x3", 512, 512, (25, 42), 3)
    for channels, h, w in ((512, 100, 168), (1024, 50, 84), (2048, 25, 42)):
        net.conv(f"lateral{h}", channels, 256, (h, w), activation="none")
    for h, w in ((50, 84), (25, 42), (13, 21)):
        net.conv(f"rpn{h}", 256, 256, (h, w), 3)
    net.conv("rpn50.objects", 256, 3, (50, 84), activation="none")
    net.conv("rpn50.boxes", 256, 12, (50, 84), activation="none")
    net.conv("mask", 256, 256, 14, 3, batch=16)
    net.conv("mask.classes", 256, 91, 28, activation="none", batch=16)
    return net


# Stages: output channels. The first grouped layer of each halves the image,
# in ResNeXt from the second stage on.
GROUPED = {
    "resnext50": (None, (128, 256, 512, 1024)),
    "regnetx-200mf": (8, (24, 56, 152, 368)),
    "regnetx-400mf": (16, (32, 64, 160, 400)),
    "regnety-1.6gf": (24, (48, 120, 336, 888)),
}


def grouped(name: str) -> Network:
    """The 3x3 layers of a network whose groups have `width` channels, or 32
    groups."""
    width, stages = GROUPED[name]
    net = Network(name, "relu")
    size = 112 if width else 56
    for number, channels in enumerate(stages, 1):
        groups = channels // width if width else 32
        layer = f"stage{number}"
        if width or number > 1:
            net.conv(f"{layer}.down", channels, channels, size, 3, 2, groups=groups)
            size //= 2
        net.conv(f"{layer}.3x3", channels, channels, size, 3, groups=groups)
    return net


# The list


def add(shapes: dict[Conv, list[str]], layers: list[tuple[str, Conv]]) -> None:
    """Adds layers; of one network, the first that poses a shape counts."""
    for name, shape in layers:
        posed = shapes.setdefault(shape, [])
        if name.split("/")[0] not in (other.split("/")[0] for other in posed):
            posed.append(name)


def batched(network: Network, step: int) -> list[tuple[str, Conv]]:
    """Every `step`th distinct shape that is not too large, with batch 16."""
    distinct: dict[Conv, list[str]] = {}
    add(distinct, network.layers)
    small = [
        (names[0], replace(shape, n=16))
        for shape, names in distinct.items()
        if shape.gflop <= MAX_BATCH_GFLOP
    ]
    return small[::step]


def text() -> str:
    """The content of convs.txt."""
    networks = [built(name) for name in BUILT]
    networks += [efficientnet(), inception(), yolov3(), yolov5s(), retinanet(),
                 mask_rcnn(), *map(grouped, GROUPED)]
    shapes: dict[Conv, list[str]] = {}
    for network in networks:
        add(shapes, network.layers)
    by_name = {network.name: network for network in networks}
    for name, step in BATCHES:
        add(shapes, batched(by_name[name], step))
    lines = [f"{shape} {','.join(layers)}" for shape, layers in shapes.items()]
    return HEADER + "\n".join(lines) + "\n"


def main() -> int:
    if sys.argv[1:] == ["--check"]:
        if LIST.read_text() == text():
            return 0
        print("convs.txt is not what convs.py writes", file=sys.stderr)
        return 1
    if sys.argv[1:]:
        print(__doc__)
        return 2
    LIST.write_text(text())
    return 0


if __name__ == "__main__":
    sys.exit(main())
