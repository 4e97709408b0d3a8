//===- TrialGroupsTest.cpp ------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Tuning/TrialGroups.h"

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/TargetInfo.h"

#include "gtest/gtest.h"

using namespace tarpon;
using runtime::Precision;

/// The names of all choices in the order in which they are surveyed; groups are
/// apart.
static std::string printOrder(const TargetInfo &target) {
  std::deque<Trial> trials;
  for (Precision dtype :
       {Precision::F32, Precision::F16, Precision::BF16, Precision::I8})
    for (Layout layout : kChoiceLayouts)
      for (Fusion fusion : kTriedFusions)
        trials.push_back({{dtype, layout, fusion}, {}, {}});
  std::string text;
  for (const std::vector<Trial *> &group : groupTrials(trials, target)) {
    text += text.empty() ? "" : "; ";
    for (const Trial *trial : group)
      text += (trial == group.front() ? "" : ", ") + trial->choice.name();
  }
  return text;
}

/// The dtypes of fused choices in that order.
static std::string printDtypes(const TargetInfo &target) {
  std::string text = printOrder(target);
  std::string dtypes;
  for (llvm::StringRef group : llvm::split(text, "; "))
    if (!group.contains("unfused"))
      dtypes += (dtypes.empty() ? "" : " ") + group.split('/').first.str();
  return dtypes;
}

TEST(TrialGroups, ReferenceFusionAndPromisingLayoutsComeFirst) {
  EXPECT_EQ(printOrder({}), "fp32/nhwc, fp32/nchw; fp16/nhwc, fp16/nchw; "
                            "bf16/nhwc, bf16/nchw; int8/nhwc, int8/nchw; "
                            "fp32/nhwc/unfused, fp32/nchw/unfused; "
                            "fp16/nhwc/unfused, fp16/nchw/unfused; "
                            "bf16/nhwc/unfused, bf16/nchw/unfused; "
                            "int8/nhwc/unfused, int8/nchw/unfused");
}

TEST(TrialGroups, DtypesOfFastInstructionsComeSooner) {
  TargetInfo target;
  target.hasVnni = true;
  EXPECT_EQ(printDtypes(target), "fp32 int8 fp16 bf16");
  target.hasBf16 = true;
  EXPECT_EQ(printDtypes(target), "fp32 int8 bf16 fp16");
  target.hasAmxBf16 = true;
  EXPECT_EQ(printDtypes(target), "fp32 bf16 int8 fp16");
  target.hasAmxInt8 = true;
  EXPECT_EQ(printDtypes(target), "fp32 int8 bf16 fp16");
}

TEST(TrialGroups, GpusAnswerByTheirPeaks) {
  auto gpu = parseGpuTarget("gfx942");
  ASSERT_TRUE(gpu) << gpu.message();
  EXPECT_EQ(printDtypes(makeGpuTargetInfo(*gpu)), "fp32 int8 fp16 bf16");
}
