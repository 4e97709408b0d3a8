//===- PackageValidation.h - Validates programs -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_PACKAGEVALIDATION_H
#define TARPON_LIB_RUNTIME_PACKAGEVALIDATION_H

#include "tarpon/Runtime/Package.h"

namespace tarpon::runtime {

/// The largest tensor, arena or scratch; sums of a few of them cannot overflow.
inline constexpr int64_t kMaxBytes = int64_t(1) << 47;

/// Checks what a program says of memory, launches and kernels of the package,
/// whose constants need not be there.
Status validateProgram(const Package &package, int64_t constantBytes,
                       const Program &program);

/// Checks a decoded program like the package's own, and that it is for the
/// sizes of `range`.
Status validateSized(const Package &package, int64_t constantBytes,
                     const ProgramRange &range, const Program &program);

/// Checks dimensions, symbols and the places of programs, which are not
/// decoded.
Status validateDimensions(const Package &package);

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_PACKAGEVALIDATION_H
