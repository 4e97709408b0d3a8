//===- LargeAllocations.h - Weights in huge pages ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_LARGEALLOCATIONS_H
#define TARPON_TOOLS_GRAPH_OPT_LARGEALLOCATIONS_H

namespace tarpon {

/// Makes malloc use huge pages, and keep freed memory. Call it before other
/// threads run.
void useHugePages();

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_LARGEALLOCATIONS_H
