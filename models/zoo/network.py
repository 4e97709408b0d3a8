# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A network of scripts/zoo: its module, its inputs, and how it is exported.

Weights are random with a seed, so that nothing is downloaded and every machine
has the same network. The lists of networks import no library by themselves: they
can be read where none is installed.
"""

from __future__ import annotations

import zlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Callable

if TYPE_CHECKING:
    import numpy as np
    import torch

# Images that set the statistics of batch normalisation. More than one, because
# a pooled map has one element a channel, which has no variance.
STATISTICS_IMAGES = 4
# The size of a dimension that has a symbol, while a network is exported: a size
# of 1 would be a constant of the exported graph.
TRACED_BATCH = 2


@dataclass(frozen=True)
class Input:
    """An input. Floats are normally distributed; integers are below `high`."""

    name: str
    shape: Sequence[int]
    dtype: str = "float32"
    low: int = 0
    high: int = 2

    def draw(self, generator: np.random.Generator, batch: int) -> np.ndarray:
        shape = (batch * self.shape[0], *self.shape[1:])
        if self.dtype.startswith("float"):
            return generator.standard_normal(shape, dtype="float32").astype(self.dtype)
        return generator.integers(self.low, self.high, shape).astype(self.dtype)


@dataclass(frozen=True)
class Network:
    """A network, how its inputs look, and which exporter writes it.

    `batch` is the size that the leading dimension is given when the network is
    compiled; it has a symbol in the exported model then. `quantised` says how
    the exported model is quantised (quantisation.py), if it is.
    """

    name: str
    family: str
    make: Callable[[], Any]
    image: int = 224
    inputs: tuple[Input, ...] = ()
    exporter: str = "dynamo"
    batch: int | None = None
    quantised: str = ""

    @property
    def shape(self) -> list[int]:
        return [1, 3, self.image, self.image]

    def all_inputs(self) -> tuple[Input, ...]:
        return self.inputs or (Input("input", self.shape),)


def in_family(family: str, *networks: tuple[Any, ...], **common: Any) -> tuple[Network, ...]:
    """Networks of one family from (name, make) or (name, make, other fields)."""
    rows = [(*row, {}) if len(row) == 2 else row for row in networks]
    return tuple(
        Network(name, family, make, **{**common, **fields}) for name, make, fields in rows
    )


def adapt(module: Any, inputs: Sequence[str], outputs: Sequence[str | int] = ()) -> Any:
    """`module` with positional arguments that it knows as `inputs` (all of its own
    if there are none), and the `outputs` it is asked for."""
    import torch

    class Adapted(torch.nn.Module):
        def __init__(self) -> None:
            super().__init__()
            self.module = module

        def forward(self, *arguments: torch.Tensor) -> Any:
            named = dict(zip(inputs, arguments, strict=True)) if inputs else {}
            result = self.module(**named) if inputs else self.module(*arguments)
            if not outputs:
                return result
            taken = tuple(result[output] for output in outputs)
            return taken if len(taken) > 1 else taken[0]

    return Adapted()


def build(network: Network) -> torch.nn.Module:
    """The network with its seeded weights, ready for inference."""
    import torch

    torch.manual_seed(zlib.crc32(network.name.encode()))
    module = network.make()
    fill_zeros(module)
    set_statistics(module, network)
    return module.eval()


def fill_zeros(module: torch.nn.Module) -> None:
    """Gives random weights to products that start at zero, as a classifier's may,
    so that the output depends on the rest."""
    import torch

    for parameter in module.parameters():
        if parameter.dim() > 1 and not parameter.any():
            torch.nn.init.normal_(parameter, std=0.02)


def set_statistics(module: torch.nn.Module, network: Network) -> None:
    """Moves the statistics of batch normalisation towards those of seeded images.

    With random weights, activations of a deep network would otherwise grow or
    vanish, and numbers that are too small for fp32's exponents are slow. All the
    way to the images' statistics, rounding errors would grow instead: what all
    images have in common is subtracted in each layer.
    """
    import torch

    norms = [m for m in module.modules() if isinstance(m, torch.nn.BatchNorm2d)]
    if not norms:
        return
    for norm in norms:
        norm.momentum = 0.5
    images = [
        torch.randn([STATISTICS_IMAGES * x.shape[0], *x.shape[1:]]) for x in network.all_inputs()
    ]
    module.train()
    with torch.no_grad():
        module(*images)
