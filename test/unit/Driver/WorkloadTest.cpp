//===- WorkloadTest.cpp ---------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/Workload.h"

#include "tarpon/Driver/DriverLine.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using llvm::StringRef;
using testing::HasSubstr;
using testing::StartsWith;

static Problem parse(const std::string &key) {
  std::string fault;
  auto problem = parseProblem(key, &fault);
  EXPECT_TRUE(mlir::succeeded(problem)) << key << ": " << fault;
  return *problem;
}

/// The problems that the line of a problem poses.
static std::vector<std::string> readBack(const Problem &problem) {
  Workload workload = parseWorkload(printDriverLine(problem));
  EXPECT_TRUE(workload.faults.empty());
  std::vector<std::string> keys;
  for (const Problem &read : workload.problems)
    keys.push_back(read.key());
  return keys;
}

TEST(WorkloadTest, LogsAreReadAsTheyAre) {
  Workload workload = parseWorkload(
      "# a comment\n"
      "\n"
      "epoch 1: loss 0.5\n"
      "MIOpen(HIP): Command [LogCmdConvolution] ./bin/MIOpenDriver conv -n 1 "
      "-c 8 -H 9 -W 9 -k 16 -y 3 -x 3 -p 1 -q 1 -F 1 -t 1\r\n"
      "graph-opt driver --threads 1 --cpu native conv -n 1 -c 8 -H 9 -W 9 -k "
      "16 -y 3 -x 3 -p 1 -q 1 -F 1\n"
      "graph-opt driver 'relu(1x8x4x4xf32:nhwc)->1x8x4x4xf32:nhwc'\n"
      "graph-opt driver relu(1x8x4x4xf32:nhwc)->1x8x4x4xf32:nhwc\n"
      "MIOpenDriver conv -n 1 -c 8 -H 9 -W 9 -k 16 -y 3 -x 3 -F 0");
  EXPECT_TRUE(workload.faults.empty());
  EXPECT_EQ(workload.lines, 5);
  // The last line asks for all directions, without padding.
  ASSERT_EQ(workload.problems.size(), 5u);
  EXPECT_EQ(workload.problems[0].op, OpKind::Conv);
  EXPECT_EQ(workload.problems[1].op, OpKind::Relu);
}

TEST(WorkloadTest, FaultsNameTheirLine) {
  Workload workload = parseWorkload("relu(8xf32)->8xf32\n"
                                    "warp -n 1\n"
                                    "\n"
                                    "relu(8xf32)->\n"
                                    "relu(8xf32)->8xf32 -t 1\n");
  EXPECT_EQ(workload.problems.size(), 1u);
  EXPECT_EQ(workload.lines, 4);
  ASSERT_EQ(workload.faults.size(), 3u);
  EXPECT_EQ(workload.faults[0].line, 2);
  EXPECT_THAT(workload.faults[0].reason,
              StartsWith("there is no driver for 'warp'"));
  EXPECT_EQ(workload.faults[1].line, 4);
  EXPECT_THAT(workload.faults[1].reason,
              HasSubstr("'relu(8xf32)->' is not a problem key"));
  EXPECT_EQ(workload.faults[2].line, 5);
}

TEST(WorkloadTest, MissingFileIsNamed) {
  auto workload = readWorkload("/nowhere/w.txt");
  ASSERT_FALSE(workload);
  EXPECT_THAT(workload.message(), StartsWith("/nowhere/w.txt: "));
}

TEST(WorkloadTest, ConvolutionsAreDriverLines) {
  for (const char *text :
       {"-n 2 -c 8 -H 9 -W 7 -k 16 -y 3 -x 1 -p 1 -q 0 -u 2 -v 1 -l 1 -j 1 -m "
        "conv -g 2 -F 1",
        "-n 2 -c 8 -H 9 -W 7 -k 16 -y 3 -x 3 -p 1 -q 1 -u 2 -v 2 -l 1 -j 1 -m "
        "conv -g 1 -F 2",
        "-n 2 -c 8 -H 9 -W 7 -k 16 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m "
        "conv -g 1 -F 4",
        "-_ 3 -n 1 -c 4 -! 5 -H 9 -W 7 -k 8 -@ 3 -y 3 -x 3 -$ 1 -p 1 -q 1 -# 1 "
        "-u 1 -v 1 -^ 1 -l 1 -j 1 -m conv -g 1 -F 1",
        "-n 2 -c 8 -H 9 -W 7 -k 16 -y 3 -x 3 -p 1 -q 1 -u 1 -v 1 -l 1 -j 1 -m "
        "conv -g 1 -I NHWC -O NHWC -F 1"})
    for (const char *base : {"conv", "convfp16", "convbfp16", "convint8"}) {
      std::string line = std::string(base) + " " + text;
      // Gradients of weights are sums of floats.
      if (StringRef(line).ends_with("-F 4") && StringRef(base) == "convint8")
        continue;
      Workload workload = parseWorkload(line);
      ASSERT_EQ(workload.problems.size(), 1u)
          << line << ": " << workload.faults.front().reason;
      EXPECT_EQ(printDriverLine(workload.problems[0]),
                "graph-opt driver " + line);
    }
}

TEST(WorkloadTest, TheRestIsAKey) {
  for (const char *key :
       {"relu(1x8x4x4xf32:nhwc)->1x8x4x4xf32:nhwc",
        "conv(1x8x9x9xf32:nhwc, 16x8x3x3xf32:const; 1x16x1x1xf32:const)"
        "->1x16x9x9xf32:nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1}"
        " | add(2) | relu",
        "conv(1x8x9x9xf32, 16x8x3x3xf32:const)->1x16x8x8xf32 {dilations=1,1 "
        "group=1 pads=0,0,1,1 strides=1,1}",
        "conv(1x8x9xf32, 16x8x3xf32:const)->1x16x9xf32 {dilations=1 group=1 "
        "pads=1,1 strides=1}"}) {
    Problem problem = parse(key);
    EXPECT_EQ(printDriverLine(problem),
              "graph-opt driver '" + problem.key() + "'");
    EXPECT_EQ(readBack(problem), std::vector{problem.key()});
  }
}

TEST(Workload, VariantsReplaceBatchAndDirection) {
  WorkloadVariants variants;
  variants.batches = {2, 16};
  variants.directions = {1, 2, 4};
  Workload workload =
      parseWorkload("conv -n 1 -c 8 -H 6 -W 6 -k 8 -y 1 -x 1 -F 1\n"
                    "MIOpenDriver activ -n 1 -c 4 -H 5 -W 5 -m 3 -F 1\n"
                    "relu(1x8xf32)->1x8xf32\n",
                    variants);
  EXPECT_TRUE(workload.faults.empty());
  EXPECT_EQ(workload.lines, 3);
  EXPECT_EQ(workload.keys, 1);
  // Six convolutions, two activations, and the key as it is.
  ASSERT_EQ(workload.problems.size(), 9u);
  EXPECT_EQ(workload.problems.front().key().substr(0, 7), "conv(2x");
  EXPECT_EQ(workload.problems.back().key(), "relu(1x8xf32)->1x8xf32");
}
