//===- Transform.cpp - The matrices of one Winograd algorithm -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// With q(x) = (x - p1^2)(x - p2^2)... over the pairs, the rows of B^T are the
// coefficients of q(x^2) for 0, of x q(x^2) for infinity, and of
// (x^2 +- p x) q(x^2) / (x^2 - p^2) for p and -p.
//
//===----------------------------------------------------------------------===//

#include "Transform.h"

#include "mlir/IR/TypeUtilities.h"

#include <algorithm>
#include <array>
#include <cmath>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::winograd;

static constexpr int64_t kTaps = 3;
/// The points of F(4x4,3x3), the largest tile.
static constexpr int64_t kMostInTile = 6;

Transform::Transform(std::vector<double> pairs)
    : pairs(std::move(pairs)), g(makeG()) {}

/// The coefficients, by ascending power, of the product of (x - p^2) over all
/// pairs except number `without` (-1 for none).
std::vector<double> Transform::squaresPolynomial(int64_t without) const {
  std::vector<double> polynomial = {1};
  for (int64_t i = 0; i < numPairs(); ++i) {
    if (i == without)
      continue;
    polynomial.insert(polynomial.begin(), 0);
    for (size_t k = 0; k + 1 < polynomial.size(); ++k)
      polynomial[k] -= pairs[i] * pairs[i] * polynomial[k + 1];
  }
  return polynomial;
}

/// The points in the order of the rows: 0, then each pair.
std::vector<double> Transform::finitePoints() const {
  std::vector<double> points = {0};
  for (double p : pairs) {
    points.push_back(p);
    points.push_back(-p);
  }
  return points;
}

//===----------------------------------------------------------------------===//
// Matrices
//===----------------------------------------------------------------------===//

Transform::Matrix Transform::makeG() const {
  Matrix rows;
  for (double p : finitePoints()) {
    double scale = rowScale(p);
    rows.push_back({1 / scale, p / scale, p * p / scale});
  }
  rows.push_back({0, 0, 1});
  return rows;
}

double Transform::rowScale(double point) const {
  double scale = 1;
  for (double other : finitePoints())
    scale *= point == other ? 1 : point - other;
  return scale;
}

std::vector<double> Transform::pointFactors() const {
  std::vector<double> rows, factors;
  for (double p : finitePoints())
    rows.push_back(1 / rowScale(p));
  rows.push_back(1);
  for (double row : rows)
    for (double column : rows)
      factors.push_back(row * column);
  return factors;
}

/// Inputs that are all as far as possible from zero, on the side that increases
/// the sum: its positive terms, or its negative ones.
std::vector<double> Transform::inputGrowth() const {
  auto sum = [](ArrayRef<double> row, double sign) {
    double total = 0;
    for (double value : row)
      total += std::max(sign * value, 0.0);
    return total;
  };
  std::vector<double> growth;
  Matrix b = makeB();
  for (const std::vector<double> &row : b)
    for (const std::vector<double> &column : b) {
      double positive =
          sum(row, 1) * sum(column, 1) + sum(row, -1) * sum(column, -1);
      double negative =
          sum(row, 1) * sum(column, -1) + sum(row, -1) * sum(column, 1);
      growth.push_back(std::max(positive, negative));
    }
  return growth;
}

Transform::Matrix Transform::makeB() const {
  Matrix rows(inTile(), std::vector<double>(inTile(), 0));
  auto add = [&](int64_t row, ArrayRef<double> polynomial, int64_t shift,
                 double factor) {
    for (auto [k, coefficient] : llvm::enumerate(polynomial))
      rows[row][2 * k + shift] += factor * coefficient;
  };
  std::vector<double> all = squaresPolynomial(-1);
  add(0, all, 0, 1);
  add(inTile() - 1, all, 1, 1);
  for (int64_t i = 0; i < numPairs(); ++i) {
    std::vector<double> others = squaresPolynomial(i);
    for (int64_t sign = 0; sign < 2; ++sign) {
      add(1 + 2 * i + sign, others, 2, 1);
      add(1 + 2 * i + sign, others, 1, sign ? -pairs[i] : pairs[i]);
    }
  }
  return rows;
}

Transform::Matrix Transform::makeA() const {
  Matrix rows;
  for (int64_t i = 0; i < outTile(); ++i) {
    std::vector<double> row;
    for (double p : finitePoints())
      row.push_back(i == 0 ? 1 : std::pow(p, static_cast<double>(i)));
    row.push_back(i == outTile() - 1);
    rows.push_back(row);
  }
  return rows;
}

/// Columns come first, then rows: that takes a third of the products of both at
/// once.
void Transform::transformFilter(ArrayRef<float> taps,
                                MutableArrayRef<double> values) const {
  assert(inTile() <= kMostInTile && "the buffer is too small");
  std::array<double, kMostInTile * kTaps> columns;
  for (int64_t row = 0; row < inTile(); ++row)
    for (int64_t x = 0; x < kTaps; ++x)
      columns[row * kTaps + x] = g[row][0] * taps[x] +
                                 g[row][1] * taps[kTaps + x] +
                                 g[row][2] * taps[2 * kTaps + x];
  for (int64_t row = 0; row < inTile(); ++row)
    for (int64_t column = 0; column < inTile(); ++column) {
      const double *line = &columns[row * kTaps];
      values[row * inTile() + column] = g[column][0] * line[0] +
                                        g[column][1] * line[1] +
                                        g[column][2] * line[2];
    }
}

/// Computes the growth in one dimension; two multiply. See the head of
/// Transform.h.
double Transform::errorGrowth() const {
  Matrix rows = makeB(), a = makeA();
  auto square = [](ArrayRef<double> row) {
    double sum = 0;
    for (double value : row)
      sum += value * value;
    return sum;
  };
  double worst = 0;
  for (int64_t i = 0; i < outTile(); ++i) {
    double variance = 0;
    for (int64_t e = 0; e < inTile(); ++e)
      variance += a[i][e] * a[i][e] * square(g[e]) * square(rows[e]);
    worst = std::max(worst, variance / kTaps);
  }
  return worst;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// addScaled for integers, whose products by powers of two become shifts.
static Value addScaledInteger(KernelBuilder &b, Value sum, double factor,
                              Value x) {
  if (!sum)
    return factor == 1 ? x : b.mul(x, b.cstLike(x.getType(), factor));
  if (std::abs(factor) != 1)
    x = b.mul(x, b.cstLike(x.getType(), std::abs(factor)));
  return factor < 0 ? b.sub(sum, x) : b.add(sum, x);
}

/// sum + factor * x, without a multiplication by one; `sum` may be null.
static Value addScaled(KernelBuilder &b, Value sum, double factor, Value x) {
  if (isa<IntegerType>(getElementTypeOrSelf(x.getType())))
    return addScaledInteger(b, sum, factor, x);
  if (!sum)
    return factor == 1 ? x : b.mulF(x, b.cstLike(x.getType(), factor));
  if (factor == 1)
    return b.addF(sum, x);
  if (factor == -1)
    return b.subF(sum, x);
  return b.fma(x, b.cstLike(x.getType(), factor), sum);
}

/// The sum of polynomial[k] * values[2 k + shift]; the polynomial is monic.
static Value evaluate(KernelBuilder &b, ArrayRef<double> polynomial,
                      ValueRange values, int64_t shift) {
  Value sum;
  for (int64_t k = static_cast<int64_t>(polynomial.size()) - 1; k >= 0; --k)
    sum = addScaled(b, sum, polynomial[k], values[2 * k + shift]);
  return sum;
}

SmallVector<Value> Transform::emitInput(KernelBuilder &b, ValueRange d) const {
  std::vector<double> all = squaresPolynomial(-1);
  SmallVector<Value> result = {evaluate(b, all, d, 0)};
  for (int64_t i = 0; i < numPairs(); ++i) {
    std::vector<double> others = squaresPolynomial(i);
    Value even = evaluate(b, others, d, 2), odd = evaluate(b, others, d, 1);
    result.push_back(addScaled(b, even, pairs[i], odd));
    result.push_back(addScaled(b, even, -pairs[i], odd));
  }
  result.push_back(evaluate(b, all, d, 1));
  return result;
}

SmallVector<Value> Transform::emitOutput(KernelBuilder &b, ValueRange m) const {
  SmallVector<Value> sums, differences, result;
  for (int64_t i = 0; i < numPairs(); ++i) {
    sums.push_back(b.addF(m[1 + 2 * i], m[2 + 2 * i]));
    differences.push_back(b.subF(m[1 + 2 * i], m[2 + 2 * i]));
  }
  for (int64_t i = 0; i < outTile(); ++i) {
    Value sum = i == 0 ? m[0] : i == outTile() - 1 ? m[inTile() - 1] : Value();
    for (int64_t p = 0; p < numPairs(); ++p)
      sum = addScaled(b, sum, std::pow(pairs[p], static_cast<double>(i)),
                      i % 2 ? differences[p] : sums[p]);
    result.push_back(sum);
  }
  return result;
}
