//===- PackageBuilderTest.cpp - Launches to packages that run -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include "tarpon/IR/TarponOps.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Package/PackageBuilder.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Parser/Parser.h"

#include <cmath>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Package;
using runtime::Result;
using testing::ElementsAre;
using testing::HasSubstr;

namespace {

class PackageBuilderTest : public testing::Test {
protected:
  PackageBuilderTest()
      : compiler(makeHostCompiler(getTarget("native"), nullptr)) {
    context.loadDialect<TarponDialect, mlir::func::FuncDialect,
                        mlir::quant::QuantDialect>();
  }

  /// Builds from the text of a function.
  Result<Package> build(const std::string &text) {
    return build(text, compiler);
  }
  Result<Package> build(const std::string &text, KernelCompiler &with) {
    auto module = mlir::parseSourceString<mlir::ModuleOp>(text, &context);
    if (!module)
      return runtime::Error{"the test's module does not parse"};
    auto function = *module->getOps<mlir::func::FuncOp>().begin();
    return buildPackage(function, with);
  }
  std::string buildError(const std::string &text) {
    Result<Package> package = build(text);
    return package ? "no error" : package.message();
  }

  mlir::MLIRContext context;
  KernelCompiler compiler;
};

/// A launch of the reference solver; `rest` are further attributes, `scales`
/// those of the problem's quantised tensors.
std::string launch(const std::string &name, const std::string &operands,
                   const std::string &problem, const std::string &type,
                   const std::string &rest = "offset = 0 : i64",
                   const std::string &solver = "reference-v1",
                   const std::string &scales = "") {
  return "tarpon.launch \"" + name + "\"(" + operands +
         ") {problem = #tarpon.problem<\"" + problem + "\"" + scales +
         ">, solution = #tarpon.solution<\"" + solver +
         "\", \"\", \"default\">" + (rest.empty() ? "" : ", ") + rest +
         "} : " + type + "\n";
}

std::vector<std::vector<float>> run(const Package &package,
                                    std::vector<std::vector<float>> inputs) {
  auto executor = runtime::Executor::create(package, {.threads = 1});
  EXPECT_TRUE(executor) << executor.message();
  std::vector<std::vector<float>> outputs;
  if (!executor)
    return outputs;
  std::vector<const void *> in;
  for (const std::vector<float> &input : inputs)
    in.push_back(input.data());
  std::vector<void *> out;
  for (const runtime::TensorInfo &info : package.outputs)
    outputs.emplace_back(info.numElements(), -99.0f);
  for (std::vector<float> &output : outputs)
    out.push_back(output.data());
  EXPECT_TRUE((*executor)->run(in, out));
  return outputs;
}

const std::string kUnary = "(tensor<4xf32>) -> tensor<4xf32>";
const std::string kBinary = "(tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>";

TEST_F(PackageBuilderTest, ChainWithConstants) {
  auto package = build(
      R"(func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> attributes {
           tarpon.model_name = "chain", tarpon.model_sha256 = "abc",
           tarpon.input_names = ["x"], tarpon.output_names = ["y"]} {
      %c = tarpon.constant {value = dense<[1., 2., 3., 4.]> : tensor<4xf32>} : tensor<4xf32>
      %d = tarpon.constant {value = dense<[1., 2., 3., 4.]> : tensor<4xf32>} : tensor<4xf32>
      %unused = tarpon.constant {value = dense<7.> : tensor<64xf32>} : tensor<64xf32>
      %0 = )" +
      launch("add_0", "%x, %c", "add(4xf32, 4xf32:const)->4xf32", kBinary) +
      "%1 = " +
      launch("add_1", "%0, %d", "add(4xf32, 4xf32:const)->4xf32", kBinary,
             "offset = 128 : i64") +
      "%2 = " +
      launch("relu_2", "%1", "relu(4xf32)->4xf32", kUnary,
             "offset = -1 : i64") +
      "return %2 : tensor<4xf32> }");
  ASSERT_TRUE(package) << package.message();
  EXPECT_EQ(package->modelName, "chain");
  EXPECT_EQ(package->modelSha256, "abc");
  EXPECT_EQ(package->inputs[0].name, "x");
  EXPECT_EQ(package->outputs[0].name, "y");
  EXPECT_EQ(package->cpuFeatures, compiler.getTarget().features);
  ASSERT_EQ(package->layers.size(), 3u);
  EXPECT_EQ(package->layers[0].name, "add_0");
  EXPECT_EQ(package->layers[0].solver, "reference-v1");
  EXPECT_EQ(package->layers[0].config, "{}");
  EXPECT_EQ(package->layers[0].source, "default");
  EXPECT_EQ(package->layers[0].bytes, 48);
  EXPECT_GE(package->arenaBytes, 128 + 16 + runtime::kBufferTailPadding);
  // Two equal adds are one kernel, two equal constants are one, and the unused
  // one is not there.
  EXPECT_EQ(compiler.getStatistics().compiled, 2);
  EXPECT_EQ(package->layers[0].launches[0].symbol,
            package->layers[1].launches[0].symbol);
  EXPECT_LT(package->constants.size(), 256u);
  EXPECT_THAT(run(*package, {{-10, -4, 0, 1}}),
              ElementsAre(ElementsAre(0, 0, 6, 9)));
}

/// Two tensors of two pixels are converted to nhwc, side by side, and back.
static std::string joinTwo(const std::string &secondOffset) {
  const std::string slice = "#tarpon.layout<nhwc, pitch = 3>";
  const std::string first = "tensor<1x2x2xf32, " + slice + ">",
                    second = "tensor<1x1x2xf32, " + slice + ">",
                    both = "tensor<1x3x2xf32, #tarpon.layout<nhwc>>";
  return "func.func @main(%x: tensor<1x2x2xf32>, %y: tensor<1x1x2xf32>) -> "
         "tensor<1x3x2xf32> {\n%0 = " +
         launch("first", "%x", "convert(1x2x2xf32)->1x2x2xf32:nhwc/3",
                "(tensor<1x2x2xf32>) -> " + first, "offset = 64 : i64") +
         "%1 = " +
         launch("second", "%y", "convert(1x1x2xf32)->1x1x2xf32:nhwc/3",
                "(tensor<1x1x2xf32>) -> " + second,
                "offset = " + secondOffset + " : i64") +
         "%2 = tarpon.join %0, %1 : (" + first + ", " + second + ") -> " +
         both + "\n%3 = " +
         launch("back", "%2", "convert(1x3x2xf32:nhwc)->1x3x2xf32",
                "(" + both + ") -> tensor<1x3x2xf32>", "offset = -1 : i64") +
         "return %3 : tensor<1x3x2xf32> }";
}

TEST_F(PackageBuilderTest, JoinsAreViews) {
  auto package = build(joinTwo("72"));
  ASSERT_TRUE(package) << package.message();
  EXPECT_EQ(package->layers.size(), 3u);
  EXPECT_THAT(run(*package, {{1, 2, 3, 4}, {5, 6}}),
              ElementsAre(ElementsAre(1, 2, 3, 4, 5, 6)));
  EXPECT_EQ(buildError(joinTwo("80")),
            "layer 'second': its result is not where it is joined with others");
}

TEST_F(PackageBuilderTest, ConstantsAreConvertedOnce) {
  for (std::string layout : {"nhwc", "nchw4c"}) {
    std::string type = "tensor<1x3x2xf32, #tarpon.layout<" + layout + ">>";
    auto package = build(
        "func.func @main(%x: tensor<1x3x2xf32>) -> tensor<1x3x2xf32> {\n"
        "%c = tarpon.constant {value = dense<[[[1., 2.], [3., 4.], [5., 6.]]]>"
        " : tensor<1x3x2xf32>} : tensor<1x3x2xf32>\n%0 = " +
        launch("constant", "%c",
               "convert(1x3x2xf32:const)->1x3x2xf32:" + layout,
               "(tensor<1x3x2xf32>) -> " + type) +
        "%1 = " +
        launch("input", "%x", "convert(1x3x2xf32)->1x3x2xf32:" + layout,
               "(tensor<1x3x2xf32>) -> " + type, "offset = 128 : i64") +
        "%2 = " +
        launch("sum", "%1, %0",
               "add(1x3x2xf32:" + layout + ", 1x3x2xf32:" + layout +
                   ")->1x3x2xf32:" + layout,
               "(" + type + ", " + type + ") -> " + type,
               "offset = 256 : i64") +
        "%3 = " +
        launch("back", "%2", "convert(1x3x2xf32:" + layout + ")->1x3x2xf32",
               "(" + type + ") -> tensor<1x3x2xf32>", "offset = -1 : i64") +
        "return %3 : tensor<1x3x2xf32> }");
    ASSERT_TRUE(package) << package.message();
    ASSERT_EQ(package->layers.size(), 3u);
    EXPECT_EQ(package->layers[0].name, "input");
    EXPECT_THAT(run(*package, {{10, 20, 30, 40, 50, 60}}),
                ElementsAre(ElementsAre(11, 22, 33, 44, 55, 66)));
  }
}

TEST_F(PackageBuilderTest, ReshapesAreViews) {
  auto package =
      build("func.func @main(%x: tensor<2x2xf32>) -> tensor<1x4xf32> {\n"
            "%v = tarpon.reshape %x : (tensor<2x2xf32>) -> tensor<4xf32>\n"
            "%0 = " +
            launch("relu_0", "%v", "relu(4xf32)->4xf32", kUnary) +
            "%w = tarpon.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>\n"
            "%z = tarpon.reshape %w : (tensor<2x2xf32>) -> tensor<1x4xf32>\n"
            "return %z : tensor<1x4xf32> }");
  ASSERT_TRUE(package) << package.message();
  // Computed right in the output.
  ASSERT_EQ(package->layers.size(), 1u);
  EXPECT_EQ(package->inputs[0].name, "input0");
  EXPECT_EQ(package->outputs[0].name, "output0");
  EXPECT_EQ(package->outputs[0].shape, (std::vector<int64_t>{1, 4}));
  EXPECT_THAT(run(*package, {{-1, 2, -3, 4}}),
              ElementsAre(ElementsAre(0, 2, 0, 4)));
}

TEST_F(PackageBuilderTest, WhatIsReturnedWithoutALaunchIsCopied) {
  auto package = build(
      "func.func @main(%x: tensor<4xf32>, %unused: tensor<1xf32>) -> "
      "(tensor<4xf32>, tensor<4xf32>, tensor<2x2xf32>, tensor<2xf32>, "
      "tensor<4xf32>) {\n"
      "%c = tarpon.constant {value = dense<[5., 6.]> : tensor<2xf32>} : "
      "tensor<2xf32>\n"
      "%0 = " +
      launch("relu_0", "%x", "relu(4xf32)->4xf32", kUnary) + "%1 = " +
      launch("neg_1", "%0", "relu(4xf32)->4xf32", kUnary, "offset = 64 : i64") +
      "%v = tarpon.reshape %0 : (tensor<4xf32>) -> tensor<2x2xf32>\n"
      "return %x, %0, %v, %c, %1 : tensor<4xf32>, tensor<4xf32>, "
      "tensor<2x2xf32>, tensor<2xf32>, tensor<4xf32> }");
  ASSERT_TRUE(package) << package.message();
  EXPECT_EQ(package->layers.size(), 5u);
  EXPECT_EQ(package->layers[2].name, "copy_to_output0");
  EXPECT_THAT(run(*package, {{-1, 2, -3, 4}, {0}}),
              ElementsAre(ElementsAre(-1, 2, -3, 4), ElementsAre(0, 2, 0, 4),
                          ElementsAre(0, 2, 0, 4), ElementsAre(5, 6),
                          ElementsAre(0, 2, 0, 4)));
}

TEST_F(PackageBuilderTest, ThreadsDoNotChangeThePackage) {
  std::string text =
      "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n"
      "%c = tarpon.constant {value = dense<[1., 2., 3., 4.]> : "
      "tensor<4xf32>} : tensor<4xf32>\n%0 = " +
      launch("a", "%x, %c", "add(4xf32, 4xf32:const)->4xf32", kBinary) +
      "%1 = " +
      launch("b", "%0, %c", "mul(4xf32, 4xf32:const)->4xf32", kBinary,
             "offset = 64 : i64") +
      "%2 = " +
      launch("c", "%1, %c", "sub(4xf32, 4xf32:const)->4xf32", kBinary) +
      "return %2 : tensor<4xf32> }";
  TargetInfo many = getTarget("native");
  many.threads = 4;
  KernelCompiler parallel = makeHostCompiler(many, nullptr);
  auto first = build(text), second = build(text, parallel);
  ASSERT_TRUE(first && second);
  EXPECT_EQ(first->kernels, second->kernels);
  EXPECT_EQ(first->constants, second->constants);
  EXPECT_EQ(run(*first, {{1, 2, 3, 4}}), run(*second, {{1, 2, 3, 4}}));
}

/// Constants lie in the order of the layers, whichever is made first.
TEST_F(PackageBuilderTest, ThreadsDoNotChangeTheOrderOfConstants) {
  constexpr int kLayers = 40;
  std::string text = "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n";
  std::string value = "%x";
  for (int i = 0; i < kLayers; ++i) {
    std::string number = std::to_string(i);
    text += "%c" + number + " = tarpon.constant {value = dense<[" + number +
            ".0, 1.0, 2.0, 3.0]> : tensor<4xf32>} : tensor<4xf32>\n%v" +
            number + " = " +
            launch("layer" + number, value + ", %c" + number,
                   "add(4xf32, 4xf32:const)->4xf32", kBinary,
                   "offset = " + std::to_string(64 * (i % 2)) + " : i64");
    value = "%v" + number;
  }
  text += "return " + value + " : tensor<4xf32> }";
  TargetInfo many = getTarget("native");
  many.threads = 4;
  KernelCompiler parallel = makeHostCompiler(many, nullptr);
  auto expected = build(text);
  ASSERT_TRUE(expected) << expected.message();
  constexpr auto kSum = kLayers * (kLayers - 1) / 2;
  std::vector<float> sums = {kSum, kLayers, 2 * kLayers, 3 * kLayers};
  EXPECT_THAT(run(*expected, {{0, 0, 0, 0}}), ElementsAre(sums));
  for (int repeat = 0; repeat < 20; ++repeat) {
    auto package = build(text, parallel);
    ASSERT_TRUE(package) << package.message();
    EXPECT_EQ(package->constants, expected->constants);
    EXPECT_THAT(run(*package, {{0, 0, 0, 0}}), ElementsAre(sums));
  }
}

/// The mean of each row goes to the caller; the normalised values are read, and
/// the deviations are not.
static std::string normalizeRows(const std::string &rest) {
  return "func.func @main(%x: tensor<2x2xf32>) -> (tensor<2x2xf32>, "
         "tensor<2x1xf32>) {\n%0:3 = " +
         launch("norm", "%x",
                "layer_norm(2x2xf32)->(2x2xf32, 2x1xf32, 2x1xf32) {axis=1 "
                "epsilon=0}",
                "(tensor<2x2xf32>) -> (tensor<2x2xf32>, tensor<2x1xf32>, "
                "tensor<2x1xf32>)",
                rest) +
         "%1 = " +
         launch("relu", "%0#0", "relu(2x2xf32)->2x2xf32",
                "(tensor<2x2xf32>) -> tensor<2x2xf32>", "offset = -1 : i64") +
         "return %1, %0#1 : tensor<2x2xf32>, tensor<2x1xf32> }";
}

TEST_F(PackageBuilderTest, SeveralResults) {
  auto package = build(
      normalizeRows("offset = 0 : i64, more_offsets = array<i64: -1, 128>"));
  ASSERT_TRUE(package) << package.message();
  EXPECT_GE(package->arenaBytes, 128 + 8 + runtime::kBufferTailPadding);
  EXPECT_THAT(run(*package, {{1, 3, 10, 6}}),
              ElementsAre(ElementsAre(0, 1, 1, 0), ElementsAre(2, 8)));
  EXPECT_EQ(buildError(normalizeRows("offset = 0 : i64")),
            "layer 'norm': its result 2 has no place in memory");
}

TEST_F(PackageBuilderTest, RefusesElementsThatNoKernelKnows) {
  EXPECT_EQ(buildError("func.func @main(%x: tensor<4xf6E2M3FN>) -> "
                       "tensor<4xf6E2M3FN> { return %x : tensor<4xf6E2M3FN> }"),
            "'input0' holds elements that no kernel knows");
}

TEST_F(PackageBuilderTest, ScalesFitTheTypes) {
  auto main = [](const std::string &scales) {
    const std::string type = "tensor<4x!quant.uniform<u8:f32, 0.5:128>>";
    return "func.func @main(%x: " + type + ") -> " + type + " {\n%0 = " +
           launch("l", "%x", "relu(4xu8q)->4xu8q", "(" + type + ") -> " + type,
                  "offset = -1 : i64", "reference-v1", scales) +
           "return %0 : " + type + " }";
  };
  auto package = build(main(", 0.5 : 128, 0.5 : 128"));
  EXPECT_TRUE(package) << package.message();
  for (const char *scales :
       {", 0.5 : 128, 0.25 : 128", ", 0.5 : 127, 0.5 : 128"})
    EXPECT_EQ(buildError(main(scales)),
              "layer 'l': the problem 'relu(4xu8q)->4xu8q' does not fit the "
              "types of its operands and results");
}

TEST_F(PackageBuilderTest, ErrorsNameTheLayer) {
  auto wrap = [](const std::string &op) {
    return "func.func @main(%x: tensor<4xf32>) -> tensor<4xf32> {\n%0 = " +
           launch("first", "%x", "relu(4xf32)->4xf32", kUnary) + "%1 = " + op +
           "%2 = " +
           launch("last", "%1", "relu(4xf32)->4xf32", kUnary,
                  "offset = 64 : i64") +
           "return %2 : tensor<4xf32> }";
  };
  EXPECT_EQ(buildError(wrap(launch("l", "%0", "relu(4xf32)->4xf32", kUnary,
                                   "offset = 0 : i64", "magic-v1"))),
            "layer 'l': there is no solver 'magic-v1'");
  EXPECT_EQ(
      buildError(wrap(launch("l", "%0", "relu(5xf32)->5xf32", kUnary))),
      "layer 'l': the problem 'relu(5xf32)->5xf32' does not fit the types "
      "of its operands and results");
  EXPECT_THAT(
      buildError(wrap(launch("l", "%0", "relu(4xf32:const)->4xf32", kUnary))),
      HasSubstr("does not fit the types"));
  EXPECT_THAT(buildError(wrap(launch("l", "%0",
                                     "layer_norm(4xf32)->(4xf32, 1xf32, 1xf32) "
                                     "{axis=0 epsilon=0}",
                                     kUnary))),
              HasSubstr("does not fit the types"));
  EXPECT_EQ(
      buildError(wrap(launch("l", "%0", "relu(4xf32)->4xf32", kUnary, ""))),
      "layer 'l': its result has no place in memory");
  EXPECT_EQ(buildError(wrap("tarpon.relu %0 : (tensor<4xf32>) -> "
                            "tensor<4xf32>\n")),
            "'tarpon.relu' has not been lowered to a launch");
  EXPECT_THAT(
      buildError(wrap(launch("l", "%0", "relu(4xf32)->4xf32", kUnary,
                             "offset = 0 : i64", "gemm-packed-v1"))),
      HasSubstr("layer 'l': solver 'gemm-packed-v1' does not take problem "
                "'relu(4xf32)->4xf32': "));
  std::string withConfig = launch("l", "%0", "relu(4xf32)->4xf32", kUnary);
  withConfig.replace(withConfig.find("\"\", \"default\""), 2, "\"tile=3\"");
  EXPECT_THAT(buildError(wrap(withConfig)),
              HasSubstr("does not take the config 'tile=3'"));
}

TEST_F(PackageBuilderTest, LayoutAtTheBorderIsAnError) {
  EXPECT_EQ(buildError("func.func @main(%x: tensor<1x4x2x2xf32, "
                       "#tarpon.layout<nhwc>>) { return }"),
            "'input0' has layout nhwc at the border of the model, expected "
            "nchw");
}

//===----------------------------------------------------------------------===//
// Single problems
//===----------------------------------------------------------------------===//

Problem parse(const std::string &key) {
  auto problem = parseProblem(key);
  EXPECT_TRUE(mlir::succeeded(problem)) << key;
  return mlir::succeeded(problem) ? *problem : Problem();
}

const std::string kConv =
    "conv(1x8x6x6xf32, 16x8x3x3xf32:const)->1x16x6x6xf32 {dilations=1,1 "
    "group=1 pads=1,1,1,1 strides=1,1}";

TEST_F(PackageBuilderTest, ProblemsAreSeeded) {
  const Solver &solver = getReferenceSolver();
  Problem problem = parse(kConv);
  auto first = buildProblemPackage(problem, solver, {}, compiler, 1);
  auto again = buildProblemPackage(problem, solver, {}, compiler, 1);
  auto other = buildProblemPackage(problem, solver, {}, compiler, 2);
  ASSERT_TRUE(first && again && other) << first.message();
  EXPECT_EQ(first->constants, again->constants);
  EXPECT_NE(first->constants, other->constants);
  ASSERT_EQ(first->inputs.size(), 1u);
  EXPECT_EQ(first->layers[0].problem, problem.key());

  // Results are of the order of 1.
  std::vector<float> input(8 * 6 * 6);
  for (size_t i = 0; i < input.size(); ++i)
    input[i] = i % 2 ? 1 : -1;
  double sum = 0;
  std::vector<float> output = run(*first, {input}).at(0);
  for (float value : output)
    sum += value * value;
  double deviation = std::sqrt(sum / static_cast<double>(output.size()));
  EXPECT_GT(deviation, 0.3);
  EXPECT_LT(deviation, 3);
}

TEST_F(PackageBuilderTest, QuantisedProblemsDoNotSaturate) {
  Problem problem = parse(
      "conv(1x8x6x6xu8q, 16x8x3x3xi8q:const)->1x16x6x6xu8q {dilations=1,1 "
      "group=1 pads=1,1,1,1 strides=1,1}");
  auto package =
      buildProblemPackage(problem, getReferenceSolver(), {}, compiler);
  ASSERT_TRUE(package) << package.message();
  EXPECT_TRUE(package->inputs[0].quantized);
  auto executor = runtime::Executor::create(*package, {.threads = 1});
  ASSERT_TRUE(executor) << executor.message();
  auto inputs = runtime::makeRandomInputs(*package, 3);
  auto outputs = runtime::makeOutputs(*package);
  ASSERT_TRUE(inputs && outputs);
  const void *in[] = {inputs->front().data.data()};
  void *out[] = {outputs->front().data.data()};
  EXPECT_TRUE((*executor)->run(in, out));
  const uint8_t *bytes = static_cast<const uint8_t *>(out[0]);
  int64_t saturated = 0, count = outputs->front().numElements();
  for (int64_t i = 0; i < count; ++i)
    saturated += bytes[i] == 0 || bytes[i] == 255;
  EXPECT_LT(saturated, count / 5);
}

std::string getPaddedConv(const std::string &dtype) {
  return "conv(1x64x28x28x" + dtype + ":nhwc, 64x64x3x3xi8q:const)->" +
         "1x64x28x28x" + dtype +
         ":nhwc {dilations=1,1 group=1 pads=1,1,1,1 strides=1,1} | relu";
}

TEST(StandardScales, ZeroPointsStayWhetherTheyAreZero) {
  for (std::string dtype : {"u8q", "i8q"})
    for (int64_t zeroPoint : {0, 57}) {
      Problem problem = parse(getPaddedConv(dtype));
      problem.operands[0].zeroPoint = problem.result.zeroPoint = zeroPoint;
      problem.operands[1].scales.assign(64, 0.5f);
      problem.operands[1].quantAxis = 0;
      Problem standard = withStandardScales(problem);
      EXPECT_EQ(standard.operands[0].zeroPoint != 0, zeroPoint != 0);
      EXPECT_EQ(standard.operands[1].zeroPoint, 0);
      EXPECT_EQ(standard.result.zeroPoint != 0, zeroPoint != 0);
      EXPECT_EQ(standard.key(), problem.key());
      // The same for all scales of one key.
      problem.operands[0].scales = {3};
      EXPECT_EQ(standard, withStandardScales(problem));
    }
}

/// Padding is copied as zeros only if zero is what it stands for, so that
/// configs depend on that. A measured package must take what was offered.
TEST(StandardScales, OfferedConfigsAreTaken) {
  for (const char *gpu : {"sm_90a", "gfx942"})
    for (std::string dtype : {"u8q", "i8q"})
      for (int64_t zeroPoint : {0, 57}) {
        std::shared_ptr<const Target> found = *findTarget(gpu);
        const TargetInfo &target = found->getInfo();
        Problem problem = parse(getPaddedConv(dtype));
        problem.operands[0].zeroPoint = zeroPoint;
        Problem standard = withStandardScales(problem);
        size_t count = 0;
        for (const Solver *solver : getApplicableSolvers(problem, target))
          for (const PerfConfig &config : solver->configs(problem, target)) {
            ++count;
            EXPECT_TRUE(solver->isValidConfig(standard, target, config))
                << gpu << " " << dtype << " " << zeroPoint << " "
                << solver->id().str() << " {" << config.str() << "}";
          }
        EXPECT_GT(count, 10u);
      }
}

TEST_F(PackageBuilderTest, ShapesOfProblemsAreThoseInMemory) {
  Problem problem = parse("relu(2x5x3x3xf32:nhwc)->2x5x3x3xf32:nchw4c");
  problem.operands[0].layout = {Layout::Blocked, 4};
  auto package =
      buildProblemPackage(problem, getReferenceSolver(), {}, compiler);
  ASSERT_TRUE(package) << package.message();
  EXPECT_EQ(package->inputs[0].shape, (std::vector<int64_t>{2, 2, 3, 3, 4}));
  EXPECT_EQ(package->outputs[0].shape, (std::vector<int64_t>{2, 2, 3, 3, 4}));
}

TEST_F(PackageBuilderTest, UnusableSolutionsAreErrors) {
  auto package = buildProblemPackage(parse(kConv), getReferenceSolver(),
                                     PerfConfig{{"tile", 1}}, compiler);
  ASSERT_FALSE(package);
  EXPECT_EQ(package.message(),
            "layer 'conv': solver 'reference-v1' does not take the config "
            "'tile=1' for problem '" +
                kConv + "'");
}

} // namespace
