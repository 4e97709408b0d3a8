//===- Progress.h - Progress of a tuning run --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One line on stderr: phase, percent, time left. A terminal sees it rewritten
// in place, a log file sees a new line every few seconds.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_SEARCH_PROGRESS_H
#define TARPON_AUTOTUNE_SEARCH_PROGRESS_H

#include "tarpon/Autotune/Search/Deadline.h"

#include "llvm/Support/raw_ostream.h"

#include <functional>
#include <string>

namespace tarpon {

class Progress {
public:
  enum class Style {
    Quiet, ///< remarks only
    Lines, ///< a line every few seconds
    Bar,   ///< one line, rewritten
  };

  /// Chooses a bar on a terminal, lines elsewhere, and nothing if `quiet`.
  static Style detectStyle(bool quiet);

  /// Seconds of a clock that never goes back.
  using Clock = std::function<double()>;

  /// If `clock` is empty, real time is used.
  Progress(llvm::raw_ostream &os, Style style, Clock clock = {});
  ~Progress();

  /// Sets the deadline, which bounds the time left that is shown.
  void setDeadline(Deadline value) { deadline = value; }

  /// Adds work to be done. Units are estimated seconds, but only their ratios
  /// matter: they are scaled by the time that the work done so far took.
  void expect(double units);
  /// Marks that much of the expected work as done, or as not needed.
  void advance(double units);
  /// Sets the current activity: "int8/nhwc: conv1".
  void setPhase(std::string text);

  /// Prints a remark that stays, above the bar, in every style.
  void remark(const std::string &text);

  /// Ends the line. The destructor calls it.
  void finish();

  /// The fraction of the work that is done, between 0 and 1.
  double getFraction() const;
  /// The estimated time left in seconds; negative when there is no estimate.
  double getSecondsLeft() const;

private:
  void update(bool force);
  std::string format() const;
  void clearLine();

  llvm::raw_ostream &os;
  Style style;
  Clock clock;
  Deadline deadline = Deadline::never();
  double startTime, lastPrint;
  double total = 0, done = 0;
  std::string phase;
  bool lineOpen = false;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_SEARCH_PROGRESS_H
