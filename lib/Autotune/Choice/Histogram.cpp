//===- Histogram.cpp - The distribution of a tensor's values --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Choice/Histogram.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <limits>

using namespace tarpon;

static constexpr int64_t kBins = 2048;
/// The steps of the types that activations are stored in.
static constexpr int64_t kSteps = 255;
/// The part of the values that RangeMethod::Percentile keeps.
static constexpr double kKeptPart = 0.9999;
/// The bounds that RangeMethod::Mse tries, as parts of the whole range.
static constexpr int kTriedBounds = 128;

Histogram::Histogram(float lo, float hi) : lo(lo), hi(hi), counts(kBins) {}

void Histogram::add(float value) {
  ++total;
  if (value == 0) {
    ++zeros;
    return;
  }
  double place = (static_cast<double>(value) - lo) / (hi - lo) * kBins;
  ++counts[std::clamp<int64_t>(static_cast<int64_t>(place), 0, kBins - 1)];
}

double Histogram::getCenter(int64_t bin) const {
  return lo + (static_cast<double>(bin) + 0.5) * (hi - lo) / kBins;
}

//===----------------------------------------------------------------------===//
// Methods
//===----------------------------------------------------------------------===//

/// The error of rounding is taken to be uniform within a step.
double Histogram::getError(Bounds range) const {
  double low = std::min(range.lo, 0.0f), high = std::max(range.hi, 0.0f);
  double step = (high - low) / kSteps, sum = 0;
  for (auto [bin, count] : llvm::enumerate(counts)) {
    double center = getCenter(static_cast<int64_t>(bin));
    double clipped = center - std::clamp(center, low, high);
    sum += static_cast<double>(count) *
           (clipped != 0 ? clipped * clipped : step * step / 12);
  }
  return total ? sum / static_cast<double>(total) : 0;
}

Bounds Histogram::getPercentile() const {
  double width = (hi - lo) / static_cast<double>(kBins);
  bool hasBoth = lo < 0 && hi > 0;
  double left =
      static_cast<double>(total) * (1 - kKeptPart) / (hasBoth ? 2 : 1);
  Bounds range = {lo, hi};
  double below = 0, above = 0;
  for (int64_t bin = 0; lo < 0 && bin < kBins; ++bin) {
    below += static_cast<double>(counts[bin]);
    if (below > left)
      break;
    range.lo = static_cast<float>(lo + static_cast<double>(bin + 1) * width);
  }
  for (int64_t bin = kBins - 1; hi > 0 && bin >= 0; --bin) {
    above += static_cast<double>(counts[bin]);
    if (above > left)
      break;
    range.hi = static_cast<float>(lo + static_cast<double>(bin) * width);
  }
  return {std::min(range.lo, 0.0f), std::max(range.hi, 0.0f)};
}

/// Moves one bound after the other, twice each.
Bounds Histogram::getLeastError() const {
  Bounds best = {lo, hi};
  double least = getError(best);
  for (float Bounds::*bound :
       {&Bounds::hi, &Bounds::lo, &Bounds::hi, &Bounds::lo}) {
    Bounds tried = best;
    float whole = bound == &Bounds::hi ? hi : lo;
    for (int part = kTriedBounds; part > 0; --part) {
      tried.*bound =
          whole * static_cast<float>(part) / static_cast<float>(kTriedBounds);
      double error = getError(tried);
      if (error < least) {
        least = error;
        best = tried;
      }
    }
  }
  return best;
}

std::vector<int64_t> Histogram::countMagnitudes() const {
  double largest = std::max(std::fabs(lo), std::fabs(hi));
  std::vector<int64_t> magnitudes(kBins);
  for (auto [bin, count] : llvm::enumerate(counts)) {
    double place =
        std::fabs(getCenter(static_cast<int64_t>(bin))) / largest * kBins;
    magnitudes[std::min(static_cast<int64_t>(place), kBins - 1)] += count;
  }
  return magnitudes;
}

/// Returns the relative entropy of the first `kept` bins, with all others added
/// to the last one that has values, and the same rounded to `levels` levels.
/// The source adds them to the last bin of all, where the distribution after
/// rounding may have none; a single outlier then keeps every bound from being
/// tried.
static double getEntropy(const std::vector<int64_t> &bins, int64_t kept,
                         int64_t levels) {
  double inside = 0, outside = 0;
  for (auto [bin, count] : llvm::enumerate(bins))
    (static_cast<int64_t>(bin) < kept ? inside : outside) +=
        static_cast<double>(count);
  if (inside == 0)
    return std::numeric_limits<double>::infinity();
  int64_t last = kept - 1;
  while (bins[last] == 0)
    --last;
  double entropy = 0;
  for (int64_t level = 0; level < levels; ++level) {
    int64_t begin = level * kept / levels, end = (level + 1) * kept / levels;
    double sum = 0, filled = 0;
    for (int64_t bin = begin; bin < end; ++bin) {
      sum += static_cast<double>(bins[bin]);
      filled += bins[bin] != 0;
    }
    for (int64_t bin = begin; bin < end; ++bin) {
      double before = static_cast<double>(bins[bin]);
      if (bins[bin] == 0)
        continue;
      if (bin == last)
        before += outside;
      double p = before / (inside + outside), q = sum / filled / inside;
      entropy += p * std::log(p / q);
    }
  }
  return entropy;
}

/// As in the source, one bound on the magnitudes.
Bounds Histogram::getLeastEntropy() const {
  std::vector<int64_t> magnitudes = countMagnitudes();
  int64_t levels = lo < 0 && hi > 0 ? kSteps / 2 : kSteps;
  int64_t best = kBins;
  double least = std::numeric_limits<double>::infinity();
  for (int64_t kept = kBins; kept >= levels; kept -= kBins / kTriedBounds) {
    double entropy = getEntropy(magnitudes, kept, levels);
    if (entropy < least) {
      least = entropy;
      best = kept;
    }
  }
  float bound = std::max(std::fabs(lo), std::fabs(hi)) *
                static_cast<float>(best) / static_cast<float>(kBins);
  return {std::max(lo, -bound), std::min(hi, bound)};
}

Bounds Histogram::getRange(RangeMethod method) const {
  if (!(lo < hi))
    return {lo, hi};
  switch (method) {
  case RangeMethod::MinMax:
    return {lo, hi};
  case RangeMethod::Percentile:
    return getPercentile();
  case RangeMethod::Mse:
    return getLeastError();
  case RangeMethod::Entropy:
    return getLeastEntropy();
  }
  return {lo, hi};
}
