//===- Svg.cpp - The parts of plots -------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Page/Svg.h"

#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::page;
using llvm::formatv;
using llvm::raw_ostream;

void page::openPlot(llvm::StringRef label, double height, raw_ostream &os) {
  os << formatv("<svg viewBox=\"0 0 {0:f0} {1:f0}\" role=\"img\" "
                "aria-label=\"{2}\">\n",
                kPlotWidth, height, label);
}

void page::closePlot(raw_ostream &os) { os << "</svg>\n"; }

void page::printLine(Spot from, Spot to, raw_ostream &os) {
  os << formatv("<line class=\"line\" x1=\"{0:f1}\" y1=\"{1:f1}\" "
                "x2=\"{2:f1}\" y2=\"{3:f1}\"/>\n",
                from.x, from.y, to.x, to.y);
}

void page::printBar(const Box &box, llvm::StringRef style, llvm::StringRef tip,
                    raw_ostream &os) {
  os << formatv("<rect class=\"{0}\" x=\"{1:f1}\" y=\"{2:f1}\" "
                "width=\"{3:f1}\" height=\"{4:f1}\"><title>{5}</title>"
                "</rect>\n",
                style, box.x, box.y, box.width, box.height, tip);
}

void page::printText(Spot spot, llvm::StringRef anchor, llvm::StringRef text,
                     raw_ostream &os, llvm::StringRef style) {
  os << formatv("<text x=\"{0:f1}\" y=\"{1:f1}\" text-anchor=\"{2}\"", spot.x,
                spot.y, anchor);
  if (!style.empty())
    os << " class=\"" << style << '"';
  os << '>' << text << "</text>\n";
}
