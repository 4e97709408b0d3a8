#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compares two arrays of f32 without numpy.

usage: compare_npy.py ONE.npy OTHER.npy RELATIVE_L2
"""

import math
import struct
import sys


def read(path):
    with open(path, "rb") as file:
        data = file.read()
    # The header ends with a line feed; arrays of f32 come behind it.
    begin = data.index(b"\n") + 1
    count = (len(data) - begin) // 4
    return struct.unpack_from(f"<{count}f", data, begin)


def main():
    one, other = read(sys.argv[1]), read(sys.argv[2])
    if len(one) != len(other):
        sys.exit("the arrays differ in size")
    difference = math.dist(one, other) / math.hypot(*one)
    if not difference <= float(sys.argv[3]):
        sys.exit(f"the relative L2 distance is {difference}")


main()
