# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a command that is a builder, and has its process crash whenever it works on a job.

usage: crash-builder.py DB JOB COMMAND..."""

import os
import signal
import sqlite3
import subprocess
import sys
import time

database = sqlite3.connect(sys.argv[1], timeout=60)
job = int(sys.argv[2])
builder = subprocess.Popen(sys.argv[3:])
crashed = 0
while builder.poll() is None:
    for process, lease in database.execute(
        "SELECT process, lease FROM job JOIN worker ON worker.id = worker_id "
        "WHERE job.id = ? AND job.state = 'leased' AND lease > ?",
        (job, crashed),
    ).fetchall():
        try:
            os.kill(process, signal.SIGSEGV)
        except ProcessLookupError:
            continue
        crashed = lease
    time.sleep(0.002)
print("crashed", crashed, "times")
sys.exit(builder.returncode)
