//===- CompileUntuned.h - A package without any tuning ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For programs that compile and never tune: nothing is looked up, nothing is
// measured, and no store is linked (the library TarponModelCompiler).
// compileModel of Tuning/Compile.h uses what the stores know.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_COMPILEUNTUNED_H
#define TARPON_AUTOTUNE_CHOICE_COMPILEUNTUNED_H

#include "tarpon/Passes/Fusion.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Precision.h"
#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>

namespace tarpon {

struct UntunedOptions {
  /// The ONNX file.
  std::string model;
  /// Any but int8, which has to be calibrated: tuning does that.
  runtime::Precision dtype = runtime::Precision::F32;
  Layout layout;
  Fusion fusion = Fusion::On;
  std::optional<int64_t> batch;
  /// Name and options of the target, which the program has registered.
  std::string target = "host", device;
  /// 0: one per core.
  int64_t threads = 0;
  std::string cpu = "native";
  /// Called with each remark of the importer.
  std::function<void(const std::string &)> onRemark;
};

/// Compiles a model. Every layer gets the solver that expects to reach the most
/// of the target's peak, with its default config.
runtime::Result<runtime::Package> compileUntuned(const UntunedOptions &options);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_COMPILEUNTUNED_H
