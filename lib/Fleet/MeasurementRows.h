//===- MeasurementRows.h - Measurements as rows of an answer ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_MEASUREMENTROWS_H
#define TARPON_LIB_FLEET_MEASUREMENTROWS_H

#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Fleet/Database.h"
#include "tarpon/Fleet/Results.h"

#include <string>
#include <vector>

namespace tarpon::fleet {

/// The number of columns that readMeasurementRow reads. The first is the row's
/// number.
inline constexpr size_t kMeasurementColumns = 16;

/// The beginning of a query for these columns, and then `more` (", a, b"), from
/// the tables measurement and problem. Samples take the most bytes of a row.
std::string selectMeasurements(bool withSamples = true, const char *more = "");

Measurement readMeasurementRow(const Row &row);

/// Parses the text of a list of samples; none if it is damaged.
std::vector<double> parseSamples(const std::string &text);

/// "race", "final".
llvm::StringRef getStageName(MeasurementStage stage);

/// Further columns: the number of the problem and that of the samples. The
/// latter is that of the commas between them.
inline constexpr const char *kSampleColumns =
    ", measurement.problem_id, CASE WHEN samples = '[]' THEN 0 ELSE "
    "length(samples) - length(replace(samples, ',', '')) + 1 END";
inline constexpr size_t kProblemColumn = kMeasurementColumns,
                        kSamplesColumn = kProblemColumn + 1;

inline RecordedMeasurement readRecordedMeasurement(const Row &row) {
  return {row.integer(0), readMeasurementRow(row), row.integer(kSamplesColumn)};
}

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_MEASUREMENTROWS_H
