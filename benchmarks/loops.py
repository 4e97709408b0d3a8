#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Asks llvm-mca how well inner loops multiply (benchmarks/loops).

A loop's share is the time that the ports need for its multiply-adds alone over that of
the whole loop, both by LLVM's model of the CPU, which knows ports, latencies and the size
of windows, and takes all data to be in the L1 cache. A second share corrects the models.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

Loop = dict[str, Any]

MCA = "llvm-mca-22"
PROGRAM = Path("build/bin/loop-benchmark")
CASES = Path("benchmarks/problems/loops.txt")
ITERATIONS = 200
CPUS = [
    "x86-64-v3", "haswell", "znver2", "znver3", "alderlake", "x86-64-v4", "skylake-avx512",
    "cascadelake", "cooperlake", "icelake-server", "sapphirerapids", "graniterapids", "znver4",
    "znver5",
]  # fmt: skip

# The CPUs whose models give a load more than it costs, see HEAD.
BROADCASTS_OVERRATED = {"znver2", "znver3", "znver4", "znver5"}
WIDE_LOADS_OVERRATED = {"x86-64-v4", "skylake-avx512", "cascadelake", "cooperlake"}

HEAD = """# Inner loops

Written by `benchmarks/loops --output docs/loops.md`: the default config of each engine for one problem
(`benchmarks/problems/loops.txt`) and CPU, as LLVM compiles it. A figure is the part of the loop's time in
which its multiply-adds, were they alone, would keep their ports busy, in per cent, by llvm-mca {version}; it is a model's,
and nothing was run. `!n` says that the loop uses the stack n times; a dash, that the solver does not take the problem
there. Additions of products are no multiply-adds: int8 without VNNI has as many of them as of multiplications.

LLVM's models overrate some loads: those of Zen let a broadcast from memory take a port of the multipliers, that of
Skylake-X, which stands for the CPUs before Ice Lake and for x86-64-v4, splits each 512-bit load into two
micro-operations, one of them an arithmetic one. The figure in brackets, where it differs, is that of the same loop if they
cost what a plain load and a 256-bit one cost. Measured, kernels of `igemm-f32` reach 92 to 94 % of the peak on Zen 5 (3x3
of 128 channels of 28x28, 1x1 of 256 to 1024 of 14x14); the other CPUs' second figures were not checked on hardware.

"""


def to_assembly(instructions: list[str]) -> str:
    """Instructions as the assembler reads them: jumps and constants need names."""
    lines = []
    for text in instructions:
        text = re.sub(r"^(j\w+) -?\d+$", r"\1 loop", text)
        lines.append(text.replace("(%rip)", "constant(%rip)"))
    return "loop:\n" + "\n".join(lines) + "\n"


def ask(instructions: list[str], cpu: str, figure: str) -> float:
    """Returns a figure of llvm-mca's summary."""
    command = [
        MCA, f"-mcpu={cpu}", f"-iterations={ITERATIONS}", "-instruction-info=false",
        "-resource-pressure=false",
    ]  # fmt: skip
    answer = subprocess.run(
        command, input=to_assembly(instructions), capture_output=True, text=True, check=False
    )
    found = re.search(rf"^{figure}:\s+([\d.]+)", answer.stdout, re.MULTILINE)
    if answer.returncode != 0 or not found:
        sys.exit(f"loops: {MCA} cannot read a loop for {cpu}: {answer.stderr.strip()[:200]}")
    return float(found[1])


def reprice_loads(instructions: list[str], cpu: str) -> list[str]:
    """The instructions with loads in the place of those that LLVM's model overrates."""
    load = re.compile(r"v(p?broadcast\w+|movup[sd]|movdqu\d*) ([^%]*\(.*\)), %([xyz])(mm\d+)$")
    loads = []
    for text in instructions:
        found = load.match(text)
        if not found:
            loads.append(text)
            continue
        name, address, width, register = found.groups()
        if cpu in WIDE_LOADS_OVERRATED:
            loads.append(f"vmovups {address}, %y{register}")
        elif cpu in BROADCASTS_OVERRATED and "broadcast" in name:
            loads.append(f"vmovups {address}, %{width}{register}")
        else:
            loads.append(text)
    return loads


def describe(loop: Loop) -> str:
    if "body" not in loop:
        return "-"
    cpu = loop["cpu"]
    alone = ask(loop["multiplications"], cpu, "Block RThroughput")

    def get_share(body: list[str]) -> str:
        return f"{100 * alone * ITERATIONS / ask(body, cpu, 'Total Cycles'):.0f}"

    share = get_share(loop["body"])
    repriced = get_share(reprice_loads(loop["body"], cpu))
    if repriced != share:
        share += f" ({repriced})"
    return share + (f" !{len(loop['spills'])}" if loop["spills"] else "")


def make_table(loops: list[Loop], cpus: list[str]) -> str:
    names = list(dict.fromkeys(loop["name"] for loop in loops))
    cells = {(loop["name"], loop["cpu"]): loop for loop in loops}
    rows = ["| loop | " + " | ".join(cpus) + " |", "|---" * (1 + len(cpus)) + "|"]
    for name in names:
        row = [describe(cells[name, cpu]) for cpu in cpus]
        rows.append(f"| {name} | " + " | ".join(row) + " |")
    return "\n".join(rows) + "\n"


def get_version() -> str:
    text = subprocess.run([MCA, "--version"], capture_output=True, text=True, check=True).stdout
    found = re.search(r"version (\S+)", text)
    return found[1] if found else "of an unknown version"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cpus", default=",".join(CPUS), help="LLVM's names, by commas")
    parser.add_argument("--output", type=Path, help="the file to write instead of the terminal")
    options = parser.parse_args()
    cpus = options.cpus.split(",")
    listed = subprocess.run([PROGRAM, CASES, *cpus], stdout=subprocess.PIPE, check=False)
    if listed.returncode != 0:
        sys.exit(listed.returncode)
    text = HEAD.format(version=get_version()) + make_table(json.loads(listed.stdout), cpus)
    if options.output:
        options.output.write_text(text)
    else:
        print(text, end="")


if __name__ == "__main__":
    main()
