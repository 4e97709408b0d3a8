# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A case of an operator of com.microsoft, and random numbers for it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Union

import numpy as np


@dataclass
class Const:
    """An input that is a constant of the model."""

    value: np.ndarray


Input = Union[np.ndarray, Const, None]


@dataclass
class MicrosoftCase:
    """A model of one node. Inputs that are None are left out."""

    name: str
    operator: str
    inputs: list[Input]
    attributes: dict[str, Any] = field(default_factory=dict)
    # Names; an empty one is left out, and one that begins with "_" is an output
    # of the node only.
    outputs: list[str] = field(default_factory=lambda: ["y"])
    # The results, if ONNX Runtime has no kernel for the CPU.
    expected: list[np.ndarray] | None = None
    # The relative L2 error that graph-opt verify takes for quantised results,
    # some of whose halves round to the other side.
    max_error: float | None = None


class Numbers:
    """Random tensors."""

    def __init__(self, seed: int) -> None:
        self.random = np.random.default_rng(seed)

    def floats(self, *shape: int) -> np.ndarray:
        return self.random.standard_normal(shape).astype(np.float32)

    def bytes(self, *shape: int, dtype: type = np.uint8) -> np.ndarray:
        info = np.iinfo(dtype)
        return self.random.integers(info.min, info.max + 1, shape).astype(dtype)

    def weights(self, *shape: int) -> np.ndarray:
        """Bytes of half the range: ONNX Runtime's sums of larger ones overflow on
        CPUs without VNNI."""
        return self.random.integers(-64, 64, shape).astype(np.int8)

    def ints(self, high: int, *shape: int, dtype: type = np.int32) -> np.ndarray:
        return self.random.integers(0, high, shape).astype(dtype)


def scale(value: float) -> Const:
    return Const(np.array(value, np.float32))


def zero(value: int, dtype: type = np.uint8) -> Const:
    return Const(np.array(value, dtype))
