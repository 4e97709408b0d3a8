//===- Progress.cpp - Progress of a tuning run ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Progress.h"

#include "llvm/Support/Format.h"
#include "llvm/Support/Process.h"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <utility>

using namespace tarpon;

/// The intervals at which a terminal and a log file are written to, in seconds.
static constexpr double kBarInterval = 0.1;
static constexpr double kLineInterval = 5.0;
static constexpr int kBarCells = 24;
/// The work to be done before an estimate of the rest is shown.
static constexpr double kMinFraction = 0.02;

static double readRealClock() {
  auto now = std::chrono::steady_clock::now().time_since_epoch();
  return std::chrono::duration<double>(now).count();
}

Progress::Style Progress::detectStyle(bool quiet) {
  if (quiet)
    return Style::Quiet;
  return llvm::sys::Process::StandardErrIsDisplayed() ? Style::Bar
                                                      : Style::Lines;
}

Progress::Progress(llvm::raw_ostream &os, Style style, Clock clock)
    : os(os), style(style), clock(clock ? std::move(clock) : readRealClock) {
  startTime = this->clock();
  lastPrint = startTime;
}

Progress::~Progress() { finish(); }

void Progress::expect(double units) { total += units; }

void Progress::advance(double units) {
  done = std::min(done + units, total);
  update(/*force=*/false);
}

void Progress::setPhase(std::string text) {
  phase = std::move(text);
  update(/*force=*/false);
}

double Progress::getFraction() const { return total > 0 ? done / total : 0; }

double Progress::getSecondsLeft() const {
  double left = -1;
  if (getFraction() >= kMinFraction)
    left = (clock() - startTime) * (total - done) / done;
  if (!deadline.isBounded())
    return left;
  double bound = deadline.remainingSeconds();
  return left < 0 ? bound : std::min(left, bound);
}

std::string Progress::format() const {
  std::string text;
  llvm::raw_string_ostream line(text);
  int filled = static_cast<int>(getFraction() * kBarCells);
  line << '[' << std::string(filled, '#')
       << std::string(kBarCells - filled, '.')
       << llvm::format("] %3d%%  ", static_cast<int>(getFraction() * 100));
  double left = getSecondsLeft();
  if (left >= 0) {
    auto seconds = static_cast<long long>(std::ceil(left));
    line << llvm::format("%lld:%02lld left  ", seconds / 60, seconds % 60);
  }
  line << phase;
  return text;
}

void Progress::clearLine() {
  if (lineOpen)
    os << "\r\033[K";
  lineOpen = false;
}

void Progress::update(bool force) {
  if (style == Style::Quiet)
    return;
  double now = clock();
  double interval = style == Style::Bar ? kBarInterval : kLineInterval;
  if (!force && now - lastPrint < interval)
    return;
  lastPrint = now;
  if (style == Style::Lines) {
    os << format() << '\n';
    os.flush();
    return;
  }
  clearLine();
  // A line that wraps cannot be rewritten.
  unsigned columns = llvm::sys::Process::StandardErrColumns();
  std::string text = format();
  if (columns > 1 && text.size() >= columns)
    text.resize(columns - 1);
  os << text;
  os.flush();
  lineOpen = true;
}

void Progress::remark(const std::string &text) {
  bool wasOpen = lineOpen;
  clearLine();
  os << "remark: " << text << '\n';
  os.flush();
  if (wasOpen)
    update(/*force=*/true);
}

void Progress::finish() {
  clearLine();
  os.flush();
}
