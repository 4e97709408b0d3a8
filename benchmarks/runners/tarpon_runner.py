# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a package through Tarpon's C interface, as programs do."""

from __future__ import annotations

import ctypes

import numpy as np

from runners.job import Job

OK, F32 = 0, 0
# Tensors that are aligned like this are not copied (include/tarpon/C/Runtime.h).
ALIGNMENT, TAIL, PAGE = 64, 64, 4096


class TensorInfo(ctypes.Structure):
    _fields_ = [
        ("name", ctypes.c_char_p),
        ("dtype", ctypes.c_int),
        ("rank", ctypes.c_size_t),
        ("shape", ctypes.POINTER(ctypes.c_int64)),
        ("bytes", ctypes.c_size_t),
    ]


class Buffer(ctypes.Structure):
    """tarpon_input and tarpon_output, which differ in constness alone."""

    _fields_ = [("data", ctypes.c_void_p), ("bytes", ctypes.c_size_t)]


def make_tensor(shape: tuple[int, ...]) -> np.ndarray:
    """A tensor of floats where the runtime can use it without copying it."""
    size = 4 * int(np.prod(shape))
    memory = np.zeros(size + 2 * PAGE, dtype=np.uint8)
    offset = -memory.ctypes.data % ALIGNMENT
    while (memory.ctypes.data + offset + size - 1) % PAGE + TAIL >= PAGE:
        offset += ALIGNMENT
    return memory[offset : offset + size].view(np.float32).reshape(shape)


def copy_aligned(x: np.ndarray) -> np.ndarray:
    """The bytes of a tensor where the runtime can use them without copying."""
    whole = -(-x.nbytes // 4)
    copied = make_tensor((whole,)).view(np.uint8)[: x.nbytes]
    copied[...] = np.ascontiguousarray(x).reshape(-1).view(np.uint8)
    return copied


class Runner:
    def __init__(self, job: Job) -> None:
        self.library = ctypes.CDLL(job.extra)
        self.library.tarpon_error_message.restype = ctypes.c_char_p
        self.model = ctypes.c_void_p()
        self.call("tarpon_model_load", job.model.encode(), job.threads, ctypes.byref(self.model))
        threads = self.library.tarpon_model_threads(self.model)
        if threads != job.threads:
            raise RuntimeError(f"the model runs on {threads} threads")
        info = TensorInfo()
        self.call("tarpon_model_output", self.model, ctypes.c_size_t(0), ctypes.byref(info))
        if info.dtype != F32:
            raise RuntimeError("the output is not fp32")
        self.output = make_tensor(tuple(info.shape[: info.rank]))

    def call(self, function: str, *arguments: object) -> None:
        if getattr(self.library, function)(*arguments) != OK:
            raise RuntimeError(self.library.tarpon_error_message().decode())

    def set_input(self, x: np.ndarray) -> None:
        self.x = copy_aligned(x)
        self.buffers = [
            Buffer(tensor.ctypes.data, tensor.nbytes) for tensor in (self.x, self.output)
        ]

    def run(self) -> np.ndarray:
        one = ctypes.c_size_t(1)
        source, result = (ctypes.byref(buffer) for buffer in self.buffers)
        self.call("tarpon_model_run", self.model, source, one, result, one)
        return self.output
