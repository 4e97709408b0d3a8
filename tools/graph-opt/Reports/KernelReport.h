//===- KernelReport.h - What a GPU package's kernels take -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_REPORTS_KERNELREPORT_H
#define TARPON_TOOLS_GRAPH_OPT_REPORTS_KERNELREPORT_H

#include "tarpon/Runtime/Package.h"

namespace tarpon {

/// One line per code object: how many launches it serves, and what it takes of
/// a compute unit, as its metadata says; then the totals. An error if a launch
/// has no code object, or the package is for something else than HIP.
runtime::Result<std::string> reportKernels(const runtime::Package &package);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_KERNELREPORT_H
