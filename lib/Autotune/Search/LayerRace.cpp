//===- LayerRace.cpp - The race of a layer's candidates -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/LayerRace.h"

#include "Measure/DeviceMeasurer.h"
#include "Search/Race.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

/// Failures that may pass are measured again.
static void recall(const LayerRaceContext &context, Race &race,
                   const std::string &problem) {
  if (context.again)
    return;
  std::vector<Measurement> known = context.journal.getMeasurements(problem);
  for (Contender &contender : race.getContenders())
    for (const Measurement &row : known)
      if (!contender.result && row.key == contender.key && !row.mayPass()) {
        ++context.statistics.reused;
        contender.result = row;
      }
}

/// The candidates that others are compared with go first, whatever the time.
static Status raceAll(const LayerRaceContext &context, Race &race,
                      const std::vector<size_t> &references) {
  std::vector<size_t> order = references;
  for (size_t i = 0; i < race.getContenders().size(); ++i)
    if (!llvm::is_contained(references, i))
      order.push_back(i);
  int64_t left = 0;
  for (size_t index : order) {
    bool isKnown = race.getContenders()[index].result.has_value();
    bool isLeft =
        !isKnown && !llvm::is_contained(references, index) && race.isOver();
    left += isLeft;
    if (!isKnown && !isLeft)
      if (Status status = race.measure(index); !status)
        return status;
    context.progress.advance(1);
  }
  if (left)
    context.progress.remark(std::to_string(left) + " candidates for " +
                            race.getContenders().front().key.problem +
                            " were left when the time was over");
  return runtime::success();
}

Result<std::vector<Measurement>>
tarpon::raceLayer(const LayerRaceContext &context,
                  const runtime::Layer &layer) {
  Result<std::unique_ptr<DeviceMeasurer>> measurer = DeviceMeasurer::create(
      context.package, layer, context.device, context.progress, context.trial);
  if (!measurer)
    return measurer.error();
  Race race({**measurer, context.journal, context.progress, context.statistics,
             context.deadline},
            layer.problem);
  race.getContenders() = (*measurer)->makeContenders();
  recall(context, race, layer.problem);
  Status status = raceAll(context, race, (*measurer)->getReferences());
  if (status)
    status = race.runFinal();
  if (Status finished = race.finish(); status)
    status = finished;
  if (!status)
    return status.error();
  std::vector<Measurement> results;
  for (const Contender &contender : race.getContenders()) {
    Measurement unknown;
    unknown.key = contender.key;
    unknown.workspaceBytes = contender.workspaceBytes;
    results.push_back(contender.result.value_or(unknown));
  }
  return results;
}
