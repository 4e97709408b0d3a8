#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Overwrites the first bytes of every file in a folder.

usage: damage.py DIR
"""

import sys
from pathlib import Path

for path in Path(sys.argv[1]).iterdir():
    content = path.read_bytes()
    path.write_bytes(b"x" * min(len(content), 200) + content[200:])
