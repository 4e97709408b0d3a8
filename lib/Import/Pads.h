//===- Pads.h - The pads of Pad ---------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_PADS_H
#define TARPON_LIB_IMPORT_PADS_H

#include "OnnxNode.h"

namespace tarpon {

/// Returns one begin and one end per dimension of an input of that rank: an
/// attribute before opset 11 and an input since then, with axes since opset 18.
/// Emits an error and returns none if they are not known.
std::optional<llvm::SmallVector<int64_t>> readPads(OnnxNode &node,
                                                   int64_t rank);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_PADS_H
