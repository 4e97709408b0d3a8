//===- FeaturesTest.cpp ---------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Learn/Features.h"

#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

#include "gtest/gtest.h"

#include <cmath>

using namespace tarpon;

namespace {

constexpr const char *kConv =
    "conv(2x64x56x28xf32:nhwc, 96x64x3x1xf32:const; 1x96x1x1xf32:const)->"
    "2x96x28x28xf32:nhwc {dilations=1,1 group=1 pads=1,0,1,0 strides=2,1} | "
    "add(2) | relu";

class FeaturesTest : public testing::Test {
protected:
  TargetInfo target = *getHostTarget(1);
  Problem problem = *parseProblem(kConv);
  FeatureSpace space{{"conv-igemm-v1", "other-v1"}, {"block_m", "tile_m"}};
  std::vector<float> row = std::vector<float>(space.configColumns(), -1);

  float get(llvm::StringRef name) {
    auto found = llvm::find(space.getNames(), name);
    EXPECT_NE(found, space.getNames().end()) << name.str();
    return row[found - space.getNames().begin()];
  }

  void fill(const PerfConfig &config, size_t place) {
    space.fillProblem(problem, target, row);
    space.fillSolver(problem, target, *findSolver("conv-igemm-v1"), 0.5, row);
    space.fillConfig(problem, target, config, place, row);
  }
};

} // namespace

// A model with other names is refused, one that lacks some is read: change
// docs/heuristics.md with this list.
TEST_F(FeaturesTest, OrderAndCountAreStable) {
  EXPECT_EQ(
      llvm::join(space.getNames(), " "),
      "batch groups channels out_channels height width out_height out_width "
      "kernel_h kernel_w stride_h stride_w dilation padding out_pixels "
      "all_pixels depth flops input_bytes filter_bytes result_bytes intensity "
      "channel_fill out_channel_fill element_bytes is_quantized is_input_nhwc "
      "is_result_nhwc is_slice epilogue_steps residuals lanes registers "
      "l1_bytes l2_bytes l3_bytes has_vnni has_bf16 expected_fraction "
      "workspace_bytes is conv-igemm-v1 is other-v1 config block_m config "
      "tile_m place tile_cells tile_ports row_fill pixel_fill all_pixel_fill "
      "tile2_fill tile4_fill channel_tiles out_channel_fill_of_tile "
      "pixel_tiles pixel_blocks panel_in_l1 filter_in_l1 block_in_l2 "
      "taps_in_l2 block_row_fill column_fill valid_column_fill");
  EXPECT_EQ(space.configColumns(), space.getNames().size());
  EXPECT_LT(space.solverColumns(), space.configColumns());
}

TEST_F(FeaturesTest, NumbersAreWhatTheyAreCalled) {
  fill({{"tile_m", 8}, {"tile_n", 64}, {"block_m", 4}}, 3);
  EXPECT_EQ(get("batch"), 1);
  EXPECT_FLOAT_EQ(get("channels"), 6);
  EXPECT_FLOAT_EQ(get("height"), std::log2(56.0F));
  EXPECT_FLOAT_EQ(get("out_width"), std::log2(28.0F));
  EXPECT_FLOAT_EQ(get("kernel_h"), std::log2(3.0F));
  EXPECT_EQ(get("kernel_w"), 0);
  EXPECT_EQ(get("stride_h"), 1);
  EXPECT_EQ(get("padding"), 2);
  EXPECT_FLOAT_EQ(get("depth"), std::log2(192.0F));
  EXPECT_EQ(get("is_input_nhwc"), 1);
  EXPECT_EQ(get("is_quantized"), 0);
  EXPECT_EQ(get("epilogue_steps"), 2);
  EXPECT_EQ(get("expected_fraction"), -1);
  EXPECT_EQ(get("is conv-igemm-v1"), 1);
  EXPECT_EQ(get("is other-v1"), 0);
  EXPECT_EQ(get("config tile_m"), 3);
  EXPECT_EQ(get("config block_m"), 2);
  EXPECT_EQ(get("place"), 3);
  // Rows of 28 pixels in tiles of 8, the last one of 4.
  EXPECT_EQ(get("row_fill"), 1);
  EXPECT_FLOAT_EQ(get("out_channel_fill_of_tile"), 0.75F);
  for (float feature : row)
    EXPECT_TRUE(std::isfinite(feature));
}

TEST_F(FeaturesTest, FieldsThatAConfigLacksAreZero) {
  fill({}, 0);
  EXPECT_EQ(get("config tile_m"), 0);
  EXPECT_EQ(get("tile_cells"), 0);
  EXPECT_TRUE(space.knowsFields({{"tile_m", 4}}));
  EXPECT_FALSE(space.knowsFields({{"tile_m", 4}, {"unroll", 2}}));
  EXPECT_TRUE(space.knowsSolver("other-v1"));
  EXPECT_FALSE(space.knowsSolver("other-v2"));
}

TEST_F(FeaturesTest, TilesOfAmxAreTiles) {
  target = *getCpuTarget("sapphirerapids", 1);
  fill({{"amx", 1}, {"tile_m", 32}, {"tile_n", 32}, {"block_m", 4}}, 10);
  EXPECT_EQ(get("config tile_m"), 5);
  EXPECT_EQ(get("tile_cells"), 64);
  for (float feature : row)
    EXPECT_TRUE(std::isfinite(feature));
}

TEST_F(FeaturesTest, KindsTellWhatModelsDescribe) {
  auto kindOf = [](const char *key) {
    return getProblemKind(*parseProblem(key)).value_or("none");
  };
  EXPECT_EQ(kindOf(kConv), "conv2d f32 nhwc");
  EXPECT_EQ(kindOf("conv(1x8x6x6xu8q, 8x8x1x1xi8q:const)->1x8x6x6xu8q "
                   "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}"),
            "conv2d u8q nchw");
  EXPECT_EQ(kindOf("conv(1x8x6x6xf32, 8x8x1x1xf32)->1x8x6x6xf32 "
                   "{dilations=1,1 group=1 pads=0,0,0,0 strides=1,1}"),
            "none");
  EXPECT_EQ(kindOf("conv(1x8x6xf32, 8x8x1xf32:const)->1x8x6xf32 {dilations=1 "
                   "group=1 pads=0,0 strides=1}"),
            "none");
  EXPECT_EQ(kindOf("relu(1x8x6x6xf32)->1x8x6x6xf32"), "none");
}

TEST_F(FeaturesTest, TheRooflineIsTheLargerOfBothBounds) {
  double cycles = getRooflineCycles(problem, target);
  double arithmetic = problem.flops() / (4.0 * target.lanes());
  double memory = problem.bytes() / 8.0;
  ASSERT_GT(arithmetic, memory);
  EXPECT_DOUBLE_EQ(cycles, arithmetic);
  TargetInfo many = target;
  many.threads = 1000;
  EXPECT_DOUBLE_EQ(getRooflineCycles(problem, many), memory);
  TargetInfo two = target;
  two.threads = 2;
  EXPECT_LT(getRooflineCycles(problem, two), cycles);
}

TEST_F(FeaturesTest, MachinesDifferByTheirFigures) {
  target = *getCpuTarget("znver4", 1);
  target.l1Bytes = 48 << 10;
  fill({{"tile_m", 8}, {"tile_n", 32}}, 0);
  EXPECT_EQ(get("lanes"), 4);
  EXPECT_EQ(get("registers"), 5);
  EXPECT_FLOAT_EQ(get("l1_bytes"), std::log2(48.0F * 1024));
  EXPECT_EQ(get("has_vnni"), 1);
  EXPECT_EQ(get("has_bf16"), 1);
  float wide = get("tile_cells");

  target = *getCpuTarget("haswell", 1);
  fill({{"tile_m", 8}, {"tile_n", 16}}, 0);
  EXPECT_EQ(get("lanes"), 3);
  EXPECT_EQ(get("registers"), 4);
  EXPECT_EQ(get("has_vnni"), 0);
  EXPECT_EQ(get("has_bf16"), 0);
  // The same number of vectors.
  EXPECT_EQ(get("tile_cells"), wide);
}

TEST_F(FeaturesTest, TilesAreCountedInVectors) {
  FeatureSpace tiles({"conv-igemm-v1"}, {"tile_m", "tile_n"});
  std::vector<float> wide(tiles.configColumns()), narrow(tiles.configColumns());
  size_t column =
      llvm::find(tiles.getNames(), "config tile_n") - tiles.getNames().begin();
  tiles.fillConfig(problem, *getCpuTarget("znver4", 1),
                   {{"tile_m", 8}, {"tile_n", 32}}, 0, wide);
  tiles.fillConfig(problem, *getCpuTarget("haswell", 1),
                   {{"tile_m", 8}, {"tile_n", 16}}, 0, narrow);
  EXPECT_EQ(wide[column], 1);
  EXPECT_EQ(narrow[column], 1);
}
