# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A machine of the cluster: namespaces of its own for processes, network, host
name, IPC and mounts, on a bridge with the others. What may happen to a machine
is a method."""

from __future__ import annotations

import json
import os
import resource
import shutil
import signal
import struct
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

from isolation import NAMESPACES, ROOT, STATE, call, die_with_parent
from memory_groups import MemoryGroups

BRIDGE = "tarpon0"
NETWORK = "10.77.0"
# Whoever submits jobs, and whose the jobs are.
USER = "tarpon"
CLOCK = "/run/clock"
# Made of clock.c.
CLOCK_LIBRARY = STATE / "etc" / "clock.so"
DISKS = STATE / "disks"
INIT = Path(__file__).with_name("node_init.py")


@dataclass
class NodeSpec:
    name: str
    features: tuple[str, ...] = ("cpu",)
    # How many GPUs it has of each type.
    gpus: dict[str, int] = field(default_factory=dict)
    cpus: int = 2
    memory: int = 4 << 30
    # The size of each of its own folders: /tmp, /run, /home and so on.
    folder_bytes: int = 256 << 20
    # If true, jobs see a clock that set_clock() can move (clock.c).
    has_movable_clock: bool = False
    is_controller: bool = False

    @property
    def devices(self) -> dict[str, list[str]]:
        """The device files of its GPUs, by type."""
        return {kind: [f"/run/{kind}-{i}" for i in range(count)] for kind, count in self.gpus.items()}


class Node:
    def __init__(self, spec: NodeSpec, number: int, groups: MemoryGroups) -> None:
        self.spec = spec
        self.name = spec.name
        self.address = f"{NETWORK}.{number}"
        self.link = f"veth{number}"
        self.groups = groups
        self.logs = STATE / "logs" / spec.name
        self.logs.mkdir(parents=True)
        self.disk = DISKS / spec.name
        self.make_disk()
        self.shell: subprocess.Popen | None = None

    def make_disk(self) -> None:
        """What a reboot leaves: the homes."""
        self.disk.mkdir(parents=True)
        call("mount", "-t", "tmpfs", "-o", f"mode=755,size={self.spec.folder_bytes}", "tarpon-node", str(self.disk))
        (self.disk / USER).mkdir(mode=0o700)
        shutil.chown(self.disk / USER, USER, USER)

    # A machine that is switched on, off, and entered.

    def begin_boot(self) -> None:
        """Starts the first process; end_boot() waits for it."""
        assert not self.is_running
        spec = self.spec
        description = {
            "name": self.name,
            "logs": str(self.logs),
            "folder_bytes": spec.folder_bytes,
            "checkout": str(ROOT),
            "devices": [file for files in spec.devices.values() for file in files],
            "disk": str(self.disk),
            "hidden": [str(DISKS), *([] if spec.is_controller else [str(STATE / "database")])],
        }
        group = self.groups.add(self.name, spec.memory)

        def prepare() -> None:
            die_with_parent()
            os.setsid()
            if group:
                (group / "cgroup.procs").write_text("0")
            else:
                resource.setrlimit(resource.RLIMIT_DATA, (spec.memory, spec.memory))

        with (self.logs / "init.log").open("a") as log:
            self.shell = subprocess.Popen(
                ["unshare", *NAMESPACES, sys.executable, "-B", str(INIT), json.dumps(description)],
                stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=log, text=True, preexec_fn=prepare,
            )

    def end_boot(self) -> None:
        assert self.shell and self.shell.stdout
        if self.shell.stdout.readline() != "ready\n":
            raise RuntimeError(f"{self.name}: its first process did not start")
        call(
            "ip", "link", "add", self.link, "type", "veth",
            "peer", "name", "eth0", "netns", str(self.shell.pid),
        )
        self.heal_network()
        commands = f"link set lo up\naddr add {self.address}/24 dev eth0\nlink set eth0 up\n"
        subprocess.run(
            ["nsenter", f"--net=/proc/{self.shell.pid}/ns/net", "ip", "-batch", "-"],
            input=commands, text=True, check=True,
        )
        self.set_clock(0)
        self.start(
            "munged", "munged", "--foreground", f"--key-file={STATE}/munge.key",
            "--seed-file=/run/munge/seed", "--pid-file=/run/munge/pid",
        )
        deadline = time.monotonic() + 10
        while not self.path("/run/munge/munge.socket.2").exists():
            if time.monotonic() > deadline:
                raise RuntimeError(f"{self.name}: munged did not start: {self.read_log('munged')}")
            time.sleep(0.01)

    def boot(self) -> None:
        """Slurm gives it jobs again at once if it knows that it was down."""
        self.begin_boot()
        self.end_boot()
        self.start_slurmd()

    def power_off(self) -> None:
        """Kills all processes at once. Its network goes with them, and its folders but for the homes."""
        if not self.shell:
            return
        first = [process for process in self.processes() if read_parent(process) == self.shell.pid]
        self.shell.kill()
        self.shell.wait()
        for process in first:
            # It dies with its parent, and the rest of the namespace before it. This process, as
            # the first one of the cluster's namespace, inherits it.
            os.waitpid(process, 0)
        for pipe in (self.shell.stdin, self.shell.stdout):
            pipe.close()
        self.shell = None

    @property
    def is_running(self) -> bool:
        return self.shell is not None and self.shell.poll() is None

    def start(self, log: str, *command: str, user: str = "") -> None:
        """Starts a daemon, as a child of the node's first process."""
        assert self.shell and self.shell.stdin
        order = {"name": log, "command": command, "user": user}
        self.shell.stdin.write(json.dumps(order) + "\n")
        self.shell.stdin.flush()

    def path(self, file: str) -> Path:
        """A file of the node, as seen from here."""
        assert self.shell
        return Path(f"/proc/{self.shell.pid}/root{file}")

    def read_log(self, name: str) -> str:
        file = self.logs / f"{name}.log"
        return file.read_text(errors="replace") if file.exists() else ""

    def make_command(self, command: Sequence[str], user: str = "", seconds: float = 60) -> list[str]:
        """A command that runs another one on the node."""
        assert self.shell
        place = f"/proc/{self.shell.pid}/ns"
        words = ["nsenter", f"--pid={place}/pid_for_children"]
        words += [f"--{kind}={place}/{name}" for kind, name in
                  (("net", "net"), ("uts", "uts"), ("ipc", "ipc"), ("mount", "mnt"))]
        # Entering another mount namespace leads to its root.
        words += ["env", f"--chdir={STATE}/shared", "timeout", "--signal=KILL", str(seconds)]
        if user:
            words += ["setpriv", f"--reuid={user}", f"--regid={user}", "--init-groups", "--reset-env"]
        return [*words, *command]

    def run(
        self, *command: str, user: str = "", check: bool = True, seconds: float = 60,
        text: str | None = None,
    ) -> subprocess.CompletedProcess:
        result = subprocess.run(
            self.make_command(command, user, seconds), capture_output=True, text=True, check=False,
            input=text if text is not None else "",
        )
        if check and result.returncode:
            message = (result.stderr or result.stdout).strip()
            raise RuntimeError(
                f"{self.name}: {' '.join(command)} ended with {result.returncode}: {message}"
            )
        return result

    # Processes.

    def processes(self) -> list[int]:
        if not self.is_running:
            return []
        own = os.stat(f"/proc/{self.shell.pid}/ns/pid_for_children").st_ino
        found = []
        for name in filter(str.isdigit, os.listdir("/proc")):
            try:
                if os.stat(f"/proc/{name}/ns/pid").st_ino == own:
                    found.append(int(name))
            except (FileNotFoundError, ProcessLookupError, PermissionError):
                # A process that is ending has no namespaces that may be looked at.
                continue
        return found

    def translate(self, process: int) -> int | None:
        """The number that a process of the node has here."""
        for candidate in self.processes():
            try:
                status = Path(f"/proc/{candidate}/status").read_text()
            except (FileNotFoundError, ProcessLookupError):
                continue
            if f"\nNSpid:\t{candidate}\t{process}\n" in status:
                return candidate
        return None

    def find(self, text: str) -> dict[int, str]:
        """The processes whose command line contains a text, with their command lines."""
        lines = {process: read_command(process) for process in self.processes()}
        return {process: line for process, line in lines.items() if text in line}

    def signal(self, text: str, number: int = signal.SIGKILL) -> list[str]:
        """Sends a signal to the processes whose command line contains a text;
        returns their command lines."""
        found = self.find(text)
        sent = []
        for process, line in found.items():
            try:
                os.kill(process, number)
                sent.append(line)
            except ProcessLookupError:
                continue
        return sent

    # Slurm's daemon.

    def start_slurmd(self) -> None:
        if not self.spec.is_controller:
            self.start("slurmd", "slurmd", "-D")

    def has_slurmd(self) -> bool:
        return any(read_name(process) == "slurmd" for process in self.processes())

    def kill_slurmd(self) -> None:
        """Its jobs go on without it."""
        for process in self.processes():
            if read_name(process) == "slurmd":
                os.kill(process, signal.SIGKILL)

    # What else may happen to a machine.

    def cut_network(self) -> None:
        """Takes the cable out of the switch: the node still has its own end of it."""
        call("ip", "link", "set", self.link, "nomaster")

    def heal_network(self) -> None:
        call("ip", "link", "set", self.link, "master", BRIDGE, "up")

    def set_clock(self, seconds: int) -> None:
        """Sets the clock that the node's jobs see that much ahead of the true one."""
        assert not seconds or self.spec.has_movable_clock
        if self.spec.has_movable_clock:
            # Programs have the file mapped.
            file = os.open(self.path(CLOCK), os.O_WRONLY | os.O_CREAT, 0o644)
            os.pwrite(file, struct.pack("=q", seconds), 0)
            os.close(file)

    def fill(self, folder: str = "/tmp") -> None:
        """Leaves no room in one of its own folders."""
        fill(self.path(folder))

    def empty(self, folder: str = "/tmp") -> None:
        empty(self.path(folder))


FILLER = "filler"


def fill(folder: Path) -> None:
    """Takes all the room in a folder. The memory is that of this process, not of a node's group."""
    with (folder / FILLER).open("ab") as file:
        while room := os.statvfs(folder).f_bavail * os.statvfs(folder).f_bsize:
            try:
                end = file.seek(0, os.SEEK_END)
                os.posix_fallocate(file.fileno(), end, room)
            except OSError:
                # Somebody else was faster, and took a part of it.
                continue


def empty(folder: Path) -> None:
    (folder / FILLER).unlink(missing_ok=True)


def read_command(process: int) -> str:
    try:
        return Path(f"/proc/{process}/cmdline").read_bytes().replace(b"\0", b" ").decode(errors="replace")
    except (FileNotFoundError, ProcessLookupError):
        return ""


def read_stat(process: int) -> tuple[str, list[str]]:
    """The name and the other fields of /proc/PROCESS/stat; empty when it is gone."""
    try:
        text = Path(f"/proc/{process}/stat").read_text()
    except (FileNotFoundError, ProcessLookupError):
        return "", []
    start, _, rest = text.partition("(")
    name, _, fields = rest.rpartition(")")
    return name, [start.strip(), *fields.split()]


def read_name(process: int) -> str:
    return read_stat(process)[0]


def read_parent(process: int) -> int:
    fields = read_stat(process)[1]
    return int(fields[2]) if fields else 0
