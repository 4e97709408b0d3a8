# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Times generation with a cache of keys and values (benchmarks/generation)."""

from __future__ import annotations

import argparse
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from machine import ROOT, BenchmarkError, describe_machine, write_json
from packages import WORK, graph_opt
from sized_model import SizedModel

# The words and the heads with keys and values.
NETWORKS = {
    "gpt2_cached": (50_257, 12), "gpt2_int4": (50_257, 12),
    "llama_cached": (32_000, 4), "llama_int4": (32_000, 4),
}  # fmt: skip
LAYERS, CHANNELS = 12, 64

# Takes the ids of new tokens and the cache; returns the logits and the new cache.
Step = Callable[[np.ndarray, list[np.ndarray]], tuple[np.ndarray, list[np.ndarray]]]


def empty_cache(heads: int) -> list[np.ndarray]:
    return [np.zeros((1, heads, 0, CHANNELS), np.float32) for _ in range(2 * LAYERS)]


class Tarpon:
    """Two packages: one takes the prompt, the other one token behind any number of them."""

    def __init__(self, model: Path, prompt: int, tokens: int, threads: int) -> None:
        self.prompt = prompt
        packages = {
            "prompt": (f"seq={prompt}", "past=0"),
            "token": ("seq=1", f"past={prompt}..{prompt + tokens}"),
        }
        self.models = []
        for name, dims in packages.items():
            package = WORK / f"{model.stem}-{name}-t{threads}.tpn"
            package.parent.mkdir(parents=True, exist_ok=True)
            options = [word for dim in ("batch=1", *dims) for word in ("--dim", dim)]
            graph_opt("compile", model, *options, "--layout", "nhwc", "--threads", str(threads),
                      "-o", package, is_tuned=False)  # fmt: skip
            self.models.append(SizedModel(package, threads))

    def step(
        self, ids: np.ndarray, cache: list[np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        past = cache[0].shape[2]
        model = self.models[past > 0]
        if past > 0:
            model.choose(past)
        model.bind([ids, *cache])
        model.run()
        return model.outputs[0], model.outputs[1:]


class OnnxRuntime:
    def __init__(self, model: Path, threads: int) -> None:
        import onnxruntime

        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self.session = onnxruntime.InferenceSession(
            model, options, providers=["CPUExecutionProvider"]
        )
        self.names = [x.name for x in self.session.get_inputs()]

    def step(
        self, ids: np.ndarray, cache: list[np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        outputs = self.session.run(None, dict(zip(self.names, [ids, *cache], strict=True)))
        return outputs[0], outputs[1:]


class OpenVino:
    def __init__(self, model: Path, threads: int) -> None:
        import openvino

        core = openvino.Core()
        settings = {
            "INFERENCE_NUM_THREADS": threads, "NUM_STREAMS": 1, "INFERENCE_PRECISION_HINT": "f32",
        }  # fmt: skip
        self.request = core.compile_model(model, "CPU", settings).create_infer_request()

    def step(
        self, ids: np.ndarray, cache: list[np.ndarray]
    ) -> tuple[np.ndarray, list[np.ndarray]]:
        results = self.request.infer([ids, *cache], share_inputs=True)
        outputs = [np.array(results[i]) for i in range(1 + 2 * LAYERS)]
        return outputs[0], outputs[1:]


def generate(
    step: Step, prompt: np.ndarray, heads: int, tokens: int
) -> tuple[list[int], list[float]]:
    """The tokens that follow the prompt, and the milliseconds of each step."""
    ids, cache = prompt, empty_cache(heads)
    made, times = [], []
    for _ in range(tokens):
        start = time.perf_counter()
        logits, cache = step(ids, cache)
        made.append(int(logits.reshape(-1).argmax()))
        times.append(1e3 * (time.perf_counter() - start))
        ids = np.array([[made[-1]]], np.int64)
    return made, times


def compare(network: str, arguments: argparse.Namespace) -> dict:
    words, heads = NETWORKS[network]
    model = ROOT / "models" / "built" / f"{network}.onnx"
    if not model.exists():
        builder = [sys.executable, ROOT / "models" / "build.py", network]
        subprocess.run(builder, check=True, stdout=subprocess.DEVNULL)
    threads = arguments.threads
    contestants = {
        "tarpon": Tarpon(model, arguments.prompt, arguments.tokens, threads),
        "onnxruntime": OnnxRuntime(model, threads),
    }
    try:
        contestants["openvino"] = OpenVino(model, threads)
    except RuntimeError as error:
        print(f"{network}: OpenVINO refuses it: {str(error).splitlines()[-1]}")
    prompt = np.random.default_rng(0).integers(0, words, (1, arguments.prompt))
    results = {
        name: {"prompt_ms": [], "token_ms": [], "tokens": []} for name in contestants
    }
    for turn in range(arguments.rounds + 1):
        for name, contestant in contestants.items():
            made, times = generate(contestant.step, prompt, heads, arguments.tokens)
            results[name]["tokens"] = made
            # The first turn warms up.
            if turn > 0:
                results[name]["prompt_ms"].append(times[0])
                results[name]["token_ms"].append(statistics.median(times[1:]))
    return {
        name: {
            "prompt_ms": statistics.median(result["prompt_ms"]),
            "token_ms": statistics.median(result["token_ms"]),
            "same_tokens": result["tokens"] == results["onnxruntime"]["tokens"],
        }
        for name, result in results.items()
    }


def print_table(network: str, results: dict) -> None:
    ours = results["tarpon"]
    print(f"{network:14}{'prompt, ms':>12}{'token, ms':>12}{'tarpon / it':>22}")
    for name, result in results.items():
        ratios = [ours[part] / result[part] for part in ("prompt_ms", "token_ms")]
        print(f"{name:14}{result['prompt_ms']:12.2f}{result['token_ms']:12.2f}"
              f"{ratios[0]:11.2f}{ratios[1]:11.2f}"
              f"{'' if result['same_tokens'] else '  other tokens'}")  # fmt: skip


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--prompt", type=int, default=128)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--json", type=Path)
    parser.add_argument("networks", nargs="*", choices=[*NETWORKS, []])
    arguments = parser.parse_args()
    try:
        results = {
            network: compare(network, arguments) for network in arguments.networks or NETWORKS
        }
    except BenchmarkError as error:
        sys.exit(f"generation: {error}")
    for network, result in results.items():
        print_table(network, result)
    if arguments.json:
        settings = {key: getattr(arguments, key) for key in ("prompt", "tokens", "rounds", "threads")}
        write_json(arguments.json, {**describe_machine(), **settings, "results": results})
    return 0


sys.exit(main())
