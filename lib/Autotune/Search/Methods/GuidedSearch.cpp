//===- GuidedSearch.cpp - Searches by expected improvement ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Efficient global optimisation (Jones, Schonlau and Welch, J. of Global
// Optimization 13, 1998): the next candidate is the one with the largest
// expected improvement over the best so far per cost of trying it (EI per
// second: Snoek, Larochelle and Adams, NIPS 2012), and the search ends when
// that falls under a bound. Compiling a kernel costs more than many
// measurements, but then it serves all further configs and problems.
//
// The model of log time is the prediction of the cost model (or of a learned
// one), plus a Gaussian process for its error:
// - a level of the problem as a whole, since only ratios are predicted;
// - an offset of each solver, and a smooth function of the logarithms of its
//   config's fields. Related problems have similar ones (multi-task kriging:
//   Swersky, Snoek and Adams, NIPS 2013), so that their times are the first
//   guess, and a search of many similar problems needs few measurements each;
// - a roughness of each config by itself.
// The scale of these terms follows from the residuals of the results so far,
// with a prior.
//
// Like random search, it also ends at a tenth of the candidates.
//
// The most promising config of each solver is measured once, whatever the
// expectations: cost models are wrong about solvers more often than about
// configs.
//
//===----------------------------------------------------------------------===//

#include "GaussianProcess.h"
#include "Methods.h"

#include "tarpon/Autotune/Search/Policy.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

using namespace tarpon;

namespace {

/// A candidate of this problem or of a related one.
struct Point {
  /// The index of the problem; 0 is the one that is searched.
  size_t problem;
  size_t solver;
  /// Logarithms of the config's fields, by name.
  std::vector<double> fields;
  /// The log time that the model predicts.
  double expected;
};

class GuidedSearch : public SearchMethod {
public:
  explicit GuidedSearch(const SearchSpace &space);

  std::vector<size_t> propose(llvm::ArrayRef<SearchResult> results,
                              size_t max) override;

private:
  struct Best {
    size_t candidate = 0;
    /// Expected improvement per cost.
    double worth = -1;
  };

  void addPoints(size_t problem, llvm::ArrayRef<SearchCandidate> candidates);
  void relateProblems();
  void collectKernels();
  double getCost(size_t candidate) const;
  double covariance(size_t a, size_t b) const;
  GaussianProcess makeProcess() const;
  void take(llvm::ArrayRef<SearchResult> results);
  std::vector<size_t> proposeNewSolvers(size_t max) const;
  Best findBest(const GaussianProcess &process, double bestLog) const;

  const SearchSpace &space;
  std::vector<Point> points;
  std::map<std::string, size_t> solverIds;
  /// The similarity of two problems; 1 for the same.
  std::vector<std::vector<double>> likeness;
  GaussianProcess process;
  std::vector<bool> isMeasured;
  /// The kernels of each candidate, as indices, and the number of distinct
  /// kernels.
  std::vector<std::vector<size_t>> kernels;
  std::vector<bool> isCompiled;
  std::set<size_t> measuredSolvers;
  size_t taken = 0, right = 0;
  double bestLog = std::numeric_limits<double>::infinity();
};

} // namespace

//===----------------------------------------------------------------------===//
// The model
//===----------------------------------------------------------------------===//

/// Candidates that the model cannot judge get the mean.
static std::vector<double>
getExpectedLogs(llvm::ArrayRef<SearchCandidate> candidates) {
  double sum = 0;
  size_t count = 0;
  auto isKnown = [](const SearchCandidate &candidate) {
    return std::isfinite(candidate.expectedMs) && candidate.expectedMs > 0;
  };
  for (const SearchCandidate &candidate : candidates)
    if (isKnown(candidate)) {
      sum += std::log(candidate.expectedMs);
      ++count;
    }
  std::vector<double> logs;
  for (const SearchCandidate &candidate : candidates)
    logs.push_back(isKnown(candidate) ? std::log(candidate.expectedMs)
                   : count            ? sum / static_cast<double>(count)
                                      : 0);
  return logs;
}

void GuidedSearch::addPoints(size_t problem,
                             llvm::ArrayRef<SearchCandidate> candidates) {
  std::vector<double> expected = getExpectedLogs(candidates);
  for (auto [index, candidate] : llvm::enumerate(candidates)) {
    size_t solver =
        solverIds.try_emplace(candidate.solver, solverIds.size()).first->second;
    Point point = {problem, solver, {}, expected[index]};
    for (const auto &[name, value] : candidate.config.getFields())
      point.fields.push_back(
          std::log2(static_cast<double>(std::max<int64_t>(value, 0)) + 1));
    points.push_back(std::move(point));
  }
}

static double getSquaredDistance(llvm::ArrayRef<double> a,
                                 llvm::ArrayRef<double> b) {
  if (a.size() != b.size())
    return std::numeric_limits<double>::infinity();
  double sum = 0;
  for (size_t i = 0; i < a.size(); ++i)
    sum += (a[i] - b[i]) * (a[i] - b[i]);
  return sum;
}

static double decay(double squaredDistance, double length) {
  return std::exp(-squaredDistance / (2 * length * length));
}

void GuidedSearch::relateProblems() {
  std::vector<llvm::ArrayRef<double>> features = {space.features};
  for (const RelatedProblem &related : space.related)
    features.push_back(related.features);
  for (llvm::ArrayRef<double> a : features) {
    likeness.emplace_back();
    for (llvm::ArrayRef<double> b : features)
      likeness.back().push_back(
          decay(getSquaredDistance(a, b), policy::kProblemLength));
  }
}

void GuidedSearch::collectKernels() {
  std::map<std::string, size_t> ids;
  for (const SearchCandidate &candidate : space.candidates) {
    kernels.emplace_back();
    for (const std::string &name : candidate.kernels) {
      auto [id, isNew] = ids.try_emplace(name, ids.size());
      kernels.back().push_back(id->second);
      if (isNew)
        isCompiled.push_back(space.compiled.count(name));
    }
  }
}

/// The cost in measurements.
double GuidedSearch::getCost(size_t candidate) const {
  auto missing = llvm::count_if(kernels[candidate],
                                [&](size_t id) { return !isCompiled[id]; });
  return 1 + policy::kCompileCost * static_cast<double>(missing);
}

double GuidedSearch::covariance(size_t a, size_t b) const {
  const Point &one = points[a], &other = points[b];
  double sum = a == b ? policy::kRoughnessVariance : 0;
  if (one.problem == other.problem)
    sum += policy::kLevelVariance;
  if (one.solver != other.solver)
    return sum;
  double alike = likeness[one.problem][other.problem];
  double near = decay(getSquaredDistance(one.fields, other.fields),
                      policy::kConfigLength);
  return sum +
         alike * (policy::kSolverVariance + policy::kConfigVariance * near);
}

GaussianProcess GuidedSearch::makeProcess() const {
  return GaussianProcess(
      points.size(), [this](size_t a, size_t b) { return covariance(a, b); },
      policy::kNoiseVariance);
}

GuidedSearch::GuidedSearch(const SearchSpace &space)
    : space(space), process(0, nullptr, 0),
      isMeasured(space.candidates.size()) {
  addPoints(0, space.candidates);
  for (auto [index, related] : llvm::enumerate(space.related))
    addPoints(index + 1, related.candidates);
  relateProblems();
  collectKernels();
  process = makeProcess();
  size_t point = space.candidates.size();
  for (const RelatedProblem &related : space.related)
    for (double milliseconds : related.milliseconds) {
      process.observe(point, std::log(milliseconds) - points[point].expected);
      ++point;
    }
}

void GuidedSearch::take(llvm::ArrayRef<SearchResult> results) {
  for (const SearchResult &result : results.drop_front(taken)) {
    isMeasured[result.candidate] = true;
    for (size_t id : kernels[result.candidate])
      isCompiled[id] = true;
    measuredSolvers.insert(points[result.candidate].solver);
    if (!result.isOk())
      continue;
    ++right;
    double log = std::log(result.milliseconds);
    process.observe(result.candidate, log - points[result.candidate].expected);
    bestLog = std::min(bestLog, log);
  }
  taken = results.size();
}

//===----------------------------------------------------------------------===//
// Proposals
//===----------------------------------------------------------------------===//

/// The most promising config of each solver that has no result, the most
/// promising solver first.
std::vector<size_t> GuidedSearch::proposeNewSolvers(size_t max) const {
  std::map<size_t, size_t> firsts;
  auto getLog = [&](size_t index) {
    return points[index].expected + process.getMean(index);
  };
  for (size_t i = 0; i < space.candidates.size(); ++i) {
    size_t solver = points[i].solver;
    if (measuredSolvers.count(solver))
      continue;
    auto [first, isNew] = firsts.try_emplace(solver, i);
    if (!isNew && getLog(i) < getLog(first->second))
      first->second = i;
  }
  std::vector<size_t> next;
  for (auto [solver, index] : firsts)
    next.push_back(index);
  llvm::sort(next, [&](size_t a, size_t b) {
    return std::pair(getLog(a), a) < std::pair(getLog(b), b);
  });
  next.resize(std::min(next.size(), max));
  return next;
}

/// The expected amount by which a normally distributed variable is below
/// `bound`.
static double expectBelow(double bound, double mean, double deviation) {
  double gap = bound - mean;
  if (deviation <= 0)
    return std::max(gap, 0.0);
  double z = gap / deviation;
  double density = std::exp(-z * z / 2) / std::sqrt(2 * M_PI);
  double below = std::erfc(-z / std::sqrt(2.0)) / 2;
  return gap * below + deviation * density;
}

GuidedSearch::Best GuidedSearch::findBest(const GaussianProcess &process,
                                          double bestLog) const {
  double scale = process.getScale(policy::kScaleWeight);
  Best best;
  for (size_t i = 0; i < space.candidates.size(); ++i) {
    if (isMeasured[i])
      continue;
    double mean = points[i].expected + process.getMean(i);
    double deviation = std::sqrt(scale * process.getVariance(i));
    // Without a right result, any is an improvement: the likeliest one is
    // chosen.
    double improvement = std::isfinite(bestLog)
                             ? expectBelow(bestLog, mean, deviation)
                             : std::exp(-mean);
    double worth = improvement / getCost(i);
    if (worth > best.worth)
      best = {i, worth};
  }
  return best;
}

std::vector<size_t> GuidedSearch::propose(llvm::ArrayRef<SearchResult> results,
                                          size_t max) {
  take(results);
  std::vector<size_t> next = proposeNewSolvers(max);
  if (!next.empty())
    return next;
  // A model with a large error expects an improvement forever, so that the
  // number of measurements is limited like that of random search. Failures say
  // nothing about times.
  size_t budget = getSampleBudget(space);
  max = std::min({max, space.parallel, budget - std::min(right, budget)});
  // Candidates in flight count as if they took the expected time ("kriging
  // believer": Ginsbourger, Le Riche and Carraro, 2010).
  std::optional<GaussianProcess> believed;
  while (next.size() < max) {
    const GaussianProcess &current = believed ? *believed : process;
    Best best = findBest(current, bestLog);
    bool hasEnough = right + next.size() >= policy::kMinGuidedResults &&
                     best.worth < policy::kMinExpectedImprovement;
    if (best.worth < 0 || hasEnough)
      break;
    next.push_back(best.candidate);
    isMeasured[best.candidate] = true;
    if (next.size() == max)
      break;
    if (!believed)
      believed = process;
    believed->observe(best.candidate, believed->getMean(best.candidate));
  }
  for (size_t index : next)
    isMeasured[index] = false;
  return next;
}

std::unique_ptr<SearchMethod> tarpon::makeGuidedSearch(const SearchSpace &space,
                                                       uint64_t /*seed*/) {
  return std::make_unique<GuidedSearch>(space);
}
