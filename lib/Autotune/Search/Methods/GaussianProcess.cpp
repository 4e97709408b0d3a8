//===- GaussianProcess.cpp - Regression with uncertainty ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "GaussianProcess.h"

#include <algorithm>
#include <cmath>

using namespace tarpon;

GaussianProcess::GaussianProcess(size_t points, Covariance covariance,
                                 double noise)
    : covariance(std::move(covariance)), noise(noise), means(points, 0.0) {
  for (size_t i = 0; i < points; ++i)
    variances.push_back(this->covariance(i, i));
}

void GaussianProcess::observe(size_t point, double value) {
  // Rounding may make the remaining variance negative.
  double pivot = std::sqrt(getVariance(point) + noise);
  double residual = (value - means[point]) / pivot;
  std::vector<double> row(means.size());
  for (size_t i = 0; i < row.size(); ++i)
    row[i] = covariance(i, point);
  for (const std::vector<double> &earlier : rows)
    for (size_t i = 0; i < row.size(); ++i)
      row[i] -= earlier[i] * earlier[point];
  for (size_t i = 0; i < row.size(); ++i) {
    row[i] /= pivot;
    means[i] += row[i] * residual;
    variances[i] -= row[i] * row[i];
  }
  squaredResiduals += residual * residual;
  rows.push_back(std::move(row));
}

double GaussianProcess::getVariance(size_t point) const {
  return std::max(variances[point], 0.0);
}

double GaussianProcess::getScale(double weight) const {
  return (weight + squaredResiduals) /
         (weight + static_cast<double>(rows.size()));
}
