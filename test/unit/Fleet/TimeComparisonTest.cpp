//===- TimeComparisonTest.cpp - Noise and regressions ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Draws with fixed seeds. Each test prints the rates that it checks.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/TimeComparison.h"

#include "tarpon/Runtime/Measure.h"

#include "llvm/ADT/STLExtras.h"

#include <gtest/gtest.h>

#include <cmath>
#include <iostream>
#include <random>

using namespace tarpon;
using namespace tarpon::fleet;

namespace {

/// How times vary. Spreads are shares of the time.
struct Noise {
  const char *name;
  int samples;
  /// The typical spread of a problem's samples, and the factor by which it
  /// differs between problems.
  double spread, factor;
  /// The share of samples that something else on the machine delays.
  double disturbed;
  /// The spread between two runs of one kernel.
  double run;
};

/// Measurements of both sides.
struct Measured {
  std::vector<TimePair> pairs, repeats;

  std::vector<TimeChange>
  compare(Conditions conditions = Conditions::Different) const {
    return compareTimes(pairs, repeats, static_cast<int64_t>(pairs.size()),
                        conditions);
  }
};

class Draws {
public:
  Draws(const Noise &noise, uint64_t seed) : noise(noise), engine(seed) {}

  /// Two measurements of `problems` problems; the second of the first `planted`
  /// of them takes `ratio` times as long. Both sides have measured one further
  /// candidate of each.
  Measured draw(int problems, int planted = 0, double ratio = 1) {
    Measured measured;
    for (int i = 0; i < problems; ++i) {
      double spread = noise.spread * std::pow(noise.factor, normal(engine));
      measured.pairs.push_back(
          {measure(1, spread), measure(i < planted ? ratio : 1, spread)});
      measured.repeats.push_back({measure(1, spread), measure(1, spread)});
    }
    return measured;
  }

private:
  NoisyTime measure(double time, double spread) {
    double run = std::exp(noise.run * normal(engine));
    std::vector<double> samples;
    for (int i = 0; i < noise.samples; ++i) {
      double sample = time * run * std::exp(spread * normal(engine));
      if (uniform(engine) < noise.disturbed)
        sample *= 1 + 10 * spread * uniform(engine);
      samples.push_back(sample);
    }
    runtime::Timing timing = runtime::summarize(samples);
    NoisyTime result = {timing.medianMs, timing.madMs};
    result.setSamples(std::move(samples));
    return result;
  }

  Noise noise;
  std::mt19937_64 engine;
  std::normal_distribution<double> normal;
  std::uniform_real_distribution<double> uniform;
};

void scale(NoisyTime &time, double factor) {
  time.median *= factor;
  time.mad *= factor;
  time.lowerDecile *= factor;
}

int64_t countRisen(const std::vector<TimeChange> &changes) {
  return llvm::count_if(changes, [](const TimeChange &change) {
    return change.verdict == TimeVerdict::Rose;
  });
}

/// The number of comparisons in which noise alone makes some time rise.
int countFalseAlarms(const Noise &noise, int problems, int comparisons) {
  int alarms = 0;
  for (int seed = 0; seed < comparisons; ++seed)
    alarms += countRisen(Draws(noise, seed).draw(problems).compare()) > 0;
  return alarms;
}

/// The share of planted regressions that are found, where one problem of each
/// comparison has one.
double getDetectionRate(const Noise &noise, int problems, int comparisons) {
  int64_t found = 0;
  for (int seed = 0; seed < comparisons; ++seed) {
    auto changes = Draws(noise, seed).draw(problems, 1, 1.1).compare();
    found += changes.front().verdict == TimeVerdict::Rose;
  }
  return double(found) / comparisons;
}

/// A final has 16 samples or more, a race five.
constexpr Noise kQuiet = {"quiet", 16, 0.01, 1, 0, 0};
constexpr Noise kUsual = {"usual", 16, 0.02, 1.3, 0.05, 0.005};
constexpr Noise kUneven = {"uneven", 16, 0.01, 2, 0.1, 0};
constexpr Noise kRuns = {"runs differ", 16, 0.01, 1.5, 0.1, 0.012};
constexpr Noise kLoud = {"loud", 16, 0.06, 1, 0, 0};
constexpr Noise kRace = {"race", 5, 0.01, 1.3, 0, 0};

TimeChange compareOne(NoisyTime older, NoisyTime newer) {
  return compareTimes({{older, newer}}, {}, 1, Conditions::Different).front();
}

} // namespace

TEST(TimeComparisonTest, noiseAloneIsNoRegression) {
  for (const Noise &noise : {kQuiet, kUsual, kUneven, kRuns, kLoud, kRace})
    for (auto [problems, comparisons] :
         {std::pair(1, 500), {100, 100}, {2000, 5}}) {
      // Without other problems, nothing is known of how runs differ.
      if (noise.run > 0.01 && problems == 1)
        continue;
      int alarms = countFalseAlarms(noise, problems, comparisons);
      std::cout << "false alarms, " << noise.name << ", " << problems
                << " problems: " << alarms << " of " << comparisons << "\n";
      EXPECT_LE(alarms, std::max(1, comparisons / 20))
          << noise.name << ", " << problems;
    }
}

TEST(TimeComparisonTest, aRegressionOfTenPercentIsFound) {
  struct {
    Noise noise;
    int problems;
    double least;
  } cases[] = {{kQuiet, 1, 0.99},    {kQuiet, 100, 0.99}, {kQuiet, 2000, 0.99},
               {kUsual, 100, 0.9},   {kUsual, 2000, 0.8}, {kUneven, 100, 0.95},
               {kUneven, 2000, 0.9}, {kRace, 100, 0.95},  {kRuns, 100, 0.5}};
  for (const auto &expected : cases) {
    double rate = getDetectionRate(expected.noise, expected.problems,
                                   expected.problems > 100 ? 10 : 100);
    std::cout << "found, " << expected.noise.name << ", " << expected.problems
              << " problems: " << 100 * rate << " %\n";
    EXPECT_GE(rate, expected.least)
        << expected.noise.name << ", " << expected.problems;
  }
}

/// Regressions of many kernels are no noise between runs, whatever their size.
TEST(TimeComparisonTest, manyRegressionsDoNotHideEachOther) {
  for (double share : {0.2, 0.6, 1.0}) {
    Measured measured = Draws(kQuiet, 7).draw(200);
    auto slower = static_cast<size_t>(share * 200);
    for (size_t i = 0; i < slower; ++i)
      for (auto *list : {&measured.pairs, &measured.repeats})
        scale((*list)[i].newer, 1.1 + 0.3 * double(i) / 200);
    EXPECT_GE(countRisen(measured.compare()), int64_t(0.95 * double(slower)))
        << share;
  }
}

/// Changes are not the noise by which they are judged.
TEST(TimeComparisonTest, risesAndFallsAreNoNoise) {
  Measured measured = Draws(kQuiet, 13).draw(200);
  for (auto *list : {&measured.pairs, &measured.repeats})
    for (size_t i = 0; i < 200; ++i)
      scale((*list)[i].newer, i % 2 ? 1.1 : 1 / 1.1);
  auto changes = measured.compare();
  EXPECT_GE(countRisen(changes), 90);
  EXPECT_LE(countRisen(changes), 100);
}

TEST(TimeComparisonTest, improvementsHideNoRegression) {
  Measured measured = Draws(kQuiet, 9).draw(200, 1, 1.1);
  for (size_t i = 1; i < 150; ++i)
    for (auto *list : {&measured.pairs, &measured.repeats})
      scale((*list)[i].newer, 0.9 - 0.4 * double(i) / 200);
  auto changes = measured.compare();
  EXPECT_EQ(changes.front().verdict, TimeVerdict::Rose);
  EXPECT_EQ(countRisen(changes), 1);
  EXPECT_GE(llvm::count_if(changes,
                           [](const TimeChange &change) {
                             return change.verdict == TimeVerdict::Fell;
                           }),
            145);
}

/// A machine that is a little slower than the day before.
TEST(TimeComparisonTest, aCommonShiftIsNoise) {
  for (auto [shift, isNoise] : {std::pair(1.03, true), {1.2, false}}) {
    Measured measured = Draws(kUsual, 11).draw(100);
    for (auto *list : {&measured.pairs, &measured.repeats})
      for (TimePair &pair : *list)
        scale(pair.newer, shift);
    EXPECT_EQ(countRisen(measured.compare()) == 0, isNoise) << shift;
  }
}

/// The same build on the same device is not slower by itself, and a problem
/// that is slower beside the others is found all the same.
TEST(TimeComparisonTest, whatTheMachineDoesToAllAccusesNobody) {
  for (double shift : {1.05, 1.2, 1.4}) {
    int alarms = 0;
    int64_t found = 0;
    constexpr int kComparisons = 100;
    for (int seed = 0; seed < kComparisons; ++seed) {
      Measured measured = Draws(kUsual, seed).draw(100, 1, 1.1);
      for (auto *list : {&measured.pairs, &measured.repeats})
        for (TimePair &pair : *list)
          scale(pair.newer, shift);
      auto changes = measured.compare(Conditions::Same);
      bool isFound = changes.front().verdict == TimeVerdict::Rose;
      found += isFound;
      alarms += countRisen(changes) > isFound;
    }
    std::cout << "shift " << shift << ": " << alarms << " false alarms, "
              << found << " found\n";
    EXPECT_LE(alarms, 3) << shift;
    EXPECT_GE(found, 95) << shift;
  }
}

/// Few repeated candidates tell nothing about the machine.
TEST(TimeComparisonTest, aMachineIsKnownByManyCandidates) {
  std::vector<TimePair> repeats(19, TimePair{{1, 0.01, 16}, {1.2, 0.01, 16}});
  EXPECT_EQ(getMachineShift(repeats, Conditions::Same), 0);
  repeats.push_back(repeats.front());
  EXPECT_NEAR(getMachineShift(repeats, Conditions::Same), std::log(1.2), 1e-9);
  EXPECT_EQ(getMachineShift(repeats, Conditions::Different), 0);
}

/// A faster machine accuses nobody anyway, and one that is far slower measures
/// nothing of worth.
TEST(TimeComparisonTest, onlyASomewhatSlowerMachineIsExcused) {
  for (auto [ratio, isExcused] :
       {std::pair(0.8, false), {1.1, true}, {1.45, true}, {1.6, false}}) {
    std::vector<TimePair> repeats(30,
                                  TimePair{{1, 0.01, 16}, {ratio, 0.01, 16}});
    EXPECT_EQ(getMachineShift(repeats, Conditions::Same) > 0, isExcused)
        << ratio;
  }
}

/// Other load delays most samples, and not the fastest.
TEST(TimeComparisonTest, otherLoadIsNoRegression) {
  NoisyTime idle = {1, 0.01}, busy = {1.15, 0.02}, slower = {1.15, 0.01};
  idle.setSamples({0.98, 0.99, 0.995, 1, 1.01, 1.02, 1.03});
  busy.setSamples({0.985, 1, 1.1, 1.15, 1.16, 1.17, 1.2});
  slower.setSamples({1.13, 1.14, 1.145, 1.15, 1.16, 1.17, 1.18});
  EXPECT_EQ(compareOne(idle, busy).verdict, TimeVerdict::Same);
  EXPECT_EQ(compareOne(idle, slower).verdict, TimeVerdict::Rose);
  // Samples of which the median is none are not those of the time.
  NoisyTime edited = {1.15, 0.01, 16};
  edited.setSamples({0.98, 1, 1.02});
  EXPECT_EQ(compareOne(idle, edited).verdict, TimeVerdict::Rose);
}

TEST(TimeComparisonTest, lessThanFivePercentIsNone) {
  EXPECT_EQ(compareOne({1, 1e-6, 100}, {1.049, 1e-6, 100}).verdict,
            TimeVerdict::Same);
  EXPECT_EQ(compareOne({1, 1e-6, 100}, {1.051, 1e-6, 100}).verdict,
            TimeVerdict::Rose);
  EXPECT_EQ(compareOne({1.051, 1e-6, 100}, {1, 1e-6, 100}).verdict,
            TimeVerdict::Fell);
}

TEST(TimeComparisonTest, whatIsNotMeasuredHasNoNoise) {
  NoisyTime modelled = {1, 0, 0, TimeSource::Modelled};
  EXPECT_EQ(compareOne(modelled, {1.06, 0, 0, TimeSource::Modelled}).verdict,
            TimeVerdict::Rose);
  EXPECT_EQ(compareOne(modelled, {1.04, 0, 0, TimeSource::Modelled}).verdict,
            TimeVerdict::Same);
  EXPECT_EQ(compareOne(modelled, {9, 0.1, 10}).verdict,
            TimeVerdict::Incomparable);
}

/// A single sample, and samples that are equal by chance, are as noisy as the
/// others.
TEST(TimeComparisonTest, fewSamplesAreAsNoisyAsOthers) {
  Measured measured = Draws(kLoud, 3).draw(50);
  measured.pairs.push_back({{1, 0, 1}, {1.08, 0, 1}});
  measured.pairs.push_back({{1, 0, 16}, {1.08, 0, 16}});
  auto changes = measured.compare();
  EXPECT_EQ(changes[50].verdict, TimeVerdict::Same);
  EXPECT_EQ(changes[51].verdict, TimeVerdict::Same);
  EXPECT_GT(changes[50].noise, 0.2);
}

TEST(TimeComparisonTest, nothingIsCompared) {
  EXPECT_TRUE(compareTimes({}, {}, 0, Conditions::Different).empty());
}
