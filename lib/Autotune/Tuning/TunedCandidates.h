//===- TunedCandidates.h - Candidates that a tuner has found ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_TUNEDCANDIDATES_H
#define TARPON_LIB_AUTOTUNE_TUNING_TUNEDCANDIDATES_H

#include "Choice/PackageCandidates.h"
#include "tarpon/Autotune/Search/Tuner.h"

namespace tarpon {

/// Makes a source of the results of a tuner for the target with that journal.
/// Both must outlive the source.
CandidateSource makeTunedSource(Tuner &tuner, const Journal &journal,
                                const TargetInfo &target, size_t limit,
                                std::string kernelVersion);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_TUNEDCANDIDATES_H
