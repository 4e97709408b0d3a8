"""How lit finds and runs Tarpon's tests."""

import os
import sys

import lit.formats

config.name = "tarpon"
config.test_format = lit.formats.ShTest(execute_external=False)
config.suffixes = [".mlir", ".test"]
config.excludes = ["Inputs", "CMakeLists.txt", "lit.cfg.py", "lit.site.cfg.py"]
config.test_source_root = os.path.dirname(__file__)
config.test_exec_root = os.path.join(config.tarpon_obj_root, "test", "lit")

config.substitutions.append(("%python", f'"{sys.executable}"'))

# graph-opt from the build, FileCheck and not from LLVM.
config.environment["PATH"] = os.pathsep.join(
    [config.tarpon_tools_dir, config.llvm_tools_dir, config.environment["PATH"]]
)
