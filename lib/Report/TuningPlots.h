//===- TuningPlots.h - Plots of a tuning file ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_REPORT_TUNINGPLOTS_H
#define TARPON_LIB_REPORT_TUNINGPLOTS_H

#include "tarpon/Autotune/Choice/TuningFile.h"

#include "llvm/Support/raw_ostream.h"

#include <optional>
#include <string>

namespace tarpon::report {

// Each prints SVG without a heading, in the classes of the page's style, and
// says so in a sentence if there is nothing to show.

/// The error and the time of each candidate, and the front of both.
void printFrontPlot(const TuningFile &file, llvm::raw_ostream &os);

/// The times of the layers of each candidate as stacked bars.
void printLayerBars(const TuningFile &file, llvm::raw_ostream &os);

/// The precision and layout of each region, for candidates that chose for
/// regions.
void printRegionStrips(const TuningFile &file, llvm::raw_ostream &os);

/// The time of the best plan over the seconds of the search.
void printProgressPlot(const TuningFile &file, llvm::raw_ostream &os);

/// "#3 int8/nhwc": how the page calls a candidate.
std::string nameCandidate(const TuningFile &file, size_t index);

/// The number of a candidate on the front, if it is there.
std::optional<size_t> findPoint(const TuningFile &file, size_t index);

/// "0.0161", in few digits.
std::string showMilliseconds(double milliseconds);
/// "0.0161 ms".
std::string showTime(double milliseconds);
/// "1.02e-07".
std::string showError(double error);

} // namespace tarpon::report

#endif // TARPON_LIB_REPORT_TUNINGPLOTS_H
