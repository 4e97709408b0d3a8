# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table of recipes: functions that add one operator, or a few, to a graph."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from graph import Graph

Grow = Callable[["Graph"], object]


@dataclass(frozen=True)
class Recipe:
    grow: Grow
    # How often it is drawn.
    weight: float
    # Returns true of graphs that hold NaN and infinity, whose results ONNX defines.
    takes_special: bool
    min_opset: int


RECIPES: list[Recipe] = []


def recipe(
    weight: float = 1, special: bool = False, min_opset: int = 1
) -> Callable[[Grow], Grow]:
    def register(grow: Grow) -> Grow:
        RECIPES.append(Recipe(grow, weight, special, min_opset))
        return grow

    return register
