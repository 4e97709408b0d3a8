//===- PassTarget.h - The target that a pass works for ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_PASSES_PASSTARGET_H
#define TARPON_LIB_PASSES_PASSTARGET_H

#include "tarpon/Solver/TargetInfo.h"

#include "mlir/IR/Operation.h"

#include <cstdint>
#include <optional>
#include <string>

namespace tarpon::detail {

/// Returns the first of these: the target that a program has set; the pass's
/// options; the attribute tarpon.target of `op` or of an op around it; the
/// baseline of x86-64 with one thread. Reports the name of an unknown target.
mlir::FailureOr<TargetInfo>
getPassTarget(mlir::Operation *op, const std::optional<TargetInfo> &given,
              const std::string &name, int64_t threads);

} // namespace tarpon::detail

#endif // TARPON_LIB_PASSES_PASSTARGET_H
