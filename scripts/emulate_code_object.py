#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs one kernel of an AMDGPU code object, instruction by instruction, on the
emulator of tinygrad (test/mockgpu/amd/emu.py of its repository, MIT).

The emulator decodes the machine code, so that it checks what LLVM's backend has
emitted, without an AMD GPU.

usage: emulate_code_object.py --emulator TINYGRAD --arch cdna|rdna3|rdna4
           --kernel NAME --grid X,Y,Z --block X,Y,Z --args ARGS.json CODE_OBJECT

--grid counts workgroups. ARGS.json lists the kernel's arguments in order:
  {"buffer": "in.bin"}                   a pointer to the contents of the file
  {"buffer_bytes": N, "out": "out.bin"}  a pointer to N poisoned bytes, which are
                                         written to the file afterwards
  {"i32": V}, {"i64": V}, {"f32": V}     a scalar, naturally aligned

Exit status: 0, 1 if the emulator fails, 2 for wrong input, 3 if the kernel wrote
outside of a buffer: each has 4 KiB of known bytes before and behind it.

Needs DEV=CPU:LLVM and LLVM_PATH=.../libLLVM.so of LLVM 22 in the environment.

It misses absent s_waitcnt and data races (memory is strongly ordered, and waves
run one after the other between barriers), hazards, and reads of registers that
were never written (they read as zero). Matrix instructions flush subnormal f16
inputs. gfx90a is not covered: its int8 matrix instructions have other opcodes.
"""

from __future__ import annotations

import argparse
import ctypes
import json
import struct
import sys
from dataclasses import dataclass, field
from pathlib import Path

CANARY = b"\xa5"
GUARD_BYTES = 4096
POISON = b"\xff"
SYMBOL_TABLES = (2, 11)  # SHT_SYMTAB and SHT_DYNSYM
DESCRIPTOR_BYTES = 64
SCALARS = {"i32": "<i", "i64": "<q", "f32": "<f"}


class InputError(Exception):
    """The command's input is wrong."""


@dataclass
class Buffer:
    """Device memory between two guards."""

    memory: ctypes.Array
    size: int
    out: str | None

    @classmethod
    def create(cls, data: bytes, out: str | None) -> Buffer:
        guard = CANARY * GUARD_BYTES
        memory = ctypes.create_string_buffer(
            guard + data + guard, len(data) + 2 * GUARD_BYTES
        )
        return cls(memory, len(data), out)

    @property
    def address(self) -> int:
        return ctypes.addressof(self.memory) + GUARD_BYTES

    @property
    def contents(self) -> bytes:
        return self.memory.raw[GUARD_BYTES : GUARD_BYTES + self.size]

    def is_intact(self) -> bool:
        """Returns True if nothing was written to the guards."""
        guard = CANARY * GUARD_BYTES
        return self.memory.raw == guard + self.contents + guard


@dataclass
class Arguments:
    """The block of arguments that a kernel reads, and the buffers it points to."""

    block: bytearray = field(default_factory=bytearray)
    buffers: list[Buffer] = field(default_factory=list)

    def push(self, layout: str, value: float) -> None:
        size = struct.calcsize(layout)
        self.block.extend(b"\0" * (-len(self.block) % size))
        self.block.extend(struct.pack(layout, value))

    def push_buffer(self, spec: dict) -> None:
        data = (
            Path(spec["buffer"]).read_bytes()
            if "buffer" in spec
            else POISON * spec["buffer_bytes"]
        )
        self.buffers.append(Buffer.create(data, spec.get("out")))
        self.push("<Q", self.buffers[-1].address)


def read_arguments(path: str) -> Arguments:
    """Lays out what ARGS.json lists."""
    arguments = Arguments()
    for spec in json.loads(Path(path).read_text()):
        if "buffer" in spec or "buffer_bytes" in spec:
            arguments.push_buffer(spec)
            continue
        kind = next((name for name in SCALARS if name in spec), None)
        if kind is None:
            raise InputError(f"{path}: unknown argument {spec}")
        arguments.push(SCALARS[kind], spec[kind])
    return arguments


def find_symbol(elf: bytes, name: str) -> int | None:
    """The address of a symbol of a 64-bit ELF file, or None."""
    (table,) = struct.unpack_from("<Q", elf, 40)
    entry_size, count = struct.unpack_from("<HH", elf, 58)
    sections = [
        struct.unpack_from("<IIQQQQIIQQ", elf, table + i * entry_size)
        for i in range(count)
    ]
    for _, kind, _, _, offset, size, link, _, _, _ in sections:
        if kind not in SYMBOL_TABLES:
            continue
        strings = sections[link][4]
        for symbol in range(offset, offset + size, 24):
            name_offset, _, _, _, value, _ = struct.unpack_from("<IBBHQQ", elf, symbol)
            start = strings + name_offset
            if elf[start : elf.index(b"\0", start)].decode() == name:
                return value
    return None


@dataclass
class Kernel:
    """A kernel in its loaded code object."""

    image: ctypes.Array
    image_size: int
    entry: int
    lds_bytes: int
    private_bytes: int
    argument_bytes: int
    resources: int
    has_scratch_descriptor: bool

    @classmethod
    def load(cls, path: str, name: str) -> Kernel:
        from tinygrad.runtime.support.elf import elf_loader

        elf = Path(path).read_bytes()
        address = find_symbol(elf, name + ".kd")
        if address is None:
            raise InputError(f"no kernel '{name}' in {path}")
        loaded = bytes(elf_loader(elf)[0])
        image = ctypes.create_string_buffer(loaded, len(loaded) + 4096)
        # The kernel descriptor, see "Kernel Descriptor" in LLVM's AMDGPUUsage.
        descriptor = loaded[address : address + DESCRIPTOR_BYTES]
        lds, private, argument_bytes = struct.unpack_from("<III", descriptor, 0)
        (offset,) = struct.unpack_from("<q", descriptor, 16)
        (resources,) = struct.unpack_from("<I", descriptor, 52)
        (properties,) = struct.unpack_from("<H", descriptor, 56)
        return cls(
            image,
            len(loaded),
            ctypes.addressof(image) + address + offset,
            lds,
            private,
            argument_bytes,
            # The command processor, not the descriptor, supplies the LDS size.
            (resources & ~(0x1FF << 15)) | (((lds + 511) // 512) << 15),
            bool(properties & 1),
        )

    def run(
        self, arch: str, grid: list[int], block: list[int], arguments: Arguments
    ) -> bool:
        """Runs all workgroups."""
        from test.mockgpu.amd.emu import run_asm

        if len(arguments.block) > self.argument_bytes:
            raise InputError(
                f"{len(arguments.block)} bytes of arguments, "
                f"the kernel takes {self.argument_bytes}"
            )
        padding = bytes(256 + self.argument_bytes)
        memory = ctypes.create_string_buffer(bytes(arguments.block) + padding)
        pointer = ctypes.addressof(memory)
        user_data = [0] * 4 if self.has_scratch_descriptor else []
        user_data += [pointer & 0xFFFFFFFF, pointer >> 32]
        status = run_asm(
            self.entry,
            self.image_size,
            *grid,
            *block,
            pointer,
            self.resources,
            self.private_bytes,
            arch,
            user_data,
        )
        return not status


def teach_buffer_loads() -> None:
    """tinygrad's emulator knows MUBUF instructions of CDNA only. Those of RDNA3
    that move whole words differ in their encoding, which tinygrad has, and in
    their names."""
    import test.mockgpu.amd.emu as emu
    import tinygrad.renderer.amd as amd
    from tinygrad.runtime.autogen.amd.rdna3.ins import MUBUF

    words = {"B32": "DWORD", "B64": "DWORDX2", "B128": "DWORDX4"}
    get_name = emu._op_name

    def compile_mubuf(inst, context):
        operation, _, size = get_name(inst).rpartition("_")
        if operation not in ("BUFFER_LOAD", "BUFFER_STORE") or size not in words:
            raise RuntimeError(f"{get_name(inst)} is not known")
        emu._op_name = lambda _: f"{operation}_{words[size]}"
        try:
            return emu._compile_mubuf(inst, context)
        finally:
            emu._op_name = get_name

    amd._load_formats()["rdna3"].insert(0, MUBUF)
    emu._INST_HANDLERS[MUBUF] = compile_mubuf


def parse_dims(text: str) -> list[int]:
    dims = [int(dim) for dim in text.split(",")]
    if len(dims) != 3:
        raise argparse.ArgumentTypeError("expected three numbers, X,Y,Z")
    return dims


def parse_command_line() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--emulator", metavar="TINYGRAD", required=True)
    parser.add_argument("--arch", required=True, choices=["cdna", "rdna3", "rdna4"])
    parser.add_argument("--kernel", metavar="NAME", required=True)
    parser.add_argument("--grid", type=parse_dims, required=True)
    parser.add_argument("--block", type=parse_dims, required=True)
    parser.add_argument("--args", metavar="ARGS.json", required=True)
    parser.add_argument("code_object", metavar="CODE_OBJECT")
    return parser.parse_args()


def emulate(options: argparse.Namespace) -> int:
    """Runs the kernel and writes its outputs; the exit status."""
    sys.path.insert(0, options.emulator)
    if options.arch == "rdna3":
        teach_buffer_loads()
    kernel = Kernel.load(options.code_object, options.kernel)
    arguments = read_arguments(options.args)
    is_done = kernel.run(options.arch, options.grid, options.block, arguments)
    for index, buffer in enumerate(arguments.buffers):
        if not buffer.is_intact():
            print(f"error: buffer {index}: written out of bounds", file=sys.stderr)
            return 3
    for buffer in arguments.buffers:
        if buffer.out is not None:
            Path(buffer.out).write_bytes(buffer.contents)
    return 0 if is_done else 1


def main() -> int:
    options = parse_command_line()
    try:
        return emulate(options)
    except InputError as error:
        print(f"error: {error}", file=sys.stderr)
        return 2


if __name__ == "__main__":
    sys.exit(main())
