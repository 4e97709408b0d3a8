# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""scripts/emulate-case with nothing but this repository and an emulator, here a
stand-in that knows one kernel: it adds 1 to every byte."""

import json
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"

EMULATOR = '''
import ctypes, os

def run_asm(entry, size, gx, gy, gz, bx, by, bz, pointer, *rest):
    assert (gx, gy, gz, bx, by, bz) == (2, 1, 1, 64, 1, 1)
    source, target = (ctypes.c_uint64 * 2).from_address(pointer)
    count = ctypes.c_int32.from_address(pointer + 16).value
    count += "WRITE_OUTSIDE" in os.environ
    given = ctypes.string_at(source, count)
    ctypes.memmove(target, bytes((byte + 1) % 256 for byte in given), count)
    return 0
'''
LOADER = "def elf_loader(data): return data, []\n"


def make_code_object(kernel: str) -> bytes:
    """An ELF file with the kernel's descriptor and its symbol."""
    descriptor = struct.pack("<III", 0, 0, 24) + bytes(4) + struct.pack("<q", 256)
    descriptor += bytes(64 - len(descriptor))
    strings = b"\0" + kernel.encode() + b".kd\0"
    descriptor_at, strings_at = 64, 128
    symbols_at = strings_at + len(strings)
    symbols = bytes(24) + struct.pack("<IBBHQQ", 1, 0, 0, 0, descriptor_at, 64)
    sections_at = symbols_at + len(symbols)

    def section(kind: int, offset: int, size: int, link: int) -> bytes:
        return struct.pack("<IIQQQQIIQQ", 0, kind, 0, 0, offset, size, link, 0, 1, 0)

    header = bytearray(64)
    struct.pack_into("<Q", header, 40, sections_at)
    struct.pack_into("<HH", header, 58, 64, 3)
    return (
        bytes(header)
        + descriptor
        + strings
        + symbols
        + section(0, 0, 0, 0)
        + section(3, strings_at, len(strings), 0)
        + section(2, symbols_at, len(symbols), 1)
    )


class EmulateCaseTest(unittest.TestCase):
    def setUp(self) -> None:
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        # A folder with nothing around it that could help.
        self.script = self.root / "repository/scripts/emulate-case"
        self.script.parent.mkdir(parents=True)
        for name in ("emulate-case", "emulate_code_object.py"):
            shutil.copy(SCRIPTS / name, self.script.parent)
        # tinygrad's package, not that of Python's own tests.
        self.write("emulator/test/__init__.py", b"")
        self.write("emulator/test/mockgpu/amd/emu.py", EMULATOR.encode())
        self.write("emulator/tinygrad/runtime/support/elf.py", LOADER.encode())
        self.write_case(expected=bytes([2, 3, 4, 5]))

    def write(self, name: str, data: bytes) -> None:
        path = self.root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)

    def write_case(self, expected: bytes) -> None:
        arguments = [
            {"buffer": "input-0.bin"},
            {"buffer_bytes": 4, "out": "output-0.bin"},
            {"i32": 4},
        ]
        output = {
            "source": "reference",
            "out": "output-0.bin",
            "expected": "output-0.expected.bin",
            "dtype": "i8",
            "tolerance": 0.5,
        }
        case = {
            "arch": "cdna",
            "target": "gfx942",
            "solver": "test-v1",
            "problem": "increment",
            "kernel": "increment",
            "code_object": "kernel.hsaco",
            "args": "ARGS.json",
            "grid": [2, 1, 1],
            "block": [64, 1, 1],
            "regions": ["input-0", "output-0", ""],
            "outputs": [output],
        }
        self.write("case/launch-0/input-0.bin", bytes([1, 2, 3, 4]))
        self.write("case/launch-0/output-0.expected.bin", expected)
        self.write("case/launch-0/ARGS.json", json.dumps(arguments).encode())
        self.write("case/launch-0/case.json", json.dumps(case).encode())
        self.write("case/launch-0/kernel.hsaco", make_code_object("increment"))

    def run_case(self, **environment: str) -> subprocess.CompletedProcess:
        command = [sys.executable, self.script, self.root / "case"]
        command += ["--emulator", self.root / "emulator"]
        return subprocess.run(command, env=environment, capture_output=True, text=True)

    def test_right_results_are_accepted(self) -> None:
        done = self.run_case()
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("OK gfx942 test-v1 increment: error 0.00e+00", done.stdout)

    def test_wrong_results_are_refused(self) -> None:
        self.write_case(expected=bytes([2, 3, 4, 6]))
        done = self.run_case()
        self.assertEqual(done.returncode, 1)
        self.assertIn("FAILED gfx942 test-v1 increment: error 1.00e+00", done.stdout)

    def test_writes_out_of_bounds_are_found(self) -> None:
        done = self.run_case(WRITE_OUTSIDE="1")
        self.assertEqual(done.returncode, 1)
        self.assertIn("exit status 3: error: buffer 1: written out of", done.stdout)

    def test_unknown_kernels_and_arguments_are_named(self) -> None:
        self.write("case/launch-0/kernel.hsaco", make_code_object("other"))
        self.assertIn("no kernel 'increment' in", self.run_case().stdout)
        self.write_case(expected=b"")
        self.write("case/launch-0/ARGS.json", b'[{"i8": 1}]')
        case = json.loads((self.root / "case/launch-0/case.json").read_text())
        case["regions"] = [""]
        self.write("case/launch-0/case.json", json.dumps(case).encode())
        self.assertIn("unknown argument {'i8': 1}", self.run_case().stdout)


if __name__ == "__main__":
    unittest.main()
