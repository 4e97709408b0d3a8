//===- DeviceRaceOrder.cpp - Which candidates run on a GPU, and when ------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DeviceRace.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

/// What was recorded before it showed goes, too, but for what is not to run.
Status DeviceRace::forgetDisputed() {
  if (!isDisputed)
    return runtime::success();
  context.progress.remark(
      "candidates for " + layer.problem + " disagree, and without " +
      policy::kArbiter + " nobody can say which are right: " +
      (context.journal ? "nothing is recorded of them, and " : "") +
      layer.solver + ", which was there before, is taken for right");
  if (!context.journal)
    return runtime::success();
  std::vector<std::string> solvers;
  for (const Measurement &result : results)
    solvers.push_back(result.key.solver);
  if (Status status = context.journal->forgetSolvers(
          layer.problem, solvers, context.journal->getLastRow());
      !status)
    return status;
  for (const Measurement &result : results)
    if (result.status == MeasurementStatus::Crashed)
      if (Status status = context.journal->record(result); !status)
        return status;
  return runtime::success();
}

void DeviceRace::reportRejected() const {
  for (size_t i = 0; i < results.size(); ++i) {
    if (!isNew[i] || results[i].status == MeasurementStatus::Ok)
      continue;
    ++context.search.rejected;
    context.progress.remark(
        results[i].key.solver + " {" + results[i].key.config +
        "} is not used for " + layer.problem + ": " +
        getStatusName(results[i].status).str() + ": " + results[i].detail);
  }
}

/// The chosen one goes first, whatever the time.
Status DeviceRace::raceAll() {
  std::vector<size_t> order = {chosen};
  for (size_t i = 0; i < results.size(); ++i)
    if (i != chosen)
      order.push_back(i);
  int64_t left = 0;
  for (size_t index : order) {
    bool isLeft =
        !isKnown[index] && index != chosen && context.deadline.isOver();
    left += isLeft;
    if (!isKnown[index] && !isLeft)
      if (Status status = race(index); !status)
        return status;
    context.progress.advance(1);
  }
  if (left)
    context.progress.remark(std::to_string(left) + " candidates for " +
                            layer.problem +
                            " were left when the time was over");
  return runtime::success();
}

Result<std::vector<Measurement>> DeviceRace::run() {
  if (Status status = prepare(); !status)
    return status.error();
  recall();
  Status status = runtime::success();
  if (!llvm::all_of(isKnown, [](bool is) { return is; })) {
    status = runChosen();
    if (status)
      status = consultArbiter();
  }
  if (status)
    status = raceAll();
  if (status)
    status = runFinal();
  // In any case.
  if (Status forgotten = forgetDisputed(); status)
    status = forgotten;
  if (!status)
    return status.error();
  reportRejected();
  return std::move(results);
}
