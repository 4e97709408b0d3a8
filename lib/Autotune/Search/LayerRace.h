//===- LayerRace.h - The race of a layer's candidates -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_LAYERRACE_H
#define TARPON_LIB_AUTOTUNE_SEARCH_LAYERRACE_H

#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/Progress.h"
#include "tarpon/Autotune/Search/SearchStatistics.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Package.h"

#include <vector>

namespace tarpon {

class CandidateTrial;

/// The common context of the races of a package's layers. All references must
/// outlive the races.
struct LayerRaceContext {
  const runtime::Package &package;
  runtime::Device &device;
  Progress &progress;
  Journal &journal;
  /// True to measure candidates again that the journal knows.
  bool again;
  Deadline deadline;
  SearchStatistics &statistics;
  /// Null if candidates run in this process only.
  CandidateTrial *trial = nullptr;
};

/// Measures the candidates of a layer on the device and returns one result
/// each, in the layer's order. Candidates that were not measured in time have a
/// status other than ok.
runtime::Result<std::vector<Measurement>>
raceLayer(const LayerRaceContext &context, const runtime::Layer &layer);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_LAYERRACE_H
