#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds a measurement to a store, as if it had been made here.

usage: add_measurement.py STORE STATS PROBLEM SOLVER MEDIAN [TARPON]

STATS is what `graph-opt db stats --json` wrote, which says what this version is;
TARPON is another version.
"""

import json
import sqlite3
import struct
import sys
import zlib

# lib/Autotune/Store/JournalSchema.cpp
COLUMNS = (
    "problem, solver, config, target, threads, tarpon, llvm, origin, status, samples,"
    " median, mad, max_error, relative_l2, workspace, rounds, detail, run, time,"
    " version, caches"
)


def row_checksum(*values):
    """The CRC-32 over types, lengths and contents."""
    crc = 0
    for value in values:
        if value is None:
            piece = struct.pack("<cq", b"n", 0)
        elif isinstance(value, int):
            piece = struct.pack("<cq", b"i", value)
        elif isinstance(value, float):
            piece = struct.pack("<cd", b"r", value)
        else:
            text = value.encode()
            piece = struct.pack("<cq", b"t", len(text)) + text
        crc = zlib.crc32(piece, crc)
    return crc


path, stats, problem, solver, median = sys.argv[1:6]
build = json.loads(open(stats, encoding="utf-8").read())
tarpon = sys.argv[6] if len(sys.argv) > 6 else build["tarpon"]
with sqlite3.connect(path) as store:
    store.execute(
        "INSERT INTO measurement (problem, solver, config, target, threads, tarpon,"
        " llvm, origin, status, samples, median, mad, run)"
        " VALUES (?, ?, '', 'x86-64/test/512', 1, ?, ?, 'final', 'ok', '[1]', ?, 0,"
        " 'test')",
        (problem, solver, tarpon, build["llvm"], float(median)),
    )
    store.create_function("row_checksum", -1, row_checksum)
    store.execute(
        f"UPDATE measurement SET checksum = row_checksum({COLUMNS})"
        " WHERE checksum IS NULL"
    )
store.close()
