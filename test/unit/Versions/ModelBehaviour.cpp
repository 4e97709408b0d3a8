//===- ModelBehaviour.cpp - Digests passes and calibration ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ModelBehaviour.h"

#include "BehaviourDigest.h"

#include "tarpon/Autotune/Choice/Calibration.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/TarponDialect.h"
#include "tarpon/Import/OnnxImport.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Passes/Pipelines.h"
#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/Pass/PassManager.h"

#include "gtest/gtest.h"

using namespace tarpon;
using namespace tarpon::test;
using mlir::func::FuncOp;
using runtime::Package;
using runtime::Result;

static constexpr const char *kModels[] = {
    "tiny_activations", "tiny_atrous", "tiny_decoder", "tiny_dynamic",
    "tiny_resnet",      "tiny_split",  "tiny_unet"};

static void runPasses(FuncOp function,
                      llvm::function_ref<void(mlir::OpPassManager &)> build) {
  mlir::PassManager passes(function.getContext(), FuncOp::getOperationName());
  build(passes);
  EXPECT_TRUE(mlir::succeeded(passes.run(function)));
}

/// Compiles with the reference solver for a CPU with only SSE2: the sums are
/// the same on any machine.
static Result<Package> compileReference(FuncOp function) {
  LoweringOptions options;
  options.target = TargetInfo();
  options.chooser =
      [](FusedOp op, const Problem &problem) -> mlir::FailureOr<SolutionAttr> {
    const Solver &solver = getReferenceSolver();
    return makeSolutionAttr(op.getContext(), solver,
                            solver.defaultConfig(problem, TargetInfo()),
                            "default");
  };
  runPasses(function, [&](mlir::OpPassManager &passes) {
    buildLoweringPipeline(passes, options);
  });
  KernelCompiler compiler(TargetInfo(), /*cache=*/nullptr,
                          makeHostBackend(TargetInfo()));
  return buildPackage(function, compiler);
}

static std::vector<TensorRange> calibrate(FuncOp function) {
  std::vector<runtime::TensorInfo> infos;
  for (mlir::Type type : function.getArgumentTypes()) {
    TensorDesc desc = getTensorDesc(mlir::cast<mlir::RankedTensorType>(type),
                                    /*constant=*/false);
    infos.emplace_back();
    infos.back().name = "input" + std::to_string(infos.size());
    infos.back().dtype = desc.dtype;
    infos.back().shape = desc.shape;
  }
  auto inputs = generateCalibration(infos);
  EXPECT_TRUE(inputs) << inputs.message();
  auto ranges =
      measureRanges(function, *inputs, compileReference, /*threads=*/1);
  EXPECT_TRUE(ranges) << ranges.message();
  return ranges ? *ranges : std::vector<TensorRange>();
}

namespace {

/// Collects the behaviour of the calibration and the passes for one model after
/// the other.
class ModelDigests {
public:
  ModelDigests() {
    context.loadDialect<TarponDialect, mlir::func::FuncDialect,
                        mlir::quant::QuantDialect>();
  }

  void add(const std::string &model);
  Digests finish() {
    return {{kPasses.str(), passes.finishHex()},
            {kCalibration.str(), calibration.finishHex()}};
  }

private:
  void addChoice(FuncOp simplified, runtime::Precision dtype, Layout layout,
                 Fusion fusion);

  mlir::MLIRContext context;
  runtime::Sha256 passes, calibration;
};

} // namespace

/// For int8, the digest of the calibration includes its ranges; that of the
/// passes uses fixed ranges.
void ModelDigests::addChoice(FuncOp simplified, runtime::Precision dtype,
                             Layout layout, Fusion fusion) {
  mlir::OwningOpRef<FuncOp> function = simplified.clone();
  if (dtype == runtime::Precision::I8) {
    runPasses(*function, [&](mlir::OpPassManager &manager) {
      manager.addPass(createFusePass(fusion));
    });
    std::vector<TensorRange> ranges = calibrate(*function);
    for (auto [index, range] : llvm::enumerate(ranges)) {
      calibration.update(range.name);
      calibration.update(std::string(reinterpret_cast<char *>(&range.lo), 4));
      calibration.update(std::string(reinterpret_cast<char *>(&range.hi), 4));
      for (const std::vector<float> *means :
           {&range.inputMeans, &range.storedMeans})
        calibration.update(
            std::string(reinterpret_cast<const char *>(means->data()),
                        means->size() * sizeof(float)));
      range.lo = index % 3 == 0 ? 0.0f : -static_cast<float>(index);
      range.hi = static_cast<float>(index + 1);
    }
    auto applied = applyRanges(*function, ranges);
    EXPECT_TRUE(applied) << applied.message();
  }
  TargetInfo avx512 = makeVersionCpu("znver5", 2);
  runPasses(*function, [&](mlir::OpPassManager &manager) {
    buildChoicePipeline(manager, {dtype, layout, fusion, avx512});
  });
  passes.update(digestBehaviour(*function));
}

void ModelDigests::add(const std::string &model) {
  auto module =
      importOnnx(context, std::string(TARPON_SOURCE_DIR "/models/tiny/") +
                              model + ".onnx");
  ASSERT_TRUE(module) << model;
  FuncOp function = *module->getOps<FuncOp>().begin();
  runPasses(function, buildSimplifyPipeline);
  for (runtime::Precision dtype : runtime::kPrecisions)
    for (Layout layout : kChoiceLayouts)
      addChoice(function, dtype, layout, Fusion::On);
  addChoice(function, runtime::Precision::F32, Layout{Layout::NHWC},
            Fusion::Off);
}

Digests tarpon::test::digestModels() {
  ModelDigests digests;
  for (const char *model : kModels)
    digests.add(model);
  return digests.finish();
}
