//===- WindowTest.cpp - Windows that need no test for padding -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/Window.h"

#include <gtest/gtest.h>
#include <string>

using namespace tarpon;

namespace {

/// One dimension of a window.
struct Row {
  int64_t width, kernel, stride, pad, padEnd, dilation;

  int64_t outWidth() const {
    return (width + pad + padEnd - dilation * (kernel - 1) - 1) / stride + 1;
  }
  /// Returns true if the window at output place `out` reads no padding.
  bool isInside(int64_t out) const {
    int64_t first = out * stride - pad;
    return first >= 0 && first + dilation * (kernel - 1) < width;
  }
  Problem makeProblem() const;
};

} // namespace

Problem Row::makeProblem() const {
  auto text = [](int64_t number) { return std::to_string(number); };
  return *parseProblem("conv(1x1x" + text(width) + "xf32, 1x1x" + text(kernel) +
                       "xf32:const)->1x1x" + text(outWidth()) +
                       "xf32 {dilations=" + text(dilation) +
                       " group=1 pads=" + text(pad) + "," + text(padEnd) +
                       " strides=" + text(stride) + "}");
}

/// Calls `check` with rows of every small window that has a result.
template <typename Check>
static void forEachRow(const Check &check) {
  for (int64_t width : {1, 2, 5, 8})
    for (int64_t kernel : {1, 2, 3, 5})
      for (int64_t stride : {1, 2, 3})
        for (int64_t pad : {0, 1, 2, 4})
          for (int64_t padEnd : {0, 1, 3})
            for (int64_t dilation : {1, 2})
              if (dilation * (kernel - 1) < width + pad + padEnd)
                check(Row{width, kernel, stride, pad, padEnd, dilation});
}

/// Kernels read the windows of the range without a test, so that it may not
/// have one too many; those outside of it are slower, so that none is missing.
TEST(Window, theInsideRangeIsExact) {
  forEachRow([](const Row &row) {
    Problem problem = row.makeProblem();
    InsideRange range = getInsideRange(problem, row.kernel);
    ASSERT_LE(0, range.begin);
    ASSERT_LE(range.begin, range.end);
    ASSERT_LE(range.end, row.outWidth());
    for (int64_t out = 0; out < row.outWidth(); ++out)
      EXPECT_EQ(out >= range.begin && out < range.end, row.isInside(out))
          << problem.key() << " at " << out;
  });
}
