//===- InterfacesTest.cpp - Tests of what ops say of themselves -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "IRTest.h"

#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace tarpon;

namespace {

class InterfacesTest : public IRTest {
protected:
  Value makeTensor(ArrayRef<int64_t> shape, StringRef layout = "nchw") {
    auto type = RankedTensorType::get(shape, builder.getF32Type());
    return makeValue(withLayout(type, LayoutAttr::parseName(&context, layout)));
  }

  ConvOp makeConv(ArrayRef<int64_t> input, ArrayRef<int64_t> filter) {
    return ConvOp::create(builder, location, makeTensor(input),
                          makeTensor(filter), ArrayRef<int64_t>{1, 1},
                          ArrayRef<int64_t>{0, 0, 0, 0},
                          ArrayRef<int64_t>{1, 1});
  }

  bool supports(Operation *op, StringRef layout) {
    return cast<LayoutInterface>(op).supportsLayout(
        LayoutAttr::parseName(&context, layout));
  }
};

} // namespace

TEST_F(InterfacesTest, ConvolutionHasAFilter) {
  ConvOp conv = makeConv({1, 3, 8, 8}, {4, 3, 3, 3});
  auto quantizable = cast<QuantizableInterface>(*conv);
  EXPECT_TRUE(quantizable.accumulates());
  EXPECT_EQ(quantizable.getFilterOperand(), 1);
  EXPECT_EQ(quantizable.getFilterChannelAxis(), 0);
  auto layouts = cast<LayoutInterface>(*conv);
  EXPECT_FALSE(layouts.isParameterOperand(0));
  EXPECT_TRUE(layouts.isParameterOperand(1));
  EXPECT_TRUE(supports(conv, "nchw16c"));
}

TEST_F(InterfacesTest, TransposedConvolutionHasItsChannelsInDimensionOne) {
  auto conv = ConvTransposeOp::create(
      builder, location, makeTensor({1, 3, 8, 8}), makeTensor({3, 4, 3, 3}),
      ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{0, 0, 0, 0},
      ArrayRef<int64_t>{1, 1}, ArrayRef<int64_t>{0, 0});
  EXPECT_TRUE(conv.accumulates());
  EXPECT_EQ(conv.getFilterOperand(), 1);
  EXPECT_EQ(conv.getFilterChannelAxis(), 1);
  EXPECT_FALSE(conv.isParameterOperand(0));
  EXPECT_TRUE(conv.isParameterOperand(1));
  EXPECT_TRUE(supports(conv, "nhwc"));
}

TEST_F(InterfacesTest, FilterAxisOfMatMulFollowsTheTransposition) {
  auto plain = MatMulOp::create(builder, location, makeTensor({2, 3}),
                                makeTensor({7, 3, 5}));
  EXPECT_EQ(plain.getFilterChannelAxis(), 2);
  auto transposed = MatMulOp::create(builder, location, makeTensor({2, 3}),
                                     makeTensor({7, 5, 3}), false, true);
  EXPECT_EQ(transposed.getFilterChannelAxis(), 1);
}

TEST_F(InterfacesTest, OpsThatSelectElementsDoNotAccumulate) {
  auto pool =
      GlobalMaxPoolOp::create(builder, location, makeTensor({1, 3, 8, 8}));
  auto quantizable = cast<QuantizableInterface>(*pool);
  EXPECT_FALSE(quantizable.accumulates());
  EXPECT_EQ(quantizable.getFilterOperand(), -1);
  auto relu = ReluOp::create(builder, location, makeTensor({1, 3, 8, 8}));
  EXPECT_FALSE(isa<QuantizableInterface>(*relu));
}

TEST_F(InterfacesTest, BinaryParametersAreScalarsAndChannelVectors) {
  Value data = makeTensor({2, 4, 8, 8});
  auto isParameter = [&](ArrayRef<int64_t> shape) {
    auto add = AddOp::create(builder, location, data, makeTensor(shape));
    EXPECT_FALSE(add.isParameterOperand(0));
    return add.isParameterOperand(1);
  };
  EXPECT_TRUE(isParameter({}));
  EXPECT_TRUE(isParameter({1}));
  EXPECT_TRUE(isParameter({1, 1, 1, 1}));
  EXPECT_TRUE(isParameter({1, 4, 1, 1}));
  EXPECT_TRUE(isParameter({4, 1, 1}));
  EXPECT_FALSE(isParameter({8}));
  EXPECT_FALSE(isParameter({2, 1, 1, 1}));
  EXPECT_FALSE(isParameter({2, 4, 1, 1}));
  EXPECT_FALSE(isParameter({1, 1, 8, 8}));
}

TEST_F(InterfacesTest, AVectorIsTheChannelsOfAMatrixOnly) {
  auto matrix =
      AddOp::create(builder, location, makeTensor({2, 4}), makeTensor({4}));
  EXPECT_TRUE(matrix.isParameterOperand(1));
  auto batched =
      AddOp::create(builder, location, makeTensor({2, 3, 4}), makeTensor({4}));
  EXPECT_FALSE(batched.isParameterOperand(1));
}

TEST_F(InterfacesTest, ConcatOfChannelsKeepsBlocksWhole) {
  Value eight = makeTensor({1, 8, 2, 2}), twelve = makeTensor({1, 12, 2, 2});
  auto channels = ConcatOp::create(builder, location, ValueRange{eight, twelve},
                                   /*axis=*/1);
  EXPECT_TRUE(supports(channels, "nhwc"));
  EXPECT_TRUE(supports(channels, "nchw4c"));
  EXPECT_FALSE(supports(channels, "nchw8c"));
  auto rows = ConcatOp::create(builder, location, ValueRange{twelve, twelve},
                               /*axis=*/2);
  EXPECT_TRUE(supports(rows, "nchw16c"));
}

TEST_F(InterfacesTest, RootIsWhatIsNotAConvert) {
  Value input = makeTensor({2, 4});
  auto half = RankedTensorType::get({2, 4}, builder.getF16Type());
  auto fused = FusedOp::create(builder, location, half, input);
  Block &body = fused.getBody().emplaceBlock();
  Value argument = body.addArgument(input.getType(), location);
  builder.setInsertionPointToStart(&body);
  auto convert = ConvertOp::create(builder, location, half, argument);
  auto yield = YieldOp::create(builder, location, convert.getResult(),
                               mlir::ValueRange());
  EXPECT_EQ(fused.getRoot(), convert.getOperation());

  builder.setInsertionPoint(yield);
  auto relu = ReluOp::create(builder, location, convert.getResult());
  yield.getValueMutable().assign(relu.getResult());
  EXPECT_EQ(fused.getRoot(), relu.getOperation());
  EXPECT_TRUE(succeeded(fused.verify()));
}

/// Builders infer before anything has verified the operands.
TEST_F(InterfacesTest, InferenceRejectsDynamicShapes) {
  std::string message;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    message = diagnostic.str();
    return success();
  });
  Value input = makeTensor({ShapedType::kDynamic, 4});
  SmallVector<Type> types;
  EXPECT_TRUE(failed(ReluOp::inferReturnTypes(
      &context, location, ValueRange(input), DictionaryAttr(), nullptr,
      RegionRange(), types)));
  EXPECT_EQ(message, "'tarpon.relu' op expects static shapes, got "
                     "'tensor<?x4xf32>'");
}

TEST_F(InterfacesTest, InferenceIsSilentWithoutALocation) {
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    ADD_FAILURE() << diagnostic.str();
    return success();
  });
  SmallVector<Value> operands{makeTensor({2}), makeTensor({3})};
  SmallVector<Type> types;
  EXPECT_TRUE(failed(AddOp::inferReturnTypes(&context, std::nullopt, operands,
                                             DictionaryAttr(), nullptr,
                                             RegionRange(), types)));
}
