# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A PostgreSQL server on the controller: passwords by scram-sha-256, over TLS alone."""

from __future__ import annotations

import contextlib
import json
import os
import secrets
import shutil
import signal
import time
from pathlib import Path

from isolation import STATE, call
from node import NETWORK, USER, Node, read_name

PROGRAMS = Path("/usr/lib/postgresql/15/bin")
FOLDER = STATE / "database"
DATA = FOLDER / "data"
CERTIFICATE = STATE / "etc" / "root.crt"
SERVICE = "fleet"
OWNER = "postgres"

SETTINGS = """
listen_addresses = '*'
unix_socket_directories = '/tmp'
ssl = on
ssl_cert_file = '{data}/server.crt'
ssl_key_file = '{data}/server.key'
password_encryption = 'scram-sha-256'
max_connections = 200
shared_buffers = 64MB
# Connections of nodes that are cut off end, and with them their locks.
tcp_keepalives_idle = 5
tcp_keepalives_interval = 2
tcp_keepalives_count = 3
tcp_user_timeout = 10000
log_line_prefix = '%m [%p] %u@%h '
"""
ACCESS = f"""\
local all postgres peer
hostssl all all {NETWORK}.0/24 scram-sha-256
"""


class Database:
    def __init__(self, node: Node, host: str) -> None:
        self.node = node
        self.host = host

    def create(self) -> None:
        """Makes the files of a server. The node may not be there yet."""
        shutil.chown(FOLDER, OWNER, OWNER)
        as_owner = ["setpriv", f"--reuid={OWNER}", f"--regid={OWNER}", "--init-groups"]
        call(
            *as_owner, str(PROGRAMS / "initdb"), "--pgdata", str(DATA), "--no-sync", "--encoding=UTF8",
            "--no-locale", "--auth=scram-sha-256", "--auth-local=peer",
        )
        self.make_certificate()
        with (DATA / "postgresql.conf").open("a") as file:
            file.write(SETTINGS.format(data=DATA))
        (DATA / "pg_hba.conf").write_text(ACCESS)

    def make_certificate(self) -> None:
        """The server's certificate is its own authority, of which nodes have a copy."""
        key, certificate = DATA / "server.key", DATA / "server.crt"
        call(
            "openssl", "req", "-new", "-x509", "-nodes", "-days", "2", "-subj", f"/CN={self.host}",
            "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1",
            "-addext", f"subjectAltName=DNS:{self.host}", "-keyout", str(key), "-out", str(certificate),
        )
        key.chmod(0o600)
        for file in (key, certificate):
            shutil.chown(file, OWNER, OWNER)
        CERTIFICATE.write_text(certificate.read_text())

    def start(self, seconds: float = 30) -> None:
        self.node.start("postgres", str(PROGRAMS / "postgres"), "-D", str(DATA), user=OWNER)
        deadline = time.monotonic() + seconds
        while not self.accepts_connections():
            if time.monotonic() > deadline:
                raise RuntimeError(f"PostgreSQL did not start: {self.node.read_log('postgres')[-2000:]}")
            time.sleep(0.05)

    def accepts_connections(self) -> bool:
        command = (str(PROGRAMS / "pg_isready"), "-q", "-h", "/tmp")
        return self.node.run(*command, check=False).returncode == 0

    def find_processes(self) -> list[int]:
        return [process for process in self.node.processes() if read_name(process) == "postgres"]

    def stop(self) -> None:
        """Ends open transactions and closes cleanly."""
        first = int((DATA / "postmaster.pid").read_text().split()[0])
        self.node.run("kill", "-INT", str(first))
        self.wait_for_end()

    def kill(self) -> None:
        """Kills all its processes, as a crash of the machine would."""
        for process in self.find_processes():
            # The others end by themselves when the first one is gone.
            with contextlib.suppress(ProcessLookupError):
                os.kill(process, signal.SIGKILL)
        self.wait_for_end()

    def wait_for_end(self) -> None:
        deadline = time.monotonic() + 30
        while self.find_processes():
            if time.monotonic() > deadline:
                raise RuntimeError("PostgreSQL did not end within 30 s")
            time.sleep(0.02)

    def query(self, text: str, database: str = "fleet") -> list[dict]:
        """The rows of a SELECT, asked by the administrator on the server itself."""
        wrapped = f"SELECT coalesce(json_agg(rows), '[]') FROM ({text}) AS rows"
        return json.loads(self.execute(wrapped, database))

    def execute(self, text: str, database: str = "fleet") -> str:
        command = ("psql", "-h", "/tmp", "-d", database, "-XAtq", "-v", "ON_ERROR_STOP=1", "-f", "-")
        return self.node.run(*command, user=OWNER, text=text).stdout

    def create_role(self, name: str, options: str = "") -> str:
        """A role that may log in; returns its password."""
        password = secrets.token_urlsafe(18)
        self.execute(f"CREATE ROLE {name} LOGIN {options} PASSWORD '{password}'", "postgres")
        return password

    def give_credentials(self, node: Node, role: str, password: str, service: str = SERVICE) -> None:
        """Lets the user of jobs on a node log in by `service=SERVICE`, with PostgreSQL's own files."""
        home = node.disk / USER
        self.append(home / ".pgpass", f"{self.host}:5432:*:{role}:{password}\n")
        self.append(
            home / ".pg_service.conf",
            f"[{service}]\nhost={self.host}\nport=5432\ndbname=fleet\nuser={role}\n"
            f"sslmode=verify-full\nsslrootcert={CERTIFICATE}\nconnect_timeout=5\n",
        )

    @staticmethod
    def append(file: Path, text: str) -> None:
        with file.open("a") as stream:
            stream.write(text)
        file.chmod(0o600)
        shutil.chown(file, USER, USER)
