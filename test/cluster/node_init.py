# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The first process of a node: sets up its files, starts its daemons and reaps.

usage: node_init.py DESCRIPTION

Reads lines of JSON from stdin, {"name": NAME, "command": [...], "user": USER},
each of which it starts as its own child, with its output in the file NAME.log of
the node's logs. Ends, and with it the node, when stdin ends.
"""

from __future__ import annotations

import contextlib
import json
import os
import pwd
import signal
import socket
import subprocess
import sys
from pathlib import Path

# Nodes share no files but those of the cluster's folder, and change no others.
PRIVATE_FOLDERS = ("/tmp", "/var/tmp", "/run", "/root", "/dev/shm")


def mount(*arguments: str) -> None:
    subprocess.run(["mount", *arguments], check=True, stdin=subprocess.DEVNULL)


def set_up(description: dict) -> None:
    socket.sethostname(description["name"])
    mount("-o", "remount,bind,ro", "/")
    # A checkout may be on a file system of its own, which "/" does not include.
    checkout = description["checkout"]
    if os.path.isdir(checkout):
        mount("--bind", checkout, checkout)
        mount("-o", "remount,bind,ro", checkout)
    for folder in PRIVATE_FOLDERS:
        size = description["folder_bytes"]
        mode = "1777" if folder in ("/tmp", "/var/tmp", "/dev/shm") else "755"
        mount("-t", "tmpfs", "-o", f"mode={mode},size={size}", "tarpon-node", folder)
    mount("--bind", description["disk"], "/home")
    for folder in ("/run/munge", "/run/slurmd", "/run/lock"):
        os.mkdir(folder)
    for folder in description["hidden"]:
        mount("-t", "tmpfs", "-o", "ro,size=4k", "tarpon-node", folder)
    for file in description["devices"]:
        os.mknod(file, 0o666 | 0o020000, os.makedev(1, 3))
        os.chmod(file, 0o666)


def reap(*_: object) -> None:
    with contextlib.suppress(ChildProcessError):
        while os.waitpid(-1, os.WNOHANG)[0]:
            pass


def start(order: dict, logs: Path) -> None:
    child = os.fork()
    if child:
        return
    try:
        os.setsid()
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        nothing = os.open("/dev/null", os.O_RDONLY)
        log = os.open(logs / f"{order['name']}.log", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)
        for target, source in ((0, nothing), (1, log), (2, log)):
            os.dup2(source, target)
        os.closerange(3, 64)
        os.chdir("/")
        if user := order.get("user"):
            entry = pwd.getpwnam(user)
            os.environ["HOME"] = entry.pw_dir
            os.initgroups(user, entry.pw_gid)
            os.setgid(entry.pw_gid)
            os.setuid(entry.pw_uid)
        os.execvp(order["command"][0], order["command"])
    finally:
        os._exit(127)


def main() -> None:
    description = json.loads(sys.argv[1])
    set_up(description)
    signal.signal(signal.SIGCHLD, reap)
    print("ready", flush=True)
    for line in sys.stdin:
        start(json.loads(line), Path(description["logs"]))


main()
