//===- TimeComparison.h - Tells changes of times from noise -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two measurements of the same kernel never agree. A time rose or fell if it
// changed by more than 5 %, and by more than z standard errors of its
// logarithm.
//
// The change is that of the medians, or that of the lower deciles of the
// samples if it is less: another process's load delays half of a measurement's
// samples, a slower kernel all of them (Chen and Revels, Robust Benchmarking in
// Noisy Environments, 2016).
//
// The standard error has two parts, added as variances:
//
//   - that of both medians, from their own samples: sqrt(pi / 2) * s / sqrt(n),
//     that of a normal sample's median (Kenney and Keeping, Mathematics of
//     Statistics, 1962), where s is the relative spread, 1.4826 times the
//     median absolute deviation. For few samples, that is too small by a factor
//     of 1.1 to 1.5 (Croux and Rousseeuw, Time-efficient algorithms for two
//     highly robust estimators of scale, 1992), and may be small by chance: it
//     counts as the typical one of all measurements beside it if it is less.
//   - that between two runs of one kernel (other pages of memory, another
//   clock,
//     other load), which the samples of one run do not show. It is seen in the
//     candidates that both sides have measured, whether they won or not, as
//     between the studies of a meta-analysis (DerSimonian and Laird, 1986): the
//     spread of their changes that the samples do not explain, and what all of
//     them have in common, unless that is a change by itself. Noise makes times
//     rise and fall alike: if one side changed by twice as much as the other,
//     the noise is that of the other, so that neither slower kernels nor faster
//     ones are mistaken for it. At least 1 %.
//
// If both sides were measured with the same build on the same model of a
// device, what all repeated candidates take longer is the machine's (its clock,
// its neighbours), and is taken out of every change, up to a factor of 1.5:
// times of a machine that is slower than that are worth nothing. With another
// build it may be the compiler's, and every problem that is slower is accused.
//
// z is 3, and more where many times are compared: so much that noise alone
// makes any of them rise with a probability of 1 % (Bonferroni; 3.7 for 100
// times and 4.8 for 10000).
//
// TimeComparisonTest.cpp has the rates of false alarms, and of regressions of
// 10 % that are found.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_FLEET_TIMECOMPARISON_H
#define TARPON_FLEET_TIMECOMPARISON_H

#include "tarpon/Autotune/Store/TimeSource.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstdint>
#include <vector>

namespace tarpon::fleet {

/// A change of less than this share is none.
inline constexpr double kLeastTimeChange = 0.05;

/// A median in milliseconds with what is known about its noise.
struct NoisyTime {
  double median = 0, mad = 0;
  int64_t samples = 0;
  /// A modelled time has no noise.
  TimeSource source = TimeSource::Measured;
  /// The lower decile of the samples; 0 if it is not known.
  double lowerDecile = 0;

  /// Takes over the samples, unless the median is not theirs.
  void setSamples(std::vector<double> values);
};

struct TimePair {
  NoisyTime older, newer;
};

enum class TimeVerdict : uint8_t {
  Same,
  Rose,
  Fell,
  Incomparable ///< a measured time and a modelled one
};

struct TimeChange {
  TimeVerdict verdict = TimeVerdict::Same;
  /// The newer median over the older one.
  double ratio = 1;
  /// The change that noise may cause, as a share: 0.02 for 2 %.
  double noise = 0;
};

/// The builds and devices that two sides were measured with.
enum class Conditions : uint8_t { Same, Different };

/// The logarithm by which all times of the newer side are longer, where that
/// can only be the machine: if the conditions are the same, 20 candidates were
/// repeated at least, and it is a factor of 1.5 at most. Else 0.
double getMachineShift(llvm::ArrayRef<TimePair> repeats, Conditions conditions);

/// Compares times that were measured alike: on one target, in one stage.
/// `repeats` are the candidates that both sides have measured so. `comparisons`
/// is the number of all times that are compared together, also those of other
/// targets.
std::vector<TimeChange> compareTimes(llvm::ArrayRef<TimePair> pairs,
                                     llvm::ArrayRef<TimePair> repeats,
                                     int64_t comparisons,
                                     Conditions conditions);

} // namespace tarpon::fleet

#endif // TARPON_FLEET_TIMECOMPARISON_H
