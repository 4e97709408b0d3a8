#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Copies a label of a fleet's database, with the times of one problem changed.

usage: slower-label.py DATABASE LABEL NEW FACTOR

Each candidate of the first problem takes FACTOR times as long, in all of its
samples, and so does the label's job.
"""

from __future__ import annotations

import json
import sqlite3
import sys


def copy_rows(database: sqlite3.Connection, table: str, where: str, values: dict) -> None:
    """Copies the rows of a table without their ids, with these values."""
    database.row_factory = sqlite3.Row
    for row in database.execute(f"SELECT * FROM {table} WHERE {where}").fetchall():
        copy = {**dict(row), **{key: value(row) for key, value in values.items()}}
        copy.pop("id")
        marks = ", ".join("?" * len(copy))
        database.execute(f"INSERT INTO {table} ({', '.join(copy)}) VALUES ({marks})", list(copy.values()))


def main() -> None:
    path, label, new, factor = sys.argv[1:]
    database = sqlite3.connect(path)
    (old_session,) = database.execute("SELECT id FROM session WHERE label = ?", [label]).fetchone()
    copy_rows(database, "session", f"id = {old_session}", {"label": lambda row: new})
    (session,) = database.execute("SELECT max(id) FROM session").fetchone()

    def scale(row: sqlite3.Row) -> float:
        return float(factor) if row["problem_id"] == 1 else 1

    copy_rows(database, "job", f"session_id = {old_session}", {"session_id": lambda row: session})
    copy_rows(database, "measurement", f"session_id = {old_session}", {
        "session_id": lambda row: session,
        "job_id": lambda row: None,
        "median": lambda row: row["median"] * scale(row),
        "mad": lambda row: row["mad"] * scale(row),
        "samples": lambda row: json.dumps([sample * scale(row) for sample in json.loads(row["samples"])]),
    })
    database.commit()


if __name__ == "__main__":
    main()
