#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a program of ours, which has to fail with one line of error.

usage: fails.py PROGRAM STATUS ARGUMENT...

Prints that line, and fails itself if the status is another, if there is more on
stderr, or if the line is not how the program reports errors.
"""

import subprocess
import sys

program, status = sys.argv[1], int(sys.argv[2])
process = subprocess.run(
    [program, *sys.argv[3:]],
    stdin=subprocess.DEVNULL,
    stdout=subprocess.DEVNULL,
    stderr=subprocess.PIPE,
    text=True,
)
lines = process.stderr.splitlines()
print("\n".join(lines))
if process.returncode != status:
    sys.exit(f"exit status {process.returncode} instead of {status}")
if len(lines) != 1 or not lines[0].startswith(f"{program}: error: "):
    sys.exit("expected one line of error")
