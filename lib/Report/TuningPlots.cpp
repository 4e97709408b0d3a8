//===- TuningPlots.cpp - Words that the plots share --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TuningPlots.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/Format.h"

using namespace tarpon;

static std::string showDigits(const char *form, double value) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format(form, value);
  return text;
}

std::string report::nameCandidate(const TuningFile &file, size_t index) {
  return "#" + std::to_string(index) + " " +
         file.candidates[index].choice.name();
}

std::optional<size_t> report::findPoint(const TuningFile &file, size_t index) {
  std::vector<size_t> front = file.getFront();
  auto found = llvm::find(front, index);
  return found == front.end() ? std::nullopt
                              : std::optional(found - front.begin());
}

std::string report::showMilliseconds(double milliseconds) {
  return showDigits("%.3g", milliseconds);
}

std::string report::showTime(double milliseconds) {
  return showMilliseconds(milliseconds) + " ms";
}

std::string report::showError(double error) {
  return error == 0 ? "0" : showDigits("%.2e", error);
}
