#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes an ONNX model of a chain of nodes, without the onnx package.

usage: make_onnx.py MODEL.onnx SHAPE NODE...

SHAPE is that of the one input 'x' and the one output 'y', such as "2,3", or ""
for rank 0. A NODE is "OP INPUT... OUTPUT".

usage: make_onnx.py TENSOR.pb SHAPE VALUE...
"""

import struct
import sys


def varint(number):
    out = b""
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return out + bytes([number])


def field(number, value):
    if isinstance(value, int):
        return varint(number << 3) + varint(value)
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


FLOAT = 1


def value_info(name, shape):
    dims = b"".join(field(1, field(1, size)) for size in shape)
    tensor = field(1, FLOAT) + field(2, dims)
    return field(1, name) + field(2, field(1, tensor))


def node(index, text):
    op, *names = text.split()
    inputs = b"".join(field(1, name) for name in names[:-1])
    return inputs + field(2, names[-1]) + field(3, f"n{index}") + field(4, op)


def model(shape, nodes):
    graph = b"".join(field(1, node(i, text)) for i, text in enumerate(nodes))
    graph += field(2, "g")
    graph += field(11, value_info("x", shape)) + field(12, value_info("y", shape))
    return field(1, 8) + field(7, graph) + field(8, field(2, 17))


def tensor(shape, values):
    dims = b"".join(field(1, size) for size in shape)
    raw = struct.pack(f"<{len(values)}f", *map(float, values))
    return dims + field(2, FLOAT) + field(9, raw)


path, shape, *rest = sys.argv[1:]
sizes = [int(size) for size in shape.split(",") if size]
with open(path, "wb") as file:
    file.write((model if path.endswith(".onnx") else tensor)(sizes, rest))
