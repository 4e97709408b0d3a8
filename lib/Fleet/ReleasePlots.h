//===- ReleasePlots.h - Plots of differences --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_RELEASEPLOTS_H
#define TARPON_LIB_FLEET_RELEASEPLOTS_H

#include "tarpon/Fleet/ReleaseDiff.h"

#include "llvm/Support/raw_ostream.h"

namespace tarpon::fleet {

// Both print SVG with a heading, in the classes of the page's style, and
// nothing if there is nothing to show.

/// The distribution of the ratios of times, on a logarithmic axis.
void printRatioPlot(const ReleaseDiff &diff, llvm::raw_ostream &os);

/// The numbers of problems that each solver is best at, before and now.
void printWinsPlot(const ReleaseDiff &diff, llvm::raw_ostream &os);

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_RELEASEPLOTS_H
