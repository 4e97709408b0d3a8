//===- RegionChoiceTest.cpp - Choices for single regions ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Passes/RegionChoice.h"

#include "TestModule.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace tarpon;
using runtime::Precision;
using tarpon::test::TestModule;

/// Two regions that have choices around one that converts.
static constexpr const char *kConvertBetween = R"mlir(
  func.func @f(%x: tensor<4xf32>) -> tensor<4xf16> {
    %0 = tarpon.fused(%a = %x) : (tensor<4xf32>) -> tensor<4xf32> {
      %3 = tarpon.relu %a : (tensor<4xf32>) -> tensor<4xf32>
      tarpon.yield %3 : tensor<4xf32>
    }
    %1 = tarpon.fused(%a = %0) : (tensor<4xf32>) -> tensor<4xf16> {
      %3 = tarpon.convert %a : tensor<4xf32> -> tensor<4xf16>
      tarpon.yield %3 : tensor<4xf16>
    }
    %2 = tarpon.fused(%a = %1) : (tensor<4xf16>) -> tensor<4xf16> {
      %3 = tarpon.relu %a : (tensor<4xf16>) -> tensor<4xf16>
      tarpon.yield %3 : tensor<4xf16>
    }
    return %2 : tensor<4xf16>
  })mlir";

TEST(RegionChoice, IsOrdered) {
  RegionChoice fp32, fp16{Precision::F16, {}},
      nhwc{Precision::F32, Layout{Layout::NHWC}};
  EXPECT_EQ(fp32, RegionChoice());
  EXPECT_LT(fp32, fp16);
  EXPECT_LT(fp32, nhwc);
  EXPECT_LT(nhwc, fp16);
}

TEST(RegionChoice, MarksRegionsThatDoNotOnlyConvert) {
  TestModule test(kConvertBetween);
  func::FuncOp function = test.getFunction();
  ASSERT_TRUE(succeeded(
      setRegionChoices(function, {{Precision::I8, Layout{Layout::NHWC}},
                                  {Precision::BF16, Layout()}})));
  SmallVector<FusedOp> regions = getChosenRegions(function);
  ASSERT_EQ(regions.size(), 2u);
  auto getName = [](FusedOp op, StringRef name) {
    return op->getAttrOfType<StringAttr>(name).getValue();
  };
  EXPECT_EQ(getName(regions[0], kPrecisionAttrName), "int8");
  EXPECT_EQ(getName(regions[0], kLayoutAttrName), "nhwc");
  EXPECT_EQ(getName(regions[1], kPrecisionAttrName), "bf16");
  EXPECT_EQ(getName(regions[1], kLayoutAttrName), "nchw");
  for (auto [index, region] : llvm::enumerate(regions))
    EXPECT_EQ(region->getAttrOfType<IntegerAttr>(kRegionAttrName).getInt(),
              static_cast<int64_t>(index));
  EXPECT_FALSE(
      (*++function.getOps<FusedOp>().begin())->hasAttr(kRegionAttrName));
}

TEST(RegionChoice, IsReadAsItIsPrinted) {
  const RegionChoice choices[] = {{Precision::I8, Layout{Layout::NHWC}},
                                  {Precision::BF16, Layout(), Fusion::Off}};
  EXPECT_EQ(printRegionChoice(choices[0]), "int8/nhwc");
  EXPECT_EQ(printRegionChoice(choices[1]), "bf16/nchw/unfused");
  for (const RegionChoice &choice : choices)
    EXPECT_EQ(parseRegionChoice(printRegionChoice(choice)), choice);
  for (StringRef text : {"", "int8", "int8/", "int9/nhwc", "fp32/nhwc/fused",
                         "fp32/nhwc/unfused/unfused"})
    EXPECT_FALSE(parseRegionChoice(text)) << text.str();
}

TEST(RegionChoice, MarksThoseThatAreSplit) {
  TestModule test(kConvertBetween);
  RegionChoice split = {Precision::F32, Layout(), Fusion::Off};
  ASSERT_TRUE(
      succeeded(setRegionChoices(test.getFunction(), {RegionChoice(), split})));
  SmallVector<FusedOp> regions = getChosenRegions(test.getFunction());
  EXPECT_FALSE(regions[0]->hasAttr(kUnfusedAttrName));
  EXPECT_TRUE(regions[1]->hasAttr(kUnfusedAttrName));
}

TEST(RegionChoice, RefusesAnotherNumberOfChoices) {
  TestModule test(kConvertBetween);
  std::string error;
  ScopedDiagnosticHandler handler(
      &test.context, [&](Diagnostic &diagnostic) { error = diagnostic.str(); });
  EXPECT_TRUE(failed(setRegionChoices(test.getFunction(), {RegionChoice()})));
  EXPECT_THAT(error,
              testing::HasSubstr("has 2 regions, but there are choices for 1"));
  for (FusedOp region : getChosenRegions(test.getFunction()))
    EXPECT_FALSE(region->hasAttr(kPrecisionAttrName));
}
