#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Adds a measurement to a store, as if it had been made here.

usage: add_measurement.py STORE STATS PROBLEM SOLVER MEDIAN [TARPON]

STATS is what `graph-opt db stats --json` wrote, which says what this version is;
TARPON is another version.
"""

import json
import sqlite3
import sys

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
store.close()
