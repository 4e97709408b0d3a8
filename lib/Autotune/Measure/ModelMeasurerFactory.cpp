//===- ModelMeasurerFactory.cpp - Measurers for modelled targets ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/ModelMeasurerFactory.h"

#include "Measure/ModelMeasurer.h"
#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Autotune/Store/DeviceJournal.h"

#include <algorithm>

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

Result<std::unique_ptr<Measurer>>
ModelMeasurerFactory::create(const Problem &problem) {
  return std::unique_ptr<Measurer>(
      std::make_unique<ModelMeasurer>(problem, compiler));
}

JournalContext ModelMeasurerFactory::getJournalContext() const {
  return JournalContext::forModel(compiler.getTarget(),
                                  compiler.describeCostModel());
}

Result<std::unique_ptr<Journal>>
ModelMeasurerFactory::openDeviceJournal(const Target &target) const {
  return openMeasuredJournal(target);
}

/// The number of candidates of a problem to compile if `included` of them are
/// wanted.
static int64_t countModelled(size_t included) {
  int64_t wanted = 0;
  if (included < policy::kMaxConfigs)
    wanted = static_cast<int64_t>(included) * policy::kModelledPerIncluded;
  return std::max(policy::kModelledCandidates, wanted);
}

/// Compiling a candidate takes longer than running it would.
std::optional<int64_t>
ModelMeasurerFactory::getDefaultIterations(size_t included) const {
  return countModelled(included);
}

/// The reference solver's kernels run on the host only.
Status ModelMeasurerFactory::checkReference(const Problem &problem) const {
  return Error{"no solver's kernels for " + problem.key() +
               " can be compiled for " + compiler.getTarget().name()};
}
