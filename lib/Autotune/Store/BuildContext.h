//===- BuildContext.h - The context of this build's records -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_BUILDCONTEXT_H
#define TARPON_LIB_AUTOTUNE_STORE_BUILDCONTEXT_H

#include "tarpon/Autotune/Store/Journal.h"

namespace tarpon {

/// Returns true for records of another LLVM, or of another version of the code
/// generator of a registered target, whatever their solver.
bool isStale(const JournalContext &context);

/// Returns true for records of this LLVM and of this build's code generator,
/// whose target is registered.
bool isOfThisBuild(const JournalContext &context);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_BUILDCONTEXT_H
