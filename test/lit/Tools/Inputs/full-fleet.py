#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lets the disk of a fleet's database be full while a builder works, and looks whether it waits.

usage: full-fleet.py DATABASE LABEL

The database, a file of SQLite, has the label with jobs that are only compiled.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys

# SQLite's own words, said by a trigger.
FULL = "CREATE TRIGGER full BEFORE INSERT ON attempt BEGIN SELECT RAISE(ABORT, 'database or disk is full'); END"


def change(path: str, statement: str) -> None:
    database = sqlite3.connect(path, timeout=60)
    database.execute(statement)
    database.commit()
    database.close()


def main() -> None:
    path, label = sys.argv[1:]
    change(path, FULL)
    with subprocess.Popen(
        ["graph-opt", "fleet", "worker", f"sqlite:{path}", "--label", label, "--role", "builder"],
        stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    ) as worker:
        for line in worker.stdout:
            print(line, end="")
            if "database or disk is full: tried again" in line:
                change(path, "DROP TRIGGER full")
    sys.exit(worker.returncode)


if __name__ == "__main__":
    main()
