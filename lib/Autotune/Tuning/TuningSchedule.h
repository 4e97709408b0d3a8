//===- TuningSchedule.h - Decides what is tuned next ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The order in which a tuning run searches the problems of all choices: the one
// with the largest expected saving per second comes first, in the choice that
// may become the fastest in the time that is left. The schedule measures
// nothing: the tuner does, and so can a table of times in a test.
//
// A choice's time was measured whole, and is divided among its layers by what
// is known of each. How much of a layer's time a search saves is learnt from
// the searches of problems of the same kind, with a prior; the fewer there
// were, the more a choice is given the benefit of the doubt (upper confidence
// bounds: Auer, Cesa-Bianchi and Fischer, Machine Learning 47, 2002).
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_TUNING_TUNINGSCHEDULE_H
#define TARPON_LIB_AUTOTUNE_TUNING_TUNINGSCHEDULE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/STLFunctionalExtras.h"

#include <cstddef>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

/// All layers of a choice that pose the same problem.
struct ScheduledProblem {
  std::string key;
  /// Searches of problems of one kind are expected to save alike.
  std::string kind;
  /// The time of the layers in the model; only ratios matter.
  double weight = 0;
  /// True until the problem has been searched.
  bool isOpen = true;
  /// The share of its time that a search has saved since the choice was
  /// measured.
  double saving = 0;
};

class TuningSchedule {
public:
  struct Step {
    size_t choice = 0;
    std::string problem;
  };

  /// Sets the problems of a choice whose model took `milliseconds` with the
  /// solutions of that time. Choices that are never set get no time.
  void setChoice(size_t choice, double milliseconds,
                 std::vector<ScheduledProblem> problems);
  void removeChoice(size_t choice) { choices.erase(choice); }
  bool hasChoice(size_t choice) const { return choices.count(choice); }

  /// Takes what a search has saved; none if its first guess was not among the
  /// candidates that it measured.
  void recordSearch(const std::string &problem, const std::string &kind,
                    std::optional<double> saving, double seconds);
  /// Takes what a search of an earlier run has saved.
  void recordEarlier(const std::string &problem, const std::string &kind,
                     std::optional<double> saving);

  /// Returns the time that is expected of a choice with the solutions that
  /// are known by now.
  double predict(size_t choice) const;
  /// Returns the least of the times that are expected; infinite without a
  /// choice.
  double predictBest() const;

  /// Returns the share of the best time that may still be saved by searching
  /// for so many seconds.
  double getPossibleGain(double seconds) const;

  /// Returns the problem to search next, or none if what can be gained in that
  /// time is not worth it.
  std::optional<Step> getNext(double seconds) const;

private:
  struct Choice {
    double milliseconds = 0;
    std::vector<ScheduledProblem> problems;
  };
  /// The searches of one kind.
  struct Experience {
    double saving = 0, seconds = 0;
    double searches = 0, timed = 0;
  };
  /// A choice with the time that it may reach.
  struct Target {
    size_t choice = 0;
    double milliseconds = 0;
  };

  const Experience &getExperience(const std::string &kind) const;
  double expectSaving(const std::string &kind) const;
  double hopeForSaving(const std::string &kind) const;
  double expectSeconds(const std::string &kind) const;
  std::vector<const ScheduledProblem *> rankOpen(const Choice &choice) const;
  double getReachable(const Choice &choice, double seconds) const;
  std::optional<Target> findTarget(double seconds) const;

  std::map<size_t, Choice> choices;
  std::map<std::string, Experience> experiences;
  /// The problems whose searches count in the experiences.
  std::set<std::string> learnt;
  bool hasSearched = false;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_TUNING_TUNINGSCHEDULE_H
