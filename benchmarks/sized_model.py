# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs packages of several sizes through Tarpon's C interface, as programs do."""

from __future__ import annotations

import ctypes
import time
from pathlib import Path

import numpy as np

from machine import BenchmarkError
from packages import LIBRARY
from runners.tarpon_runner import F32, OK, Buffer, TensorInfo, copy_aligned, make_tensor


class SizedModel:
    """A package, loaded. Its outputs are floats."""

    def __init__(self, package: Path, threads: int) -> None:
        self.library = ctypes.CDLL(str(LIBRARY))
        self.library.tarpon_error_message.restype = ctypes.c_char_p
        self.library.tarpon_model_num_outputs.restype = ctypes.c_size_t
        self.model = ctypes.c_void_p()
        self.call("tarpon_model_load", str(package).encode(), threads, ctypes.byref(self.model))
        self.inputs: list[np.ndarray] = []
        self.outputs: list[np.ndarray] = []

    def close(self) -> None:
        self.library.tarpon_model_free(self.model)

    def call(self, function: str, *arguments: object) -> None:
        if getattr(self.library, function)(*arguments) != OK:
            raise BenchmarkError(self.library.tarpon_error_message().decode())

    def choose(self, *sizes: int) -> float:
        """Returns the milliseconds that choosing sizes takes."""
        numbers = (ctypes.c_int64 * len(sizes))(*sizes)
        start = time.perf_counter()
        self.call("tarpon_model_set_sizes", self.model, numbers, ctypes.c_size_t(len(sizes)))
        return 1e3 * (time.perf_counter() - start)

    def shape_of_output(self, index: int) -> tuple[int, ...]:
        info = TensorInfo()
        self.call("tarpon_model_output", self.model, ctypes.c_size_t(index), ctypes.byref(info))
        if info.dtype != F32:
            raise BenchmarkError(f"output {index} is not fp32")
        return tuple(info.shape[: info.rank])

    def bind(self, inputs: list[np.ndarray]) -> None:
        """Takes inputs, and makes outputs. Those that this made before are not copied."""
        made = {id(x) for x in self.outputs}
        self.inputs = [x if id(x) in made else copy_aligned(x) for x in inputs]
        count = self.library.tarpon_model_num_outputs(self.model)
        self.outputs = [make_tensor(self.shape_of_output(i)) for i in range(count)]

    def run(self) -> float:
        """Returns the milliseconds of one run."""
        sources, results = (
            (Buffer * len(tensors))(*(Buffer(x.ctypes.data, x.nbytes) for x in tensors))
            for tensors in (self.inputs, self.outputs)
        )
        counts = (ctypes.c_size_t(len(self.inputs)), ctypes.c_size_t(len(self.outputs)))
        start = time.perf_counter()
        self.call("tarpon_model_run", self.model, sources, counts[0], results, counts[1])
        return 1e3 * (time.perf_counter() - start)
