#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Gives a fleet's commands text with control characters, and looks whether they reach the terminal.

usage: hostile-fleet.py DATABASE

The database, a file of SQLite, has the label L with a job that has ended, and a release R.
"""

from __future__ import annotations

import sqlite3
import subprocess
import sys
from pathlib import Path

# Colours, the window's title, a bell, the one-byte CSI, right-to-left, and a byte that is no UTF-8.
EVIL = b"\x1b[31m\x1b]0;x\x07\xc2\x9b1m\xe2\x80\xae".decode()
HARMFUL = [b"\x1b", b"\x07", b"\xc2\x9b", b"\xe2\x80\xae", b"\xff"]
CHANGES = [
    ("session", "label", "label"),
    ("session", "target", "target"),
    ("session", "device", "device"),
    ("problem", "key", "key || id"),
    ("attempt", "reason", "reason"),
    ("attempt", "log", "log"),
    ("machine", "name", "name"),
    ("machine", "cpu", "cpu"),
    ("worker", "reason", "reason"),
    ("job", "reason", "reason"),
    ("release_record", "target", "target"),
]


def run(*arguments: str | bytes) -> bytes:
    done = subprocess.run(["graph-opt", "fleet", *arguments], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    for text in HARMFUL:
        if text in done.stdout:
            sys.exit(f"{text!r} is in what {arguments} says: {done.stdout!r}")
    return done.stdout


def check_shown(output: bytes, what: object) -> None:
    if b"\\x1b" not in output:
        sys.exit(f"{what} does not show the escaped text: {output!r}")


def main() -> None:
    (path,) = sys.argv[1:]
    url = f"sqlite:{path}"
    Path(f"a{EVIL}.txt").write_text(f"conv{EVIL} -n 1\nrelu(1x2x2x2xf32)->1x2x2x2xf32\nrelu({EVIL})\n")
    for command in (
        ["import", url, f"a{EVIL}.txt", "--tag", "u"],
        ["import", url, "list.txt", "--tag", EVIL],
        ["import", url, b"bytes\xff.txt", "--tag", "u"],
        ["load", url, "--tag", "t", "--label", EVIL],
        ["load", url, "--tag", EVIL, "--label", "M"],
        ["load", url, "--tag", "t", "--label", "M", "--solver", EVIL],
        ["load", url, "--tag", "t", "--label", "M", "--target", EVIL],
        ["load", url, "--tag", "t", "--label", "M", "--policy", EVIL],
        ["status", url, "--label", EVIL],
        ["jobs", url, "--label", "L", "--cause", EVIL],
        ["drain", url, EVIL],
        ["delete", url, "--label", EVIL],
        ["release", EVIL, url, "--label", "L", "--base", "R"],
        ["release", "S", url, "--label", "L", "--base", EVIL],
        ["diff", EVIL, "R", url],
        ["export", url, "--label", EVIL, "--store", "x.db"],
        ["export", url, "--label", "L", "--store", f"/nowhere/{EVIL}"],
        ["status", f"sqlite:{EVIL.replace(' ', '')}"],
        [EVIL],
    ):
        run(*command)
    check_shown(run("import", url, f"a{EVIL}.txt", "--tag", "u"), "import")
    check_shown(run("status", url, "--label", EVIL), "status")
    # The database is another's, who may have written anything.
    database = sqlite3.connect(path)
    spare = "id NOT IN (SELECT measurement_id FROM release_record)"
    database.execute(f"UPDATE measurement SET status = 'crashed', solver = ?, config = ?, detail = ? WHERE {spare}", [EVIL] * 3)
    for table, column, value in CHANGES:
        database.execute(f"UPDATE {table} SET {column} = ? || {value}", [EVIL])
    database.commit()
    (machine,) = database.execute("SELECT name FROM machine").fetchone()
    (label,) = database.execute("SELECT label FROM session ORDER BY id").fetchone()
    for command in (
        ["status", url],
        ["machines", url],
        ["jobs", url],
        ["log", url, "1"],
        ["drain", url, machine],
        ["releases", url],
        ["diff", "label:" + label, "R", url, "--html", "page.html", "--json", "diff.json"],
        ["worker", url, "--label", label, "--role", "builder"],
        ["start", url, "--label", label],
    ):
        check_shown(run(*command), command)
    if "\x1b" in Path("page.html").read_text() + Path("diff.json").read_text():
        sys.exit("control characters are in a file of diff")


if __name__ == "__main__":
    main()
