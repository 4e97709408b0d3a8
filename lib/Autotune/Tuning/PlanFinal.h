//===- PlanFinal.h - Picks the fastest plan ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The fastest plans are measured again in turn, and the fastest one wins. The
// plan that tuning has started from always takes part, so that tuning never
// ends with a slower one.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_PLANFINAL_H
#define TARPON_LIB_AUTOTUNE_TUNING_PLANFINAL_H

#include "Tuning/ChoicePlan.h"
#include "tarpon/Autotune/Search/Deadline.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <deque>
#include <vector>

namespace tarpon {

/// Returns the plan with the least time among those that may win; null if there
/// is none.
ChoicePlan *findFastest(llvm::ArrayRef<ChoicePlan *> plans);

/// Chooses the plans of the final: the fastest few, the fastest other than
/// `start`, and `start`, which may be null. With the front of time and error,
/// also the plans on it, and those that are nearly as fast as one of them and
/// err no more.
std::vector<ChoicePlan *> pickFinalists(llvm::ArrayRef<ChoicePlan *> plans,
                                        ChoicePlan *start, bool withFront);

/// Times the finalists in turn: two rounds, and more until the fastest is
/// clear, with the front the fastest of those that err no more than each; the
/// first two once whatever the time. Finalists that earlier runs have raced are
/// not raced again.
runtime::Status
runFinal(llvm::ArrayRef<ChoicePlan *> finalists, bool withFront,
         const Deadline &deadline,
         llvm::function_ref<runtime::Status(ChoicePlan &)> timeAgain);

/// Returns the plan that stands for a choice: the fastest one that can be used,
/// else the last.
const ChoicePlan &pickOfChoice(const std::deque<ChoicePlan> &plans);

/// Returns the fastest plan; null if none can be used. `start` wins only if it
/// is faster than the tuned ones, whose layers were measured one by one, by
/// more than times vary, or than they may be slower (policy::kLargestTie).
ChoicePlan *pickWinner(llvm::ArrayRef<ChoicePlan *> plans, ChoicePlan *start);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_PLANFINAL_H
