//===- Pipelines.cpp - Passes in the order they belong ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Passes/Pipelines.h"

#include "mlir/Pass/PassOptions.h"
#include "mlir/Pass/PassRegistry.h"

using namespace mlir;
using namespace tarpon;

/// The pass manager of functions in `pm`.
static OpPassManager &getFunctionPasses(OpPassManager &pm) {
  return pm.getOpAnchorName() == func::FuncOp::getOperationName()
             ? pm
             : pm.nest<func::FuncOp>();
}

void tarpon::buildSimplifyPipeline(OpPassManager &pm) {
  OpPassManager &passes = getFunctionPasses(pm);
  passes.addPass(createRaiseChannelShufflesPass());
  passes.addPass(createFoldConstantsPass());
  passes.addPass(createFoldBatchNormPass());
  // Drops the parameters of the batch norms.
  passes.addPass(createFoldConstantsPass());
  passes.addPass(createMoveActivationsPass());
}

void tarpon::buildChoicePipeline(OpPassManager &pm,
                                 const ChoiceOptions &options) {
  OpPassManager &passes = getFunctionPasses(pm);
  passes.addPass(createFusePass({options.fusion}));
  if (options.dtype == "int8")
    passes.addPass(createQuantizePass());
  else
    passes.addPass(createAssignDtypePass({options.dtype}));
  passes.addPass(createAssignLayoutPass({options.layout}));
  passes.addPass(createRemoveRedundantConvertsPass());
  // The converts that are left become launches of their own.
  passes.addPass(createFusePass({"off"}));
  if (options.fusion == "on") {
    passes.addPass(createEliminateConcatsPass(options.target));
    passes.addPass(createEliminateSlicesPass(options.target));
  }
}

void tarpon::buildLoweringPipeline(OpPassManager &pm,
                                   const LoweringOptions &options) {
  OpPassManager &passes = getFunctionPasses(pm);
  passes.addPass(createSelectSolutionsPass(options.target, options.chooser));
  passes.addPass(createLowerToLaunchesPass(options.target));
  passes.addPass(createPlanMemoryPass());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {

struct ChoicePipelineOptions : PassPipelineOptions<ChoicePipelineOptions> {
  Option<std::string> dtype{*this, "dtype",
                            llvm::cl::desc("fp32, fp16, bf16 or int8"),
                            llvm::cl::init("fp32")};
  Option<std::string> layout{*this, "layout",
                             llvm::cl::desc("nchw, nhwc or nchw16c"),
                             llvm::cl::init("nchw")};
  Option<std::string> fusion{*this, "fusion", llvm::cl::desc("on or off"),
                             llvm::cl::init("on")};
};

struct LoweringPipelineOptions : PassPipelineOptions<LoweringPipelineOptions> {
  Option<int64_t> vectorBits{*this, "vector-bits",
                             llvm::cl::desc("Vector width of the target"),
                             llvm::cl::init(128)};
  Option<int64_t> threads{*this, "threads", llvm::cl::desc("Threads to run on"),
                          llvm::cl::init(1)};
};

} // namespace

void tarpon::registerTarponPipelines() {
  PassPipelineRegistration<>("tarpon-simplify",
                             "Fold constants and batch norms",
                             buildSimplifyPipeline);
  PassPipelineRegistration<ChoicePipelineOptions>(
      "tarpon-choose", "Apply one choice of dtype, layout and fusion",
      [](OpPassManager &pm, const ChoicePipelineOptions &options) {
        buildChoicePipeline(
            pm, {options.dtype, options.layout, options.fusion, TargetInfo()});
      });
  PassPipelineRegistration<LoweringPipelineOptions>(
      "tarpon-lower", "Attach solutions, make launches and plan memory",
      [](OpPassManager &pm, const LoweringPipelineOptions &options) {
        LoweringOptions lowering;
        lowering.target.vectorBits = options.vectorBits;
        lowering.target.threads = options.threads;
        buildLoweringPipeline(pm, lowering);
      });
}
