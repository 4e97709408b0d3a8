//===- PerfReport.h - A measured model as a table and as JSON ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_REPORTS_PERFREPORT_H
#define TARPON_TOOLS_GRAPH_OPT_REPORTS_PERFREPORT_H

#include "CompileReport.h"
#include "PeakRates.h"

#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Package.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// The measurement of one layer.
struct LayerReport {
  const runtime::Layer *layer = nullptr;
  runtime::Precision arithmetic = runtime::Precision::F32;
  double medianMs = 0;
  /// The layer's share of the sum of all layers' times.
  double share = 0;
  /// 10^9 operations and bytes per second; a byte counts once, however often
  /// the kernel reads it.
  double gflops = 0, gbps = 0;
  /// The fraction of the binding peak: the larger of the fractions of both
  /// peaks.
  double fraction = 0;
  bool computeBound = false;
};

struct PerfReport {
  std::string model;
  const runtime::Package *package = nullptr;
  /// The GPU that the model ran on, or "" for the host; the host's threads.
  std::string device;
  int64_t threads = 1;
  /// The time of whole runs, without timers between the layers.
  runtime::Timing whole;
  PeakRates peaks;
  std::vector<LayerReport> layers;
  /// Set with --compile-report.
  std::optional<CompileReport> compiling;

  /// Computes all fields of `layers` except the median times and arithmetic.
  void computeRates();
  void printTable(llvm::raw_ostream &os) const;
  std::string toJson() const;
};

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_REPORTS_PERFREPORT_H
