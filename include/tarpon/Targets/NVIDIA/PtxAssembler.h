//===- PtxAssembler.h - Assembles PTX by ptxas ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_NVIDIA_PTXASSEMBLER_H
#define TARPON_TARGETS_NVIDIA_PTXASSEMBLER_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/StringRef.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// NVIDIA's assembler, a program of CUDA's toolkit. Without it, packages keep
/// PTX, which the driver assembles on every machine again. Thread-safe.
class PtxAssembler {
public:
  /// Finds the assembler: TARPON_PTXAS, on the PATH, or in /usr/local/cuda.
  /// None if there is none; an error if TARPON_PTXAS names no program that
  /// runs.
  static runtime::Result<std::optional<PtxAssembler>> find();

  /// "ptxas V13.0.88", as the program says.
  const std::string &getVersion() const { return version; }

  /// Assembles for a chip such as "sm_90a". Returns a cubin, or what ptxas says
  /// is wrong with the kernel of that name.
  runtime::Result<std::vector<char>> assemble(llvm::StringRef ptx,
                                              llvm::StringRef chip,
                                              llvm::StringRef kernel) const;

private:
  PtxAssembler(std::string program, std::string version)
      : program(std::move(program)), version(std::move(version)) {}

  std::string program, version;
};

} // namespace tarpon

#endif // TARPON_TARGETS_NVIDIA_PTXASSEMBLER_H
