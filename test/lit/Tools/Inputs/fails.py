#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs graph-opt, which has to fail with one line of error.

usage: fails.py STATUS ARGUMENT...

Prints that line, and fails itself if the status is another, if there is more on
stderr, or if the line is not how graph-opt reports errors.
"""

import subprocess
import sys

status = int(sys.argv[1])
process = subprocess.run(
    ["graph-opt", *sys.argv[2:]],
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    text=True,
)
lines = process.stderr.splitlines()
print("\n".join(lines))
if process.returncode != status:
    sys.exit(f"exit status {process.returncode} instead of {status}")
if len(lines) != 1 or not lines[0].startswith("graph-opt: error: "):
    sys.exit("expected one line of error")
