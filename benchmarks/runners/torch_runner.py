# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a network with torch.compile.

A network of scripts/zoo is the module that was exported, with the same weights;
a file of models/ is turned into a module. PyTorch's guides name these settings
for inference on CPUs: frozen weights, which convolutions and products are packed
from, channels last, a wrapper in C++, and max-autotune. The last does not always
pay: of the two modes, the one that is the faster in this network runs.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
import torch._inductor.config as inductor

from runners.job import Job

ROOT = Path(__file__).resolve().parents[2]
ZOO_PREFIX = "zoo:"
MODES = ("default", "max-autotune")
# The first of them compiles.
TRIALS = 5


def make_module(job: Job) -> Any:
    if job.model.startswith(ZOO_PREFIX):
        sys.path.insert(0, str(ROOT / "models/zoo"))
        import networks

        return networks.build(networks.find(job.model.removeprefix(ZOO_PREFIX)))
    from runners.onnx_module import OnnxModule

    return OnnxModule(job.path)


class Runner:
    def __init__(self, job: Job) -> None:
        torch.set_num_threads(job.threads)
        torch.set_num_interop_threads(1)
        inductor.freezing = True
        inductor.cpp_wrapper = True
        self.module = make_module(job).eval().to(memory_format=torch.channels_last)
        self.compiled: Any = None

    def choose_mode(self) -> None:
        """Compiles in each mode, and keeps the fastest."""
        times = {}
        for mode in MODES:
            torch.compiler.reset()
            self.compiled = torch.compile(self.module, mode=mode, dynamic=False)
            times[mode] = min(self.time_run() for _ in range(TRIALS))
        best = min(times, key=times.__getitem__)
        print(f"seconds by mode: {times}", file=sys.stderr)
        if best != MODES[-1]:
            torch.compiler.reset()
            self.compiled = torch.compile(self.module, mode=best, dynamic=False)

    def time_run(self) -> float:
        # Other processes do not count where this one has a single thread.
        start = time.process_time()
        self.run()
        return time.process_time() - start

    def set_input(self, x: np.ndarray) -> None:
        self.x = torch.from_numpy(x)
        if x.ndim == 4:
            self.x = self.x.to(memory_format=torch.channels_last)
        if self.compiled is None:
            self.choose_mode()

    def run(self) -> np.ndarray:
        with torch.inference_mode():
            return self.compiled(self.x).numpy()
