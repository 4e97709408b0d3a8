#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a find DB in MIOpen's text format, with made-up times.

The file has LINES lines (190000, as the largest one that MIOpen ships), of which
MALFORMED (12) are damaged in one of several ways. Shapes, dtypes, directions and
layouts are mixed about as they are there: two thirds flat images, one third
volumes, some channels-last, one to four solvers per problem. The same arguments
give the same file. Import it with

  time graph-opt db import OUT.fdb.txt --store OUT.journal
"""

import argparse
import itertools
import random
import sys

SOLVERS = {
    "F": ("Fwd", "miopenConvolutionFwdAlgo"),
    "B": ("Bwd", "miopenConvolutionBwdDataAlgo"),
    "W": ("Wrw", "miopenConvolutionBwdWeightsAlgo"),
}
ALGORITHMS = ("GEMM", "Direct", "Winograd", "ImplicitGEMM")


def describe(dims, batch, channels, out_channels, size, window, stride, dtype, way):
    """The key: of a backward pass, result and input have changed places."""
    pad = window // 2
    result = (size + 2 * pad - window) // stride + 1
    first, last = (channels, size), (out_channels, result)
    if way != "F":
        first, last = last, first
    join = lambda value: "x".join([str(value)] * dims)
    layouts = ["NCDHW" if dims == 3 else "NCHW"]
    if dims == 2 and (channels + out_channels + size) % 16 == 0:
        layouts = ["NHWC"] * 3
    fields = [first[0], *[first[1]] * dims, join(window), last[0]]
    fields += [*[last[1]] * dims, batch, join(pad), join(stride), join(1), 0]
    groups = "_g2" if channels % 64 == 0 and batch == 1 else ""
    return "-".join(map(str, fields + layouts + [dtype, way + groups]))


def make_keys():
    """Every combination once, the first ones of all kinds."""
    sizes = [7, 8, 14, 16, 17, 28, 32, 35, 56, 64, 71, 112]
    channels = [16, 24, 32, 48, 64, 96, 128, 192, 256, 512]
    for batch, window, stride, size, inner, outer in itertools.product(
        [1, 2, 4, 8, 16, 32, 64, 128], [1, 3, 5], [1, 2], sizes, channels, channels
    ):
        for dims, dtype, way in itertools.product(
            [2, 3], ["FP32", "FP16", "BF16"], "FBW"
        ):
            yield describe(
                dims, batch, inner, outer, size, window, stride, dtype, way
            )


def make_line(key, rng):
    way = key.rsplit("-", 1)[1][0]
    suffix, prefix = SOLVERS[way]
    count = rng.choice([1, 2, 2, 3, 4, 4, 4])
    items = []
    for algorithm in rng.sample(ALGORITHMS, count):
        time = f"{rng.lognormvariate(-2, 1.5):.6g}"
        workspace = rng.choice([0, 0, 4096 * rng.randrange(1, 5000)])
        items.append(f"Conv{algorithm}{suffix}:{time},{workspace},{prefix}{algorithm}")
    return f"{key}=" + ";".join(items)


def damage(line, kind):
    return [
        line.replace("=", " "),
        line.replace(":", " ", 1),
        line[: len(line) // 3],
        line.replace("Algo", "Algorithm", 1),
        line.replace("-", "_", 3),
    ][kind % 5]


def parse_arguments():
    parser = argparse.ArgumentParser(
        prog="benchmarks/find_db.py", description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("out", metavar="OUT.fdb.txt")
    parser.add_argument("lines", metavar="LINES", type=int, nargs="?", default=190000)
    parser.add_argument("malformed", metavar="MALFORMED", type=int, nargs="?", default=12)
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    lines, malformed = arguments.lines, arguments.malformed
    rng = random.Random(0)
    damaged = {7 + i * (lines // (malformed + 1)): i for i in range(malformed)}
    # Combinations of one kind follow on each other: taken evenly, all kinds are
    # there in any number of lines.
    keys = list(itertools.islice(make_keys(), 10**7))
    step = len(keys) // lines
    if step == 0:
        sys.exit(f"there are only {len(keys)} different problems")
    with open(arguments.out, "w", encoding="utf-8") as out:
        for number, key in enumerate(keys[: lines * step : step], start=1):
            line = make_line(key, rng)
            if number in damaged:
                line = damage(line, damaged[number])
            out.write(line + "\n")


if __name__ == "__main__":
    main()
