# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes two chains of regions in front of two transposes, and two behind them,
in which each region reads both results of the step before."""

STEPS = 30
TYPE = "tensor<1x8x4x4xf32>"


def add_step(result: str, lhs: str, rhs: str) -> None:
    print(f"""  %{result} = tarpon.fused(%p = %{lhs}, %q = %{rhs}) : ({TYPE}, {TYPE}) -> {TYPE} {{
    %0 = tarpon.shuffle_channels %p {{group = 2 : i64}} : ({TYPE}) -> {TYPE}
    %1 = tarpon.add %0, %q : ({TYPE}, {TYPE}) -> {TYPE}
    tarpon.yield %1 : {TYPE}
  }}""")


def add_transpose(result: str, value: str) -> None:
    print(f"""  %{result} = tarpon.fused(%p = %{value}) : ({TYPE}) -> {TYPE} {{
    %0 = tarpon.transpose %p {{permutation = array<i64: 0, 1, 3, 2>}} : ({TYPE}) -> {TYPE}
    tarpon.yield %0 : {TYPE}
  }}""")


def add_steps(one: str, other: str) -> None:
    for step in range(STEPS):
        add_step(f"{one}{step + 1}", f"{one}{step}", f"{other}{step}")
        add_step(f"{other}{step + 1}", f"{other}{step}", f"{one}{step}")


print(f"func.func @main(%a0: {TYPE}, %b0: {TYPE}) -> {TYPE} {{")
add_steps("a", "b")
add_transpose("c0", f"a{STEPS}")
add_transpose("d0", f"b{STEPS}")
add_steps("c", "d")
add_step("r", f"c{STEPS}", f"d{STEPS}")
print(f"  return %r : {TYPE}\n}}")
