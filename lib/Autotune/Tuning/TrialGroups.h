//===- TrialGroups.h - Choices that are surveyed together -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_TRIALGROUPS_H
#define TARPON_LIB_AUTOTUNE_TUNING_TRIALGROUPS_H

#include "Tuning/Trial.h"

#include "llvm/ADT/ArrayRef.h"

#include <deque>
#include <vector>

namespace tarpon {

struct TargetInfo;

/// Returns the choices in groups of one dtype and fusion, the promising ones
/// first, in each group, too. The reference's dtype comes before those that the
/// target computes in faster, and models are hardly faster without fusion.
std::vector<std::vector<Trial *>> groupTrials(std::deque<Trial> &trials,
                                              const TargetInfo &target);

/// Returns the group's untuned plans that may be the fastest of `plans` if each
/// was disturbed while it was timed; none if there is no other.
std::vector<ChoicePlan *> findClose(llvm::ArrayRef<Trial *> group,
                                    llvm::ArrayRef<ChoicePlan *> plans);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_TRIALGROUPS_H
