#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Measures what PyTorch reaches on this machine's GPU.

usage: peers.py OUT.json [--parts ceilings,layers,attention,cudnn,compile] [--networks ...]
                [--dtypes fp16,fp32,tf32] [--batches 1,64] [--limit SECONDS]

ceilings: a product of 8192 x 8192 matrices in fp16, and a copy of memory.
layers:   the convolutions of ResNet-50 in fp16 and nhwc, those of
          problems/convs.txt, with the fastest of cuDNN's algorithms.
attention: scaled_dot_product_attention in fp16, by FlashAttention and by cuDNN.
cudnn:    whole networks, channels last, with and without their batch
          normalisations folded into the convolutions, in a CUDA graph.
compile:  the same by torch.compile, max-autotune and frozen, in a CUDA graph.

TF32 is off but for the dtype tf32, which is fp32 with it. A figure is added to OUT.json when it is measured, and is not measured
again by a later run. Each network is compiled in a process of its own, which has
--limit seconds.
"""

from __future__ import annotations

import argparse
import functools
import json
import os
import statistics
import subprocess
import sys
import time
import traceback
from pathlib import Path
from typing import Any, Callable, NamedTuple, Sequence

HERE = Path(__file__).resolve().parent
CONVS = HERE.parent / "problems/convs.txt"

PARTS = ("ceilings", "layers", "attention", "cudnn", "compile")
# torchvision's name of each network of models/.
NETWORKS = {"resnet50": "resnet50", "mobilenetv2": "mobilenet_v2", "vgg16": "vgg16"}
# torch's name of each dtype's elements.
KINDS = {"fp16": "float16", "bf16": "bfloat16", "fp32": "float32", "tf32": "float32"}
IMAGE = (3, 224, 224)
LAYER_BATCH = 64
DEVICE = "cuda"

# Idle clocks are a fifth of the highest ones, which they reach in less than this.
WARM_UP_S = 0.3
MEASURE_S = 0.5
REPETITIONS = (20, 2000)
# A rotation over buffers of this many times the cache finds nothing in it.
CACHES = 2


class Results:
    """The figures by name, in a file that is whole at any time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.figures: dict[str, Any] = {}
        if path.exists():
            self.figures = json.loads(path.read_text())["figures"]

    def has(self, name: str) -> bool:
        return "median_ms" in self.figures.get(name, {})

    def add(self, name: str, figure: dict[str, Any]) -> None:
        self.figures[name] = figure
        text = json.dumps({"machine": describe_machine(), "figures": self.figures}, indent=1)
        scratch = self.path.with_suffix(".tmp")
        scratch.write_text(text + "\n")
        os.replace(scratch, self.path)
        shown = figure.get("error") or f"{figure['median_ms']:.4f} ms"
        rate = f", {figure['tflops']:.0f} TFLOP/s" if "tflops" in figure else ""
        print(f"{name}: {shown}{rate}", flush=True)


@functools.cache
def describe_machine() -> dict[str, Any]:
    import torch

    driver = subprocess.run(
        ["nvidia-smi", "--query-gpu=driver_version", "--format=csv,noheader"],
        capture_output=True, text=True, check=False,
    ) if torch.cuda.is_available() else None
    return {
        "gpu": torch.cuda.get_device_name() if torch.cuda.is_available() else "none",
        "driver": driver.stdout.strip() if driver else "none",
        "torch": torch.__version__,
        "cudnn": torch.backends.cudnn.version() or 0,
        "tf32": "for the dtype tf32 alone",
    }


def set_up() -> Any:
    import torch

    torch.backends.cudnn.benchmark = True
    torch.backends.cudnn.allow_tf32 = False
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.manual_seed(0)
    return torch


# Timing


def time_graph(torch: Any, run: Callable[[], Any], runs: int = 1) -> dict[str, Any]:
    """Captures `run` into a graph, and times its replays; `run` does the work `runs` times."""
    stream = torch.cuda.Stream()
    stream.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(stream):
        for _ in range(3):
            run()
    torch.cuda.current_stream().wait_stream(stream)
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        run()
    torch.cuda.synchronize()

    began, count = time.perf_counter(), 0
    while time.perf_counter() - began < WARM_UP_S:
        graph.replay()
        torch.cuda.synchronize()
        count += 1
    repetitions = round(MEASURE_S / WARM_UP_S * count)
    repetitions = min(max(repetitions, REPETITIONS[0]), REPETITIONS[1])
    events = [
        [torch.cuda.Event(enable_timing=True) for _ in range(2)] for _ in range(repetitions)
    ]
    for start, end in events:
        start.record()
        graph.replay()
        end.record()
    torch.cuda.synchronize()
    times = [start.elapsed_time(end) / runs for start, end in events]
    # Replays without events between them, whose launches overlap.
    burst = [torch.cuda.Event(enable_timing=True) for _ in range(2)]
    burst[0].record()
    for _ in range(repetitions):
        graph.replay()
    burst[1].record()
    torch.cuda.synchronize()
    return {
        "median_ms": statistics.median(times),
        "min_ms": min(times),
        "burst_ms": burst[0].elapsed_time(burst[1]) / repetitions / runs,
        "repetitions": repetitions,
        "runs_per_repetition": runs,
    }


def time_or_say(results: Results, name: str, measure: Callable[[], dict[str, Any]]) -> None:
    """Adds the figure of `measure`, or its error."""
    if results.has(name):
        return
    try:
        figure = measure()
    except Exception as error:  # pylint: disable=broad-except
        traceback.print_exc()
        figure = {"error": f"{type(error).__name__}: {str(error).splitlines()[0]}"}
    results.add(name, figure)


# Ceilings


def measure_matmul(torch: Any) -> dict[str, Any]:
    size = 8192
    a, b = (torch.randn(size, size, device=DEVICE, dtype=torch.float16) for _ in range(2))
    out = torch.empty_like(a)
    figure = time_graph(torch, lambda: torch.matmul(a, b, out=out))
    return {**figure, "tflops": 2 * size**3 / figure["median_ms"] / 1e9}


def measure_copy(torch: Any) -> dict[str, Any]:
    source = torch.randn(2**30, device=DEVICE)
    target = torch.empty_like(source)
    figure = time_graph(torch, lambda: target.copy_(source))
    moved = 2 * source.numel() * source.element_size()
    return {**figure, "gbps": moved / figure["median_ms"] / 1e6}


def measure_ceilings(torch: Any, results: Results) -> None:
    time_or_say(results, "matmul fp16 8192", lambda: measure_matmul(torch))
    time_or_say(results, "copy", lambda: measure_copy(torch))


# Single layers


class Layer:
    """A convolution, from a line of convs.txt."""

    def __init__(self, line: str) -> None:
        fields = line.split()
        numbers = [int(field) for field in fields[:16]]
        _, self.channels, self.height, self.width, self.filters = numbers[:5]
        self.kernel, self.strides = tuple(numbers[5:7]), tuple(numbers[7:9])
        self.pads = tuple(numbers[9:11])
        # PyTorch's convolutions are padded equally on both sides.
        self.symmetric = numbers[9:11] == numbers[11:13]
        self.dilations, self.groups = tuple(numbers[13:15]), numbers[15]
        self.layers = fields[17].split(",")

    def get_name(self, network: str) -> str:
        return next(layer for layer in self.layers if layer.startswith(f"{network}/"))

    def compute_output(self) -> tuple[int, ...]:
        sizes = zip((self.height, self.width), self.kernel, self.strides, self.pads, self.dilations)
        return tuple(
            (size + 2 * pad - dilation * (kernel - 1) - 1) // stride + 1
            for size, kernel, stride, pad, dilation in sizes
        )

    def count_flops(self, batch: int) -> int:
        height, width = self.compute_output()
        taps = self.kernel[0] * self.kernel[1] * self.channels // self.groups
        return 2 * batch * self.filters * height * width * taps

    def get_key(self, batch: int, dtype: str = "f16") -> str:
        """The problem as Tarpon's tools write it; biases of 16-bit types stay in f32."""
        height, width = self.compute_output()
        taps = self.channels // self.groups
        join = ",".join
        return (
            f"conv({batch}x{self.channels}x{self.height}x{self.width}x{dtype}:nhwc, "
            f"{self.filters}x{taps}x{self.kernel[0]}x{self.kernel[1]}x{dtype}:const; "
            f"1x{self.filters}x1x1xf32:const)"
            f"->{batch}x{self.filters}x{height}x{width}x{dtype}:nhwc "
            f"{{dilations={join(map(str, self.dilations))} group={self.groups} "
            f"pads={join(map(str, (*self.pads, *self.pads)))} "
            f"strides={join(map(str, self.strides))}}} | add(2) | relu"
        )


def read_layers(network: str) -> list[Layer]:
    """The distinct convolutions of a network, the largest first."""
    layers: dict[str, Layer] = {}
    for line in CONVS.read_text().splitlines():
        if line and line[0] != "#" and f"{network}/" in line:
            layer = Layer(line)
            if layer.symmetric:
                layers.setdefault(layer.get_key(1), layer)
    return sorted(layers.values(), key=lambda layer: -layer.count_flops(1))


def measure_layer(torch: Any, layer: Layer, fused: bool) -> dict[str, Any]:
    dtype, last = torch.float16, torch.channels_last
    shape = (LAYER_BATCH, layer.channels, layer.height, layer.width)
    taps = (layer.filters, layer.channels // layer.groups, *layer.kernel)
    weight = torch.randn(taps, device=DEVICE, dtype=dtype).to(memory_format=last)
    bias = torch.randn(layer.filters, device=DEVICE, dtype=dtype)
    cache = torch.cuda.get_device_properties(0).L2_cache_size
    image = torch.randn(shape, device=DEVICE, dtype=dtype).to(memory_format=last)
    count = max(2, -(-CACHES * cache // (image.numel() * image.element_size())))
    images = [torch.randn_like(image) for _ in range(count)]
    knobs = (layer.strides, layer.pads, layer.dilations, layer.groups)

    def run() -> None:
        for x in images:
            if fused:
                torch.cudnn_convolution_relu(x, weight, bias, *knobs)
            else:
                torch.nn.functional.conv2d(x, weight, None, *knobs)

    with torch.inference_mode():
        figure = time_graph(torch, run, count)
    flops = layer.count_flops(LAYER_BATCH)
    return {
        **figure,
        "tflops": flops / figure["median_ms"] / 1e9,
        "key": layer.get_key(LAYER_BATCH),
    }


def measure_layers(torch: Any, results: Results) -> None:
    for layer in read_layers("resnet50"):
        for fused in (False, True):
            suffix = " bias relu" if fused else ""
            name = f"layer {layer.get_name('resnet50')} fp16 b{LAYER_BATCH}{suffix}"
            time_or_say(results, name, lambda: measure_layer(torch, layer, fused))


# Attention


class Attention(NamedTuple):
    """Self-attention with heads of 64 channels, in fp16."""

    batch: int
    heads: int
    positions: int
    causal: bool = False

    CHANNELS = 64

    @property
    def name(self) -> str:
        form = " causal" if self.causal else ""
        return f"attention {self.heads}x{self.positions} fp16 b{self.batch}{form}"

    def get_shape(self) -> tuple[int, ...]:
        return (self.batch, self.heads, self.positions, self.CHANNELS)

    def count_flops(self) -> float:
        """Those of a mask that hides nothing; a causal one hides half of the keys."""
        products = 4 * self.batch * self.heads * self.positions**2 * self.CHANNELS
        return products / 2 if self.causal else products

    def get_key(self) -> str:
        shape = "x".join(map(str, self.get_shape())) + "xf16"
        scale = 1 / self.CHANNELS**0.5
        return (
            f"attention({shape}, {shape}, {shape})->{shape}"
            f" {{causal={int(self.causal)} scale={scale:g}}}"
        )


def list_attention() -> list[Attention]:
    cases = [
        Attention(batch, heads, positions)
        for batch in (1, 8)
        for heads in (8, 16)
        for positions in (512, 1024, 2048, 4096)
    ]
    return cases + [Attention(8, 16, 2048, causal=True)]


def measure_attention(torch: Any, case: Attention, backend: str) -> dict[str, Any]:
    from torch.nn.attention import SDPBackend, sdpa_kernel

    cache = torch.cuda.get_device_properties(0).L2_cache_size
    make = functools.partial(torch.randn, case.get_shape(), device=DEVICE, dtype=torch.float16)
    operands = [make() for _ in range(3)]
    count = max(2, -(-CACHES * cache // (3 * operands[0].numel() * 2)))
    sets = [operands] + [[make() for _ in range(3)] for _ in range(count - 1)]

    def run() -> None:
        for query, key, value in sets:
            torch.nn.functional.scaled_dot_product_attention(
                query, key, value, is_causal=case.causal
            )

    with torch.inference_mode(), sdpa_kernel([getattr(SDPBackend, backend)]):
        figure = time_graph(torch, run, count)
    return {**figure, "tflops": case.count_flops() / figure["median_ms"] / 1e9}


def measure_all_attention(torch: Any, results: Results) -> None:
    for case in list_attention():
        for backend, label in (("FLASH_ATTENTION", "flash"), ("CUDNN_ATTENTION", "cudnn")):
            time_or_say(
                results, f"{case.name} {label}", lambda: measure_attention(torch, case, backend)
            )


# Whole networks


def make_network(torch: Any, name: str, dtype: str, batch: int, fold: bool) -> tuple[Any, Any]:
    """The network and its input, on the GPU."""
    import torchvision

    module = getattr(torchvision.models, NETWORKS[name])(weights=None).eval()
    if fold:
        from torch.fx.experimental.optimization import fuse

        module = fuse(module)
    torch.backends.cudnn.allow_tf32 = dtype == "tf32"
    torch.backends.cuda.matmul.allow_tf32 = dtype == "tf32"
    kind = getattr(torch, KINDS[dtype])
    module = module.to(DEVICE, kind, memory_format=torch.channels_last)
    x = torch.randn((batch, *IMAGE), device=DEVICE, dtype=kind)
    return module, x.to(memory_format=torch.channels_last)


def measure_cudnn(torch: Any, name: str, dtype: str, batch: int, fold: bool) -> dict[str, Any]:
    module, x = make_network(torch, name, dtype, batch, fold)
    with torch.inference_mode():
        return time_graph(torch, lambda: module(x))


def measure_compiled(torch: Any, name: str, dtype: str, batch: int) -> dict[str, Any]:
    import torch._inductor.config as inductor

    inductor.freezing = True
    module, x = make_network(torch, name, dtype, batch, fold=False)
    # The graph is captured here, as it is for cuDNN: torch.compile's own copies the input.
    compiled = torch.compile(module, mode="max-autotune-no-cudagraphs", dynamic=False)
    began = time.perf_counter()
    with torch.no_grad():
        compiled(x)
        torch.cuda.synchronize()
        seconds = time.perf_counter() - began
        return {**time_graph(torch, lambda: compiled(x)), "compile_s": seconds}


def compile_apart(arguments: argparse.Namespace, results: Results, name: str, case: str) -> None:
    """Compiles a network in a process of its own, which adds its figure to the file."""
    if results.has(name):
        return
    command = [sys.executable, __file__, str(arguments.output), "--worker", case]
    try:
        done = subprocess.run(command, timeout=arguments.limit, check=False)
        results.figures = Results(results.path).figures
        if not results.has(name) and "error" not in results.figures.get(name, {}):
            results.add(name, {"error": f"ended with status {done.returncode}"})
    except subprocess.TimeoutExpired:
        results.add(name, {"error": f"took longer than {arguments.limit:.0f} s"})


def name_compiled(network: str, dtype: str, batch: int) -> str:
    return f"{network} {dtype} b{batch} torch.compile"


def work(results: Results, case: str) -> int:
    network, dtype, batch = case.split(",")
    torch = set_up()
    name = name_compiled(network, dtype, int(batch))
    time_or_say(results, name, lambda: measure_compiled(torch, network, dtype, int(batch)))
    return 0


def split(text: str) -> list[str]:
    return text.split(",")


def main(command_line: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("output", type=Path, metavar="OUT.json")
    parser.add_argument("--parts", type=split, default=PARTS, metavar=",".join(PARTS))
    parser.add_argument("--networks", type=split, default=list(NETWORKS), metavar="NAME,...")
    parser.add_argument("--dtypes", type=split, default=["fp16", "fp32"], metavar="DTYPE,...")
    parser.add_argument("--batches", type=split, default=["1", "64"], metavar="N,...")
    parser.add_argument("--limit", type=float, default=240, metavar="SECONDS")
    parser.add_argument("--worker", metavar="NETWORK,DTYPE,BATCH", help=argparse.SUPPRESS)
    arguments = parser.parse_args(command_line)
    for unknown in set(arguments.parts) - set(PARTS) | set(arguments.networks) - set(NETWORKS):
        parser.error(f"unknown part or network '{unknown}'")
    results = Results(arguments.output)
    if arguments.worker:
        return work(results, arguments.worker)

    torch = set_up()
    if not torch.cuda.is_available():
        print("peers.py: PyTorch finds no GPU here", file=sys.stderr)
        return 1
    if "ceilings" in arguments.parts:
        measure_ceilings(torch, results)
    cases = [
        (network, dtype, int(batch))
        for dtype in arguments.dtypes
        for network in arguments.networks
        for batch in arguments.batches
    ]
    if "cudnn" in arguments.parts:
        for case in cases:
            for fold in (False, True):
                name = "{} {} b{} cudnn".format(*case) + (" folded" if fold else "")
                time_or_say(results, name, lambda: measure_cudnn(torch, *case, fold))
    if "layers" in arguments.parts:
        measure_layers(torch, results)
    if "attention" in arguments.parts:
        measure_all_attention(torch, results)
    # Another process needs the memory that this one keeps.
    torch.cuda.empty_cache()
    if "compile" in arguments.parts:
        for case in cases:
            compile_apart(arguments, results, name_compiled(*case), ",".join(map(str, case)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
