# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests that the key of cached kernels covers the sources that decide what code
a kernel becomes."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
LIST = ROOT / "cmake/TarponCodeDigest.cmake"
HOST = ROOT / "lib/Targets/Host"
INCLUDE_FOLDERS = ("include", "lib", "lib/Kernels", "lib/Targets")

# Headers that emitters of code include, and that decide nothing about code: how
# kernels are kept, loaded and run, and how targets are found.
WITHOUT_CODE = {
    "include/tarpon/IR/DiagnosticLog.h",
    # Names and modes of operations, which problems hold as numbers.
    "include/tarpon/IR/TarponDialect.h",
    "include/tarpon/Runtime/AlignedBytes.h",
    "include/tarpon/Runtime/Device.h",
    "include/tarpon/Runtime/HostDevice.h",
    "include/tarpon/Runtime/HostFeatures.h",
    "include/tarpon/Runtime/Package.h",
    "include/tarpon/Runtime/Precision.h",
    "include/tarpon/Runtime/Result.h",
    "include/tarpon/Runtime/Sha256.h",
    "include/tarpon/Runtime/ThreadPool.h",
    "include/tarpon/Targets/Host/HostBackend.h",
    "include/tarpon/Targets/Host/HostTarget.h",
    "include/tarpon/Targets/KernelBackend.h",
    "include/tarpon/Targets/Compiler/KernelCache.h",
    "include/tarpon/Targets/Compiler/KernelCompiler.h",
    "include/tarpon/Targets/Linker/Linker.h",
    "lib/Targets/Linker/OutputPipe.h",
    "include/tarpon/Targets/Target.h",
    "include/tarpon/Targets/Registry/TargetRegistry.h",
}


def list_sources() -> set[str]:
    """The sources of the host's digest."""
    text = LIST.read_text()
    globbed = re.search(r"GLOB_RECURSE code_sources CONFIGURE_DEPENDS(.*?)\)", text, re.S)[1]
    excluded = re.search(r'EXCLUDE REGEX "(.*?)"', (HOST / "CMakeLists.txt").read_text())[1]
    found = {str(path.relative_to(ROOT)) for end in ("cpp", "h") for path in HOST.glob("*." + end)}
    for pattern in re.findall(r"\$\{PROJECT_SOURCE_DIR\}/(\S+)", globbed):
        folder, name = pattern.rsplit("/", 1)
        found |= {str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob(name)}
    return {path for path in found if not re.search(excluded, "/" + path)}


def list_includes(source: str) -> set[str]:
    folders = (str(Path(source).parent), *INCLUDE_FOLDERS)
    found = set()
    for name in re.findall(r'#include "([^"]+)"', (ROOT / source).read_text()):
        for folder in folders:
            path = (ROOT / folder / name).resolve()
            if path.exists():
                found.add(str(path.relative_to(ROOT)))
                break
    return found


class CodeDigestTest(unittest.TestCase):
    def test_the_list_is_found(self) -> None:
        sources = list_sources()
        self.assertIn("lib/Kernels/Common/Epilogue.cpp", sources)
        self.assertIn("include/tarpon/Runtime/DTypes.def", sources)
        self.assertNotIn("lib/Kernels/GPU/GpuPool.cpp", sources)

    def test_every_header_is_listed_or_without_code(self) -> None:
        sources = list_sources()
        included = set().union(*map(list_includes, sources))
        self.assertEqual(included - sources - WITHOUT_CODE, set())


if __name__ == "__main__":
    unittest.main()
