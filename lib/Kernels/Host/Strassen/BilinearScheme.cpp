//===- BilinearScheme.cpp - Products of blocks by fewer products ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BilinearScheme.h"

#include <algorithm>

using namespace tarpon::strassen;

/// The blocks are numbered 0 and 1 in the first row, 2 and 3 in the second one.
static BilinearScheme makeOneLevel() {
  return {2,
          {{{{0, 1}, {3, 1}}, {{0, 1}, {3, 1}}, {{0, 1}, {3, 1}}},
           {{{2, 1}, {3, 1}}, {{0, 1}}, {{2, 1}, {3, -1}}},
           {{{0, 1}}, {{1, 1}, {3, -1}}, {{1, 1}, {3, 1}}},
           {{{3, 1}}, {{2, 1}, {0, -1}}, {{0, 1}, {2, 1}}},
           {{{0, 1}, {1, 1}}, {{3, 1}}, {{1, 1}, {0, -1}}},
           {{{2, 1}, {0, -1}}, {{0, 1}, {1, 1}}, {{3, 1}}},
           {{{1, 1}, {3, -1}}, {{2, 1}, {3, 1}}, {{0, 1}}}}};
}

/// The sum of all blocks of `inner` in all blocks of `outer`.
static Sum nest(const Sum &outer, int64_t outerParts, const Sum &inner,
                int64_t innerParts) {
  Sum sum;
  for (const Term &a : outer)
    for (const Term &b : inner) {
      int64_t row = a.block / outerParts * innerParts + b.block / innerParts;
      int64_t column = a.block % outerParts * innerParts + b.block % innerParts;
      sum.push_back({row * outerParts * innerParts + column, a.sign * b.sign});
    }
  std::stable_sort(sum.begin(), sum.end(), [](const Term &a, const Term &b) {
    return a.sign > b.sign;
  });
  return sum;
}

BilinearScheme tarpon::strassen::makeStrassenScheme(int64_t levels) {
  BilinearScheme one = makeOneLevel(), scheme = one;
  for (int64_t level = 1; level < levels; ++level) {
    BilinearScheme nested{scheme.parts * one.parts, {}};
    for (const Product &outer : scheme.products)
      for (const Product &inner : one.products) {
        auto combine = [&](Sum Product::*sum) {
          return nest(outer.*sum, scheme.parts, inner.*sum, one.parts);
        };
        nested.products.push_back({combine(&Product::left),
                                   combine(&Product::right),
                                   combine(&Product::result)});
      }
    scheme = std::move(nested);
  }
  return scheme;
}
