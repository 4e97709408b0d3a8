# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Describes the machine and the version that were measured."""

from __future__ import annotations

import json
import os
import platform
import subprocess
from datetime import datetime, timezone
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parent.parent


class BenchmarkError(Exception):
    """Something that a comparison needs cannot be had; the text says what."""


def cpu_name() -> str:
    """The CPU's name, as the kernel has it."""
    try:
        for line in Path("/proc/cpuinfo").read_text().splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    except OSError:
        pass
    return platform.processor() or platform.machine()


def git(root: Path, *arguments: str) -> str:
    """The output of a git command, or nothing if it fails."""
    command = ["git", "-C", root, *arguments]
    return subprocess.run(command, capture_output=True, text=True).stdout.strip()


def commit(root: Path = ROOT) -> str:
    """The commit that is measured, with "-dirty" if tracked files differ from
    it. Results files do not count: a run that writes several would find itself
    dirty from the second on."""
    name = git(root, "describe", "--always")
    others = (".", ":(exclude)benchmarks/results")
    changes = git(root, "status", "--porcelain", "-uno", "--", *others)
    return (name or "unknown") + ("-dirty" if changes else "")


def describe_machine() -> dict[str, Any]:
    """Date, commit and machine, for a results file."""
    return {
        "date": datetime.now(timezone.utc).isoformat(timespec="seconds"),
        "commit": commit(),
        "machine": {"cpu": cpu_name(), "cores": os.cpu_count()},
    }


def write_json(path: Path, value: Any) -> None:
    """Writes to a temporary name and renames."""
    path.parent.mkdir(parents=True, exist_ok=True)
    scratch = path.with_suffix(".tmp")
    scratch.write_text(json.dumps(value, indent=1) + "\n")
    os.replace(scratch, path)
