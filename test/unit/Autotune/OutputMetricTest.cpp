//===- OutputMetricTest.cpp ---------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/AccuracyGoal.h"
#include "Measure/MetricCommand.h"
#include "Measure/TopOne.h"
#include "TestDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <cmath>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Result;

namespace {

runtime::TensorInfo makeOutput(std::vector<int64_t> shape) {
  runtime::TensorInfo info;
  info.name = "logits";
  info.dtype = DType::F32;
  info.shape = std::move(shape);
  return info;
}

class TopOneTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("labels.txt");

  Result<std::unique_ptr<OutputMetric>> read(const std::string &text,
                                             std::vector<int64_t> shape,
                                             size_t samples = 2) {
    writeText(path, text);
    return TopOne::read(path, samples, makeOutput(std::move(shape)));
  }
  std::string refuse(const std::string &text, std::vector<int64_t> shape) {
    auto metric = read(text, std::move(shape));
    return metric ? "it was accepted" : metric.message();
  }
};

} // namespace

TEST_F(TopOneTest, CountsRowsWhoseLargestElementIsTheLabels) {
  auto metric = read("1 0\n2\t 0\n", {2, 3});
  ASSERT_TRUE(metric) << metric.message();
  EXPECT_EQ((*metric)->getName(), "top-1");
  auto value =
      (*metric)->compute({{{0, 5, 1, 4, -1, 2}}, {{9, 1, 8, 7, NAN, 1}}});
  ASSERT_TRUE(value) << value.message();
  EXPECT_EQ(*value, 0.5);
  // Of equal elements the first one counts.
  EXPECT_EQ(*(*metric)->compute({{{0, 1, 1, 4, 4, 2}}, {{1, 1, 1, 7, 7, 1}}}),
            0.75);
}

TEST_F(TopOneTest, TakesOutputsWithoutABatchOrWithTrailingOnes) {
  EXPECT_TRUE(read("1 0", {1, 3, 1, 1}));
  EXPECT_TRUE(read("1 0", {3}));
}

TEST_F(TopOneTest, RefusesLabelsThatDoNotFit) {
  EXPECT_EQ(refuse("1 0 2", {1, 3}),
            path + " has 3 labels, and not one for each of the 2 rows of the "
                   "calibration inputs");
  EXPECT_EQ(refuse("1 0 2", {4, 3}),
            path + " has 3 labels, and not one for each of the 8 rows of the "
                   "calibration inputs");
  for (const char *label : {"3", "-1", "cat", "1.5", "99999999999999999999"})
    EXPECT_EQ(refuse(std::string("1 ") + label, {1, 3}),
              path + ": label 1 is '" + label +
                  "', and not one of the classes 0 to 2");
  EXPECT_THAT(
      TopOne::read(directory.file("none"), 2, makeOutput({1, 3})).message(),
      testing::HasSubstr(directory.file("none")));
}

TEST_F(TopOneTest, RefusesOutputsWithoutClasses) {
  for (const auto &[shape, text] :
       std::vector<std::pair<std::vector<int64_t>, std::string>>{
           {{1, 3, 8, 8}, "1x3x8x8"}, {{4, 1}, "4x1"}, {{}, "scalar"}})
    // A row of four is read as four classes of one image.
    EXPECT_EQ(text == "4x1" ? refuse("1", {1, 1}) : refuse("1", shape),
              "output 'logits' of shape " +
                  (text == "4x1" ? std::string("1x1") : text) +
                  " has no classes, which labels need: a row of at least two "
                  "elements for each image");
}

TEST(MetricCommandTest, ReadsTheNumberThatAProgramMakesOfTheOutputs) {
  TestDirectory directory;
  writeText(directory.file("count.sh"),
            "test \"$1\" = x && wc -c < \"$2/output_1.npy\"\n");
  MetricCommand metric("sh '" + directory.file("count.sh") + "' x",
                       {makeOutput({1, 2}), makeOutput({1, 3})});
  auto value = metric.compute({{{1, 2}, {3, 4, 5}}, {{1, 2}, {3, 4, 5}}});
  ASSERT_TRUE(value) << value.message();
  // The header, and the elements of two samples.
  EXPECT_EQ(*value, 128 + 2 * 3 * 4);
}

/// A terminal sends Ctrl-C to the program, too.
TEST(MetricCommandTest, TheProgramSurvivesAnInterruption) {
  MetricCommand metric("kill -INT $$; echo 7;:", {makeOutput({1, 2})});
  auto value = metric.compute({{{1, 2}}});
  ASSERT_TRUE(value) << value.message();
  EXPECT_EQ(*value, 7);
}

TEST(MetricCommandTest, SaysWhatIsWrongWithAProgram) {
  auto refuse = [](const std::string &command) {
    auto value =
        MetricCommand(command, {makeOutput({1, 2})}).compute({{{1, 2}}});
    return value ? "it was accepted" : value.message();
  };
  EXPECT_EQ(refuse("exit 3;"),
            "the metric 'exit 3;' failed with exit status 3");
  EXPECT_EQ(refuse("echo much better;:"),
            "the metric 'echo much better;:' printed 'much better', and not "
            "one number");
  // The outputs are to blame, not the program.
  EXPECT_EQ(refuse("echo nan;:"), "it was accepted");
  EXPECT_EQ(refuse(":"), "the metric ':' printed '', and not one number");
}

TEST(AccuracyGoalTest, RoundingIsNoDrop) {
  AccuracyGoal goal;
  goal.maxDrop = 0.005;
  EXPECT_TRUE(goal.isReached(397.0 / 400, 395.0 / 400));
  EXPECT_TRUE(goal.isReached(0.9, 0.95));
  EXPECT_FALSE(goal.isReached(397.0 / 400, 394.0 / 400));
}
