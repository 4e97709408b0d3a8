//===- MixedModelTest.cpp - Models whose regions have choices -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Whatever its regions are marked with, a model is compiled, and gives about
// the same as in fp32.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/TarponDialect.h"
#include "tarpon/Import/OnnxImport.h"
#include "tarpon/Passes/Pipelines.h"
#include "tarpon/Passes/RegionChoice.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Targets/Compiler/KernelCache.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"

#include "gtest/gtest.h"

#include <cmath>
#include <memory>
#include <random>
#include <set>

using namespace tarpon;
using mlir::func::FuncOp;
using runtime::HostTensor;
using runtime::Package;
using runtime::Precision;

namespace {

/// A model of the repository, fused.
class FusedModel : public testing::TestWithParam<const char *> {
protected:
  FusedModel() {
    context.loadDialect<TarponDialect, mlir::func::FuncDialect,
                        mlir::quant::QuantDialect>();
  }

  void SetUp() override;

  static void runPasses(FuncOp function,
                        llvm::function_ref<void(mlir::OpPassManager &)> build);
  std::vector<RegionChoice> drawChoices(bool all);
  /// A copy of the model, to which the choices were applied.
  mlir::OwningOpRef<FuncOp> apply(llvm::ArrayRef<RegionChoice> choices,
                                  Precision unmarked = Precision::F32);

  mlir::MLIRContext context;
  mlir::OwningOpRef<mlir::ModuleOp> module;
  FuncOp fused;
  TargetInfo target;
  std::mt19937 random{1};
};

/// One with arbitrary ranges, which is not run.
class MarkedModel : public FusedModel {
protected:
  void SetUp() override;
};

/// One with measured ranges.
class MixedModel : public FusedModel {
protected:
  void SetUp() override;
  void TearDown() override {
    EXPECT_FALSE(llvm::sys::fs::remove_directories(directory));
  }

  Package compile(FuncOp function);
  std::vector<HostTensor> run(FuncOp function);
  void calibrate();

  CalibrationInputs inputs;
  /// Most kernels are the same in several rounds.
  llvm::SmallString<64> directory;
  std::shared_ptr<KernelCache> cache;
};

} // namespace

void FusedModel::runPasses(
    FuncOp function, llvm::function_ref<void(mlir::OpPassManager &)> build) {
  mlir::PassManager passes(function.getContext(), FuncOp::getOperationName());
  build(passes);
  ASSERT_TRUE(mlir::succeeded(passes.run(function)));
}

void FusedModel::SetUp() {
  auto host = getHostTarget(/*threads=*/1);
  ASSERT_TRUE(host) << host.message();
  target = *host;
  module = importOnnx(context, std::string(TARPON_SOURCE_DIR "/models/tiny/") +
                                   GetParam() + ".onnx");
  ASSERT_TRUE(module);
  fused = *module->getOps<FuncOp>().begin();
  runPasses(fused, [](mlir::OpPassManager &passes) {
    buildSimplifyPipeline(passes);
    passes.addPass(createFusePass(Fusion::On));
  });
}

std::vector<RegionChoice> FusedModel::drawChoices(bool all) {
  auto draw = [&](size_t below) { return random() % below; };
  std::vector<RegionChoice> choices(getChosenRegions(fused).size());
  for (RegionChoice &choice : choices)
    if (all || draw(4) == 0)
      choice = {runtime::kPrecisions[draw(runtime::kPrecisions.size())],
                Layout{draw(2) == 0 ? Layout::NCHW : Layout::NHWC}};
  return choices;
}

/// Expects that of the attributes only the index is left, once per region.
static void expectMarksAreGone(FuncOp function) {
  std::set<int64_t> regions;
  function.walk([&](FusedOp op) {
    EXPECT_FALSE(op->hasAttr(kPrecisionAttrName));
    EXPECT_FALSE(op->hasAttr(kLayoutAttrName));
    if (auto region = op->getAttrOfType<mlir::IntegerAttr>(kRegionAttrName))
      EXPECT_TRUE(regions.insert(region.getInt()).second) << region.getInt();
  });
  EXPECT_FALSE(regions.empty());
}

mlir::OwningOpRef<FuncOp>
FusedModel::apply(llvm::ArrayRef<RegionChoice> choices, Precision unmarked) {
  mlir::OwningOpRef<FuncOp> function = fused.clone();
  EXPECT_TRUE(mlir::succeeded(setRegionChoices(*function, choices)));
  runPasses(*function, [&](mlir::OpPassManager &passes) {
    ChoiceOptions options;
    options.dtype = unmarked;
    options.target = target;
    options.perRegion = true;
    buildChoicePipeline(passes, options);
  });
  expectMarksAreGone(*function);
  return function;
}

//===----------------------------------------------------------------------===//
// Passes alone
//===----------------------------------------------------------------------===//

void MarkedModel::SetUp() {
  FusedModel::SetUp();
  mlir::Builder builder(&context);
  mlir::Attribute range = builder.getDenseF32ArrayAttr({-2.0f, 3.0f});
  for (unsigned i = 0; i < fused.getNumArguments(); ++i)
    fused.setArgAttr(i, kRangeAttrName, range);
  fused.walk([&](FusedOp op) { op->setAttr(kRangeAttrName, range); });
}

TEST_P(MarkedModel, CanBeLoweredForAnyChoices) {
  for (int round = 0; round < 20; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    auto function = apply(drawChoices(/*all=*/round % 2 == 0));
    runPasses(*function, [&](mlir::OpPassManager &passes) {
      LoweringOptions options;
      options.target = target;
      buildLoweringPipeline(passes, options);
    });
  }
}

/// The problems of all launches, and their keys, which can be read.
static std::pair<std::vector<std::string>, std::vector<Problem>>
getProblems(FuncOp function) {
  std::pair<std::vector<std::string>, std::vector<Problem>> problems;
  function.walk([&](FusedOp op) {
    problems.second.push_back(getProblem(op));
    problems.first.push_back(problems.second.back().key());
  });
  return problems;
}

TEST_P(MarkedModel, OneChoiceForAllRegionsIsAGlobalChoice) {
  for (Precision dtype : runtime::kPrecisions) {
    SCOPED_TRACE(std::string(runtime::getPrecisionName(dtype)));
    std::vector<RegionChoice> choices(getChosenRegions(fused).size(),
                                      RegionChoice{dtype, Layout()});
    auto marked = apply(choices, dtype);
    mlir::OwningOpRef<FuncOp> global = fused.clone();
    runPasses(*global, [&](mlir::OpPassManager &passes) {
      buildChoicePipeline(passes, {dtype, Layout(), Fusion::On, target});
    });
    auto [keys, problems] = getProblems(*marked);
    auto [globalKeys, globalProblems] = getProblems(*global);
    EXPECT_EQ(keys, globalKeys);
    EXPECT_TRUE(problems == globalProblems) << "scales differ";
  }
}

INSTANTIATE_TEST_SUITE_P(TinyModels, MarkedModel,
                         testing::Values("tiny_activations", "tiny_atrous",
                                         "tiny_attention", "tiny_inception",
                                         "tiny_mobilenet", "tiny_operators",
                                         "tiny_qdq", "tiny_resnet",
                                         "tiny_split", "tiny_unet"));

//===----------------------------------------------------------------------===//
// Results
//===----------------------------------------------------------------------===//

void MixedModel::SetUp() {
  FusedModel::SetUp();
  ASSERT_FALSE(llvm::sys::fs::createUniqueDirectory("tarpon-mixed", directory));
  cache = std::make_shared<KernelCache>(directory.str().str());
  calibrate();
}

Package MixedModel::compile(FuncOp function) {
  runPasses(function, [&](mlir::OpPassManager &passes) {
    LoweringOptions options;
    options.target = target;
    buildLoweringPipeline(passes, options);
  });
  KernelCompiler compiler = makeHostCompiler(target, cache);
  auto package = buildPackage(function, compiler);
  EXPECT_TRUE(package) << package.message();
  return package ? std::move(*package) : Package();
}

void MixedModel::calibrate() {
  std::vector<runtime::TensorInfo> infos;
  for (mlir::Type type : fused.getArgumentTypes()) {
    TensorDesc desc = getTensorDesc(mlir::cast<mlir::RankedTensorType>(type),
                                    /*constant=*/false);
    runtime::TensorInfo info;
    info.name = "input" + std::to_string(infos.size());
    info.dtype = desc.dtype;
    info.shape = desc.shape;
    infos.push_back(info);
  }
  auto generated = generateCalibration(infos);
  ASSERT_TRUE(generated) << generated.message();
  inputs = std::move(*generated);
  auto ranges = measureRanges(
      fused, inputs,
      [&](FuncOp exposed) -> runtime::Result<Package> {
        return compile(exposed);
      },
      /*threads=*/1);
  ASSERT_TRUE(ranges) << ranges.message();
  auto applied = applyRanges(fused, *ranges);
  ASSERT_TRUE(applied) << applied.message();
}

std::vector<HostTensor> MixedModel::run(FuncOp function) {
  runtime::ExecutorOptions options;
  options.threads = 1;
  options.paddedBuffers = true;
  auto executor = runtime::Executor::create(compile(function), options);
  EXPECT_TRUE(executor) << executor.message();
  auto copies = runtime::cloneAll(inputs.samples.front());
  EXPECT_TRUE(copies) << copies.message();
  auto instance =
      runtime::Instance::create(std::move(*executor), std::move(*copies));
  EXPECT_TRUE(instance) << instance.message();
  EXPECT_TRUE(instance->run());
  auto outputs = runtime::cloneAll(instance->outputs());
  EXPECT_TRUE(outputs) << outputs.message();
  return std::move(*outputs);
}

/// The relative L2 distance.
static double getDistance(const HostTensor &a, const HostTensor &b) {
  double difference = 0, norm = 0;
  int64_t size = runtime::dtypeBytes(a.dtype);
  for (int64_t i = 0; i < a.data.size(); i += size) {
    double x = runtime::loadAsFloat(a.dtype, a.data.data() + i);
    double y = runtime::loadAsFloat(b.dtype, b.data.data() + i);
    difference += (x - y) * (x - y);
    norm += y * y;
  }
  return std::sqrt(difference / norm);
}

TEST_P(MixedModel, AgreesWithFp32) {
  std::vector<RegionChoice> plain(getChosenRegions(fused).size());
  std::vector<HostTensor> expected = run(*apply(plain));
  for (int round = 0; round < 6; ++round) {
    SCOPED_TRACE("round " + std::to_string(round));
    // Some rounds change a few regions, the others all of them.
    std::vector<HostTensor> actual =
        run(*apply(drawChoices(/*all=*/round % 2 == 0)));
    ASSERT_EQ(actual.size(), expected.size());
    for (auto [a, b] : llvm::zip_equal(actual, expected))
      EXPECT_LT(getDistance(a, b), 0.1);
  }
}

INSTANTIATE_TEST_SUITE_P(TinyModels, MixedModel,
                         testing::Values("tiny_resnet", "tiny_inception",
                                         "tiny_split"));
