//===- KernelReport.h - Resources of a package's kernels --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_REPORTS_KERNELREPORT_H
#define TARPON_TOOLS_GRAPH_OPT_REPORTS_KERNELREPORT_H

#include "tarpon/Runtime/Package.h"

namespace tarpon {

/// Prints one line per code object: the number of launches that it serves, and
/// the resources that it says it uses; then the totals. An error if a launch
/// has no code object, or if the target's kernels do not say it.
runtime::Result<std::string> reportKernels(const runtime::Package &package);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_KERNELREPORT_H
