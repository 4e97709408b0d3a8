# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of scripts/check-rules."""

import importlib.util
import unittest
from importlib.machinery import SourceFileLoader
from pathlib import Path

SCRIPT = Path(__file__).resolve().parents[2] / "scripts/check-rules"
loader = SourceFileLoader("check_rules", str(SCRIPT))
spec = importlib.util.spec_from_loader("check_rules", loader)
check_rules = importlib.util.module_from_spec(spec)
loader.exec_module(check_rules)

SWITCH = """
int f(Kind kind) {
  switch (kind) {
  case %s: {
    return 1;
  }
  default: // comment
    return 0;
  }
}
"""


class CheckRulesTest(unittest.TestCase):
    def lines(self, text: str, path: str = "lib/A/B.cpp") -> list[int]:
        return [found.line for found in check_rules.check_file(path, text)]

    def test_enums_of_ours_have_no_default(self) -> None:
        for label in ("Kind::A", "A", "DType::F32:\n  case DType::F16", "ns::Kind::A"):
            expected = 7 + label.count("\n")
            self.assertEqual(self.lines(SWITCH % label), [expected], label)

    def test_numbers_macros_and_foreign_enums_may_have_a_default(self) -> None:
        for label in ("1", "-1", "'a'", "0x1f", "SQLITE_NULL", "LLVM::AtomicBinOp::add"):
            self.assertEqual(self.lines(SWITCH % label), [], label)

    def test_each_default_belongs_to_its_own_switch(self) -> None:
        outer = """
switch (kind) {
case Kind::A:
  switch (number) {
  case 1:
    break;
  default:
    break;
  }
}
"""
        self.assertEqual(self.lines(outer), [])
        self.assertEqual(self.lines(outer.replace("Kind::A", "2").replace("1", "B")), [7])

    def test_comments_and_strings_do_not_count(self) -> None:
        self.assertEqual(self.lines('// case A: default:\nf("default: }");\n'), [])
        self.assertEqual(self.lines('/* op == "conv" */\n// dtype == "f32"\n'), [])

    def test_ops_and_dtypes_are_not_compared_with_strings(self) -> None:
        for text in ('if (problem.op == "conv")', 'if ("conv" != p->op)', 'op ==\n    "conv"',
                     'kernel.op == "gru"', 'reduction.op != "arg_min"', 'step.op=="add"',
                     'x || op == "min"', 'StringRef(problem.op) == "conv"',
                     'op.consume_front("global_")', 'op.starts_with("reduce_")',
                     'llvm::StringRef(problem.op).contains("conv")',
                     'is_contained({"log", "sqrt"}, op)',
                     'if (choice.dtype == "int8")', 'fusion == "on"', 'choice.layout != "nchw"',
                     'StringRef(package.layout).starts_with("nchw")', 'package->dtype == "fp16"',
                     'options.dtype.values.front() == "int8"',
                     "StringSwitch<bool>(problem.op)", "StringSwitch<Fn>(op)",
                     "StringSwitch<bool>(step.op)\n"):
            self.assertEqual(self.lines(text), [1], text)
        for text in ('problem.op == OpKind::Conv', 'stop == "conv"', 'loop("x") == "y"'):
            self.assertEqual(self.lines(text), [], text)

    def test_names_are_ops_where_kernels_are(self) -> None:
        for text in ('if (name == "conv")', "StringSwitch<bool>(name)", 'name.starts_with("max_")'):
            self.assertEqual(self.lines(text, "lib/Kernels/Host/A.cpp"), [1], text)
            self.assertEqual(self.lines(text), [], text)

    def test_tools_have_no_twins_for_gpus(self) -> None:
        self.assertEqual(self.lines("", "tools/graph-opt/Reports/GpuReport.cpp"), [1])
        for text in ("class GpuReport {", "struct GpuRow final : Row {", "\nenum class GpuKind {"):
            expected = [text.count("\n") + 1]
            self.assertEqual(self.lines(text, "tools/graph-opt/Reports/Report.h"), expected, text)
            self.assertEqual(self.lines(text), [])
        self.assertEqual(self.lines("struct GpuTarget;\nGpuTarget gpu;", "tools/a.cpp"), [])

    def test_nobody_asks_for_kinds(self) -> None:
        text = "int a;\nif (package.isForGpu())\n"
        self.assertEqual(self.lines(text), [2])
        self.assertEqual(self.lines(text, "test/unit/A.cpp"), [])
        self.assertEqual(self.lines("bool isModelledOn;\n"), [])

    def test_only_code_for_gpus_asks_for_the_gpu(self) -> None:
        for text in ("if (target.gpu)", "compiler->getTarget().gpu->waveSize", "getChip(target)",
                     "auto gpu = parseGpuTarget(name);", '#include "tarpon/Solver/GpuTarget.h"',
                     '#include "tarpon/Targets/AMDGPU/CodeObject.h"'):
            self.assertEqual(self.lines(text), [1], text)
            self.assertEqual(self.lines(text, "tools/a.cpp"), [1], text)
            for path in ("lib/Kernels/GPU/A.cpp", "lib/Targets/AMDGPU/A.cpp", "test/unit/A.cpp"):
                self.assertEqual(self.lines(text, path), [], text)
        for text in ("// target.gpu", "info.gpus", "gpu::ShuffleOp::create(b)", "int gpu;"):
            self.assertEqual(self.lines(text), [], text)

    def test_files_stay_under_600_lines(self) -> None:
        self.assertEqual(self.lines("\n" * 600), [])
        self.assertEqual(self.lines("\n" * 601), [601])
        self.assertEqual(self.lines("\n" * 601, "scripts/tool"), [601])
        self.assertEqual(self.lines("\n" * 601, "benchmarks/problems/convs.txt"), [])

    def test_only_the_repository_is_cited(self) -> None:
        for text in ("see issue 12", "shared/tools/x.py", "the rule of seed 004"):
            self.assertEqual(self.lines(text, "docs/a.md"), [1], text)
        self.assertEqual(self.lines("the seed 1 and this issue", "docs/a.md"), [])

    def test_comments_begin_with_their_subject(self) -> None:
        for text in ("/// What it does.", "  // Whether it is set.", "// Of the tile.",
                     "//===- A.h - What it does ---===//"):
            for path in ("lib/A.h", "include/tarpon/A.td", "tools/a.cpp"):
                self.assertEqual(self.lines(text, path), [1], text)
        self.assertEqual(self.lines("/// A sum.\n///\n/// Of what.", "lib/A.h"), [3])
        for text in ("/// Tells\n/// Whether it is set.", "// Whatever it is.",
                     "// The tile. What follows is an example.", "int Of; // Often."):
            self.assertEqual(self.lines(text, "lib/A.h"), [], text)
        self.assertEqual(self.lines("/// What it does.", "test/A.h"), [])

    def test_documents_name_files_that_are_there(self) -> None:
        for text in ("see `lib/Nothing.cpp`", "`lib/IR`, `docs/nothing.md`"):
            self.assertEqual(self.lines(text, "docs/a.md"), [1], text)
        for text in ("`lib/IR/<Op>.cpp`", "`test/lit/IR/invalid-*.mlir`", "`lib/IR`",
                     "`scripts/test`.", "lib/Nothing.cpp"):
            self.assertEqual(self.lines(text, "docs/a.md"), [], text)


if __name__ == "__main__":
    unittest.main()
