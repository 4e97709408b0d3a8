//===- TimeComparison.cpp - Tells changes of times from noise -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/TimeComparison.h"

#include "tarpon/Runtime/Measure.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <numbers>

using namespace tarpon;
using namespace tarpon::fleet;

//===----------------------------------------------------------------------===//
// The noise of a median
//===----------------------------------------------------------------------===//

/// The standard deviation of a normal distribution over its median absolute
/// deviation.
static constexpr double kDeviationPerMad = 1.4826;

/// The factor by which the median absolute deviation of few samples is too
/// small (Croux and Rousseeuw, 1992).
static double getSmallSampleFactor(int64_t samples) {
  static constexpr double kFactors[] = {1.196, 1.495, 1.363, 1.206,
                                        1.200, 1.140, 1.129, 1.107};
  constexpr int64_t kFirst = 2;
  auto index = static_cast<size_t>(samples - kFirst);
  if (index < std::size(kFactors))
    return kFactors[index];
  auto n = static_cast<double>(samples);
  return n / (n - 0.8);
}

/// One sample says nothing about its spread.
static bool hasSpread(const NoisyTime &time) {
  return time.source == TimeSource::Measured && time.samples > 1;
}

/// The standard deviation of the samples as a share of the median.
static double getSpread(const NoisyTime &time) {
  return hasSpread(time)
             ? kDeviationPerMad * getSmallSampleFactor(time.samples) *
                   time.mad / time.median
             : 0;
}

/// The median of the spreads on one side.
static double getTypicalSpread(llvm::ArrayRef<TimePair> pairs,
                               llvm::ArrayRef<TimePair> repeats,
                               NoisyTime TimePair::*side) {
  std::vector<double> spreads;
  for (llvm::ArrayRef<TimePair> list : {pairs, repeats})
    for (const TimePair &pair : list)
      if (hasSpread(pair.*side))
        spreads.push_back(getSpread(pair.*side));
  return runtime::median(std::move(spreads));
}

/// The variance of the median's logarithm.
static double getVariance(const NoisyTime &time, double typicalSpread) {
  if (time.source == TimeSource::Modelled)
    return 0;
  double spread = std::max(getSpread(time), typicalSpread);
  double samples = static_cast<double>(std::max<int64_t>(1, time.samples));
  return std::numbers::pi / 2 * spread * spread / samples;
}

void NoisyTime::setSamples(std::vector<double> values) {
  constexpr double kRounding = 1e-6;
  if (values.empty() ||
      std::abs(runtime::median(values) - median) > kRounding * median)
    return;
  llvm::sort(values);
  samples = static_cast<int64_t>(values.size());
  lowerDecile = values[values.size() / 10];
}

/// The logarithm of the part of a change that medians and lower deciles agree
/// on.
static double getChange(const TimePair &pair) {
  double ofMedians = std::log(pair.newer.median / pair.older.median);
  if (pair.older.lowerDecile <= 0 || pair.newer.lowerDecile <= 0)
    return ofMedians;
  double ofDeciles = std::log(pair.newer.lowerDecile / pair.older.lowerDecile);
  if ((ofDeciles > 0) != (ofMedians > 0))
    return 0;
  return std::abs(ofDeciles) < std::abs(ofMedians) ? ofDeciles : ofMedians;
}

//===----------------------------------------------------------------------===//
// The noise between two runs
//===----------------------------------------------------------------------===//

/// The least and the largest standard deviation between two runs, the number of
/// changes from which one is estimated, and the factor by which those in one
/// direction are larger that are no noise. Even where 10000 times are compared,
/// the largest one does not hide a regression of 10 %.
static constexpr double kLeastRunNoise = 0.01, kMostRunNoise = 0.02;
static constexpr size_t kLeastChanges = 20;
static constexpr double kOneSided = 2;

/// The standard deviation of changes, from their upper quartile: some of them
/// are no noise. Those in one direction count as if there were as many of them
/// in the other.
static double getDeviation(std::vector<double> changes) {
  constexpr double kQuartileOfNormal = 1.1503;
  if (changes.empty())
    return 0;
  llvm::sort(changes);
  return changes[changes.size() * 3 / 4] / kQuartileOfNormal;
}

/// The standard deviation of those changes that are noise; 0 if it is not
/// known. What all of them have in common is noise, too, unless it is a change
/// of its own: a machine that is a little slower than the day before. It is
/// none if it has been taken out.
static double getNoise(const std::vector<double> &changes, double takenOut) {
  double shift = runtime::median(changes), rest = shift - takenOut;
  if (changes.size() < kLeastChanges ||
      std::abs(rest) > std::log1p(kLeastTimeChange))
    return 0;
  std::vector<double> above, below, all;
  for (double change : changes) {
    double distance = change - shift;
    (distance > 0 ? above : below).push_back(std::abs(distance));
    all.push_back(std::abs(distance));
  }
  double up = getDeviation(above), down = getDeviation(below);
  double deviation = std::max(up, down) > kOneSided * std::min(up, down)
                         ? std::min(up, down)
                         : getDeviation(all);
  return std::hypot(deviation, rest);
}

double tarpon::fleet::getMachineShift(llvm::ArrayRef<TimePair> repeats,
                                      Conditions conditions) {
  if (conditions == Conditions::Different || repeats.size() < kLeastChanges)
    return 0;
  std::vector<double> changes;
  for (const TimePair &pair : repeats)
    changes.push_back(getChange(pair));
  const double kMostShift = std::log(1.5);
  double shift = runtime::median(std::move(changes));
  return shift > 0 && shift <= kMostShift ? shift : 0;
}

namespace {
/// The noise of all times that were measured alike.
class NoiseModel {
public:
  NoiseModel(llvm::ArrayRef<TimePair> pairs, llvm::ArrayRef<TimePair> repeats,
             double shift)
      : older(getTypicalSpread(pairs, repeats, &TimePair::older)),
        newer(getTypicalSpread(pairs, repeats, &TimePair::newer)),
        runVariance(getRunVariance(repeats, shift)) {}

  /// The standard deviation of a change; 0 if both times are a model's.
  double getDeviation(const TimePair &pair) const {
    bool areModelled = pair.older.source == TimeSource::Modelled &&
                       pair.newer.source == TimeSource::Modelled;
    return areModelled ? 0 : std::sqrt(explain(pair) + runVariance);
  }

private:
  /// The variance that follows from the samples.
  double explain(const TimePair &pair) const {
    return getVariance(pair.older, older) + getVariance(pair.newer, newer);
  }
  double getRunVariance(llvm::ArrayRef<TimePair> repeats, double shift) const;

  double older, newer, runVariance;
};
} // namespace

/// The variance that the samples do not explain.
double NoiseModel::getRunVariance(llvm::ArrayRef<TimePair> repeats,
                                  double shift) const {
  std::vector<double> changes, explained;
  for (const TimePair &pair : repeats) {
    changes.push_back(getChange(pair));
    explained.push_back(explain(pair));
  }
  double noise = getNoise(changes, shift);
  return std::clamp(noise * noise - runtime::median(std::move(explained)),
                    kLeastRunNoise * kLeastRunNoise,
                    kMostRunNoise * kMostRunNoise);
}

//===----------------------------------------------------------------------===//
// The comparison
//===----------------------------------------------------------------------===//

/// The number of standard deviations that a normal value exceeds with that
/// probability.
static double getNormalQuantile(double probability) {
  double low = 0, high = 40;
  for (int step = 0; step < 60; ++step) {
    double middle = (low + high) / 2;
    double tail = 0.5 * std::erfc(middle / std::numbers::sqrt2);
    (tail > probability ? low : high) = middle;
  }
  return low;
}

static double getThreshold(int64_t comparisons) {
  constexpr double kLeast = 3, kFalseAlarms = 0.01;
  auto number = static_cast<double>(std::max<int64_t>(1, comparisons));
  return std::max(kLeast, getNormalQuantile(kFalseAlarms / number));
}

static TimeVerdict judge(const TimePair &pair, double noise, double shift) {
  if (pair.older.source != pair.newer.source)
    return TimeVerdict::Incomparable;
  double least = std::log1p(std::max(kLeastTimeChange, noise));
  bool isMeasured = pair.older.source == TimeSource::Measured;
  double change = getChange(pair) - (isMeasured ? shift : 0);
  if (change > least)
    return TimeVerdict::Rose;
  return change < -least ? TimeVerdict::Fell : TimeVerdict::Same;
}

std::vector<TimeChange>
tarpon::fleet::compareTimes(llvm::ArrayRef<TimePair> pairs,
                            llvm::ArrayRef<TimePair> repeats,
                            int64_t comparisons, Conditions conditions) {
  double shift = getMachineShift(repeats, conditions);
  NoiseModel model(pairs, repeats, shift);
  double threshold = getThreshold(comparisons);
  std::vector<TimeChange> changes;
  for (const TimePair &pair : pairs) {
    TimeChange change;
    change.ratio = pair.newer.median / pair.older.median;
    change.noise = std::expm1(threshold * model.getDeviation(pair));
    change.verdict = judge(pair, change.noise, shift);
    changes.push_back(change);
  }
  return changes;
}
