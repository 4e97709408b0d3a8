//===- ReleaseReport.h - Differences for people and programs ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_RELEASEREPORT_H
#define TARPON_FLEET_RELEASEREPORT_H

#include "tarpon/Fleet/ReleaseDiff.h"

#include "llvm/Support/raw_ostream.h"

#include <nlohmann/json_fwd.hpp>

#include <string>

namespace tarpon::fleet {

/// A group of a report: "slower" with its rows.
struct ReportGroup {
  std::string title;
  std::vector<const RecordChange *> changes;
};

/// The groups of changed times and solutions, in the order of reports.
std::vector<ReportGroup> groupChanges(const ReleaseDiff &diff);

/// "3 problems lost, 1 slower, ..."
std::string summarize(const ReleaseDiff &diff);

/// The end of a sentence on candidates that were measured on both sides; "" if
/// their common change may be the build's.
llvm::StringRef describeMachine(const RepeatedTimes &repeated);

/// Prints the differences as tables, with at most `limit` rows in each.
void printDiff(const ReleaseDiff &diff, size_t limit, llvm::raw_ostream &os);

/// Prints only the problems for which a release is refused.
void printFaults(const ReleaseDiff &diff, size_t limit, llvm::raw_ostream &os);

/// All differences.
nlohmann::json toJson(const ReleaseDiff &diff);

/// Prints one page of HTML that needs nothing else: tables with at most `limit`
/// rows each, the distribution of the times' ratios, and the problems that each
/// solver is best at.
void printPage(const ReleaseDiff &diff, size_t limit, llvm::raw_ostream &os);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_RELEASEREPORT_H
