//===- PeakRates.h - The peak rates of this machine -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_REPORTS_PEAKRATES_H
#define TARPON_TOOLS_GRAPH_OPT_REPORTS_PEAKRATES_H

#include "tarpon/Runtime/Precision.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Target.h"

#include <map>
#include <set>
#include <string>

namespace tarpon {

using Precisions = std::set<runtime::Precision>;

/// The rates that no layer can exceed unless its data are in a cache: 10^9
/// operations and bytes per second.
struct PeakRates {
  std::map<runtime::Precision, double> gflops;
  double gbps = 0;
};

/// Measures loops that only multiply and add in registers, and one that only
/// reads memory, on the threads of the host.
runtime::Result<PeakRates> measurePeakRates(KernelCompiler &compiler,
                                            const Precisions &wanted);

/// Returns the rates that the target states for its arithmetics, or else, as on
/// the host, measured ones.
runtime::Result<PeakRates> getPeakRates(const Target &target,
                                        const Precisions &wanted);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_PEAKRATES_H
