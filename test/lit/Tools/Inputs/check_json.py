#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Checks what graph-opt perf --json wrote.

usage: check_json.py FILE ITERATIONS
"""

import json
import math
import sys

report = json.loads(open(sys.argv[1], encoding="utf-8").read())
assert report["iterations"] == int(sys.argv[2]) == len(report["samples_ms"])
for key in ("model", "threads", "mad_ms", "peak_gflops_by_dtype"):
    assert key in report, key
for key in ("median_ms", "peak_gflops", "peak_gbps"):
    assert report[key] > 0, key
assert report["peak_gflops_by_dtype"]["fp32"] == report["peak_gflops"]
assert report["layers"]
for layer in report["layers"]:
    for key in ("name", "problem", "solver", "config"):
        assert key in layer, key
    for key in ("median_ms", "gflops", "gbps", "fraction_of_peak"):
        assert math.isfinite(layer[key]) and layer[key] >= 0, key
assert math.isclose(sum(layer["share"] for layer in report["layers"]), 1)
print(f"{len(report['layers'])} layers")
if "compile_report" in report:
    compiling = report["compile_report"]
    kernels = compiling["kernels"]
    assert len(kernels) == compiling["distinct_kernels"] > 0
    assert len({kernel["symbol"] for kernel in kernels}) == len(kernels)
    for kernel in kernels:
        assert kernel["compile_ms"] > 0 and kernel["code_bytes"] > 0
        assert kernel["launches"] >= kernel["problems"] > 0
    launches = sum(kernel["launches"] for kernel in kernels)
    assert launches == compiling["launches"] >= compiling["problems"]
    assert math.isclose(
        sum(kernel["compile_ms"] for kernel in kernels), compiling["compile_ms"]
    )
    print(f"{len(kernels)} kernels serve {compiling['problems']} problems")
