//===- ProgressTest.cpp ---------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Search/Progress.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using tarpon::Deadline;
using tarpon::Progress;
using testing::HasSubstr;
using testing::Not;

namespace {

class ProgressTest : public testing::Test {
protected:
  double now = 0;
  std::string text;
  llvm::raw_string_ostream os{text};

  Progress make(Progress::Style style) {
    return Progress(os, style, [this] { return now; });
  }
};

} // namespace

TEST_F(ProgressTest, LinesComeEveryFewSeconds) {
  Progress progress = make(Progress::Style::Lines);
  progress.expect(10);
  progress.setPhase("int8/nhwc: conv1");
  EXPECT_EQ(text, "");
  now = 6;
  progress.advance(5);
  EXPECT_THAT(text, HasSubstr(" 50%  0:06 left  int8/nhwc: conv1\n"));
  text.clear();
  now = 7;
  progress.advance(1);
  EXPECT_EQ(text, "");
}

TEST_F(ProgressTest, BarIsRewrittenAndClearedAtTheEnd) {
  Progress progress = make(Progress::Style::Bar);
  progress.expect(4);
  now = 1;
  progress.advance(1);
  EXPECT_THAT(text, HasSubstr("25%"));
  EXPECT_THAT(text, Not(HasSubstr("\n")));
  text.clear();
  progress.finish();
  EXPECT_EQ(text, "\r\033[K");
  progress.finish();
  EXPECT_EQ(text, "\r\033[K");
}

TEST_F(ProgressTest, QuietPrintsRemarksOnly) {
  Progress progress = make(Progress::Style::Quiet);
  progress.expect(1);
  now = 100;
  progress.advance(1);
  progress.remark("a candidate crashed");
  EXPECT_EQ(text, "remark: a candidate crashed\n");
}

TEST_F(ProgressTest, NoEstimateBeforeAnythingIsDone) {
  Progress progress = make(Progress::Style::Lines);
  progress.expect(1000);
  now = 10;
  EXPECT_LT(progress.getSecondsLeft(), 0);
  EXPECT_EQ(progress.getFraction(), 0);
}

TEST_F(ProgressTest, DeadlineBoundsTheEstimate) {
  Progress progress = make(Progress::Style::Lines);
  progress.expect(100);
  progress.setDeadline(Deadline::after(20));
  now = 10;
  progress.advance(5);
  EXPECT_LE(progress.getSecondsLeft(), 20);
}

TEST_F(ProgressTest, MoreWorkMovesTheBarBack) {
  Progress progress = make(Progress::Style::Lines);
  progress.expect(1);
  progress.advance(1);
  EXPECT_EQ(progress.getFraction(), 1);
  progress.expect(1);
  EXPECT_EQ(progress.getFraction(), 0.5);
  progress.advance(7);
  EXPECT_EQ(progress.getFraction(), 1);
}
