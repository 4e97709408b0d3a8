//===- AllTargets.h - Registers the targets of this build -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_ALLTARGETS_H
#define TARPON_TARGETS_ALLTARGETS_H

namespace tarpon {

/// Registers every target that was built. May be called more than once.
void registerAllTargets();

} // namespace tarpon

#endif // TARPON_TARGETS_ALLTARGETS_H
