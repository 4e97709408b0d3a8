//===- TestEmulator.h - Runs kernels given as text --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_AMDGPU_TESTEMULATOR_H
#define TARPON_TEST_UNIT_TARGETS_AMDGPU_TESTEMULATOR_H

#include "tarpon/Targets/GPU/Emulator/Emulator.h"

#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <memory>
#include <string>
#include <vector>

namespace tarpon::test {

/// A module with a kernel @kernel of those arguments, such as
/// "%x: !llvm.ptr<1>, %n: i32". The body may use %tid and %bid, the thread's
/// and the workgroup's x as i32, and %lds, 4 KiB of LDS. Line 1 of the body is
/// line 10 of kernel.mlir.
std::string makeKernel(const std::string &arguments, const std::string &body);

/// Parses a module and keeps it.
class ParsedKernel {
public:
  /// The dialects are those of AMD's instructions unless others are given.
  explicit ParsedKernel(
      const std::string &module,
      const emulator::VendorInstructions *instructions = nullptr);
  ~ParsedKernel();
  mlir::gpu::GPUFuncOp get();

private:
  std::unique_ptr<mlir::MLIRContext> context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

/// Runs makeKernel(arguments, body) with `grid` and `block` in x, and with
/// AMD's instructions unless the options have others. The time is that of the
/// launch alone.
runtime::Result<EmulationReport>
emulateBody(const std::string &arguments, const std::string &body, int64_t grid,
            int64_t block, std::vector<EmulatedArgument> values,
            const EmulatorOptions &options = {}, double *seconds = nullptr);

template <typename T>
EmulatedBuffer makeBuffer(std::vector<T> &values) {
  return {values.data(), static_cast<int64_t>(values.size() * sizeof(T))};
}

/// The error, or "" if there is none.
inline std::string getMessage(const runtime::Result<EmulationReport> &result) {
  return result ? "" : result.message();
}

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_TARGETS_AMDGPU_TESTEMULATOR_H
