//===- Svg.h - The parts of plots ------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PAGE_SVG_H
#define TARPON_PAGE_SVG_H

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon::page {

// Plots are SVG within a page. Labels, tips and texts are HTML: those from
// outside go through showHtml. A `style` names classes of the page's style.

/// The width that plots share, in units of their own: they shrink with the
/// window.
inline constexpr double kPlotWidth = 800;

/// A place in a plot; y grows downwards.
struct Spot {
  double x = 0, y = 0;
};

struct Box {
  double x = 0, y = 0, width = 0, height = 0;
};

/// Prints the beginning of a plot; readers of screens say the label.
void openPlot(llvm::StringRef label, double height, llvm::raw_ostream &os);
void closePlot(llvm::raw_ostream &os);

void printLine(Spot from, Spot to, llvm::raw_ostream &os);

/// A rectangle with a tool tip.
void printBar(const Box &box, llvm::StringRef style, llvm::StringRef tip,
              llvm::raw_ostream &os);

/// A text that starts, ends or has its middle at the spot: `anchor` is "start",
/// "end" or "middle".
void printText(Spot spot, llvm::StringRef anchor, llvm::StringRef text,
               llvm::raw_ostream &os, llvm::StringRef style = "");

} // namespace tarpon::page

#endif // TARPON_PAGE_SVG_H
