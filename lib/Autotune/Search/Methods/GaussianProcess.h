//===- GaussianProcess.h - Regression with uncertainty ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Gaussian process regression (kriging) over a fixed set of points that are
// observed one by one. Rasmussen and Williams, Gaussian Processes for Machine
// Learning, 2006, algorithm 2.1; the Cholesky factor grows by a row per
// observation, and so do the solutions for all points.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_SEARCH_METHODS_GAUSSIANPROCESS_H
#define TARPON_LIB_AUTOTUNE_SEARCH_METHODS_GAUSSIANPROCESS_H

#include <cstddef>
#include <functional>
#include <vector>

namespace tarpon {

/// A process of mean 0. Copies are independent.
class GaussianProcess {
public:
  /// The covariance of two points. It and `noise`, the variance of a single
  /// observation, are relative to getScale.
  using Covariance = std::function<double(size_t, size_t)>;

  GaussianProcess(size_t points, Covariance covariance, double noise);

  /// Adds an observation. A point may be observed several times.
  void observe(size_t point, double value);

  double getMean(size_t point) const { return means[point]; }
  /// The variance of the value itself, without the noise of an observation.
  double getVariance(size_t point) const;

  /// The factor of all variances: the mean squared residual of the
  /// observations, with a prior of 1 that counts as much as `weight` of them.
  double getScale(double weight) const;

private:
  Covariance covariance;
  double noise;
  std::vector<double> means, variances;
  /// The new row of the factor for all points, per observation.
  std::vector<std::vector<double>> rows;
  double squaredResiduals = 0;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_SEARCH_METHODS_GAUSSIANPROCESS_H
