//===- NetworkSplitTest.cpp -----------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/NetworkSplit.h"

#include "TestDirectory.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;
using testing::HasSubstr;

namespace {

class NetworkSplitTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string path = directory.file("split.json");

  void write(const std::string &heldOut, const std::string &lines) {
    writeText(path, R"({"name": "s", "problems": "list.txt", "held_out": )" +
                        heldOut + "}");
    writeText(directory.file("list.txt"), lines);
  }

  std::string getError() {
    auto split = NetworkSplit::read(path);
    return split ? "" : split.message();
  }

  /// The tests' shape with so many channels.
  static Problem makeProblem(int64_t channels, const char *dtype = "f32",
                             int64_t batch = 1) {
    std::string c = std::to_string(channels), n = std::to_string(batch);
    std::string type = dtype;
    return *parseProblem("conv(" + n + "x" + c + "x7x9x" + type + ", 16x" + c +
                         "x3x1x" + type + ":const)->" + n + "x16x4x9x" + type +
                         " {dilations=1,1 group=1 pads=1,0,1,0 strides=2,1} "
                         "| relu");
  }
};

constexpr const char *kLines = "# a comment\n"
                               "1 8 7 9 16 3 1 2 1 1 0 1 0 1 1 1 relu a/x,b/y\n"
                               "1 4 7 9 16 3 1 2 1 1 0 1 0 1 1 1 none b/y,b/z\n"
                               "4 2 7 9 16 3 1 2 1 1 0 1 0 1 1 1 none c/z\n";

} // namespace

TEST_F(NetworkSplitTest, AShapeOfATrainingNetworkIsNotHeldOut) {
  write(R"(["b"])", kLines);
  auto split = NetworkSplit::read(path);
  ASSERT_TRUE(split) << split.message();
  EXPECT_EQ(split->getName(), "s");
  EXPECT_EQ(split->getNetworks(makeProblem(8)),
            (std::set<std::string>{"a", "b"}));
  EXPECT_FALSE(split->isHeldOut(makeProblem(8)));
  EXPECT_TRUE(split->isHeldOut(makeProblem(4)));
  EXPECT_FALSE(split->isHeldOut(makeProblem(2)));
  EXPECT_TRUE(split->getNetworks(makeProblem(6)).empty());
  EXPECT_FALSE(split->isHeldOut(makeProblem(6)));
}

TEST_F(NetworkSplitTest, BatchDtypeAndEpilogueMakeNoOtherShape) {
  write(R"(["b", "c"])", kLines);
  auto split = NetworkSplit::read(path);
  ASSERT_TRUE(split) << split.message();
  EXPECT_TRUE(split->isHeldOut(makeProblem(4, "bf16", 16)));
  EXPECT_TRUE(split->isHeldOut(makeProblem(2)));
}

TEST_F(NetworkSplitTest, FaultsAreSaidInOneSentence) {
  EXPECT_THAT(getError(), HasSubstr("cannot read " + path));
  writeText(path, "{}");
  EXPECT_THAT(getError(), HasSubstr("is no split"));
  write(R"(["b", 3])", kLines);
  EXPECT_THAT(getError(), HasSubstr("is no split"));
  write(R"(["d"])", kLines);
  EXPECT_THAT(getError(), HasSubstr("is of 'd'"));
  write(R"(["b"])", "1 2 3\n");
  EXPECT_THAT(getError(), HasSubstr("list.txt:1: not a shape"));
}

TEST(CheckedInSplitTest, HoldsOutEveryThirdNetwork) {
  auto split = NetworkSplit::read(std::string(TARPON_SOURCE_DIR) +
                                  "/benchmarks/problems/split.json");
  ASSERT_TRUE(split) << split.message();
  EXPECT_EQ(split->getHeldOut(),
            (std::set<std::string>{"inception-v3", "resnet50", "yolov3"}));
}
