# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Moves a program into namespaces of its own, in which it builds a cluster.

The kernel ends every process of a PID namespace with its first one, and removes
its network devices and mounts with the last. A cluster therefore leaves nothing
behind however it ends, but for empty control groups, which the next one removes.
"""

from __future__ import annotations

import ctypes
import os
import shutil
import signal
import subprocess
import sys
from pathlib import Path

import memory_groups

ROOT = Path(__file__).resolve().parents[2]

# All files of a cluster are here, on a tmpfs that other processes do not see.
STATE = Path("/srv")
CHECKOUT = STATE / "tarpon"

# Holds the name of the cluster's control group within the namespaces.
MARK = "TARPON_CLUSTER"
NAMESPACES = ("--mount", "--net", "--uts", "--ipc", "--pid", "--fork", "--kill-child", "--mount-proc")
PROGRAMS = {
    "iproute2": ("ip",),
    "munge": ("munged",),
    "openssl": ("openssl",),
    "postgresql-15": ("/usr/lib/postgresql/15/bin/initdb", "psql"),
    "slurm-wlm": ("slurmctld", "slurmd", "sbatch"),
    "util-linux": ("unshare", "nsenter", "setpriv"),
}
# As root has it, also where a user's shell leaves out the second halves.
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"

PR_SET_PDEATHSIG = 1


def find_missing_packages() -> list[str]:
    return [
        package
        for package, programs in PROGRAMS.items()
        if not all(shutil.which(program, path=PATH) for program in programs)
    ]


def find_obstacle() -> str:
    """Why no cluster can be built here, in one sentence; empty if one can be."""
    if sys.platform != "linux":
        return "there are no namespaces outside of Linux"
    if os.geteuid() != 0:
        return "namespaces, Slurm and a database server on one machine need root"
    if missing := find_missing_packages():
        return f"the packages {', '.join(missing)} are not installed: run scripts/setup"
    for folder in (STATE, Path("/etc/slurm")):
        if not folder.is_dir():
            return f"there is no folder {folder}, over which the cluster's own would be mounted"
    probe = (
        "ip link add tarpon0 type bridge && ip link add tarpon1 type veth peer name tarpon2 && "
        f"mount -t tmpfs tarpon {STATE}"
    )
    result = subprocess.run(
        ["unshare", *NAMESPACES, "sh", "-c", probe],
        env={"PATH": PATH}, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL,
    )
    if result.returncode:
        reason = (result.stderr.strip().splitlines() or ["no reason given"])[-1]
        return f"the kernel grants no network and mount namespaces ({reason})"
    return ""


def is_inside() -> bool:
    return MARK in os.environ


def enter() -> None:
    """Runs this program again in new namespaces, in place of this process. There
    it returns at once."""
    if not is_inside():
        memory_groups.remove_leftovers()
        os.environ[MARK] = memory_groups.make_name()
        os.environ["PATH"] = PATH
        program = [sys.executable, "-B", *sys.argv]
        os.execvp("unshare", ["unshare", *NAMESPACES, *program])

    # The first process of a PID namespace gets only the signals that it handles.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))
    signal.signal(signal.SIGHUP, lambda *_: sys.exit(128 + signal.SIGHUP))
    mount_state()


def mount_state() -> None:
    # The checkout may lie below the folder that is about to be hidden.
    checkout = os.open(ROOT, os.O_PATH)
    call("mount", "-t", "tmpfs", "-o", "mode=755,size=8g", "tarpon-cluster", str(STATE))
    CHECKOUT.mkdir()
    call("mount", "--bind", f"/proc/{os.getpid()}/fd/{checkout}", str(CHECKOUT))
    call("mount", "-o", "remount,bind,ro", str(CHECKOUT))
    os.close(checkout)


def call(*command: str) -> str:
    """Runs a command, which has to succeed; returns its output."""
    result = subprocess.run(
        command, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
    )
    if result.returncode:
        raise RuntimeError(f"{' '.join(command)}: {(result.stderr or result.stdout).strip()}")
    return result.stdout


def die_with_parent() -> None:
    """For a child, before it runs its program."""
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
