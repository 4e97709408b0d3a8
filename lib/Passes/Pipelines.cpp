//===- Pipelines.cpp - Pipelines of passes ----------------------*- C++ -*-===//
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
using runtime::Precision;

namespace {

/// The options with which passes name their target.
struct NamedTarget {
  std::string name;
  int64_t threads = 0;
};

} // namespace

/// The pass manager of functions in `pm`.
static OpPassManager &getFunctionPasses(OpPassManager &pm) {
  return pm.getOpAnchorName() == func::FuncOp::getOperationName()
             ? pm
             : pm.nest<func::FuncOp>();
}

void tarpon::buildSimplifyPipeline(OpPassManager &pm) {
  OpPassManager &passes = getFunctionPasses(pm);
  passes.addPass(createRaiseChannelShufflesPass());
  // Folding turns the integers of weights into floats.
  passes.addPass(createRaiseQuantizedProductsPass());
  passes.addPass(createFoldConstantsPass());
  passes.addPass(createRaiseActivationsPass());
  passes.addPass(createFoldBatchNormPass());
  passes.addPass(createCropFiltersPass());
  passes.addPass(createMoveConvolutionsPass());
  passes.addPass(createMergeProductsPass());
  // This drops the parameters of the batch norms and the filters.
  passes.addPass(createFoldConstantsPass());
  passes.addPass(createMoveActivationsPass());
  passes.addPass(createSimplifyTransposesPass());
}

/// Adds the passes in front of the choice of dtypes. `named` holds their
/// options for the target.
static void addFusionPasses(OpPassManager &passes, const ChoiceOptions &options,
                            const NamedTarget &named) {
  // In int8 the products are quantised, and the softmax is not.
  if (options.fusion != Fusion::Off && options.dtype != Precision::I8)
    passes.addPass(
        options.target
            ? createRaiseAttentionPass(*options.target, options.dtype)
            : createRaiseAttentionPass(
                  {named.name, named.threads,
                   std::string(runtime::getPrecisionName(options.dtype))}));
  if (options.fusion != Fusion::Off && options.dtype == Precision::F32)
    passes.addPass(createSumInFloatsPass());
  passes.addPass(options.fusion == Fusion::Off ? createScaleOperandsPass()
                                               : createRoundInEpiloguesPass());
  passes.addPass(createFusePass(options.fusion));
}

static void addDtypePasses(OpPassManager &passes,
                           const ChoiceOptions &options) {
  std::string dtype(runtime::getPrecisionName(options.dtype));
  bool isInt8 = options.dtype == Precision::I8;
  if (isInt8 || options.perRegion)
    passes.addPass(createQuantizePass({dtype}));
  if (!isInt8)
    passes.addPass(createAssignDtypePass({dtype}));
  else if (options.perRegion)
    passes.addPass(createAssignDtypePass());
}

/// Adds the passes of the choice. `layout` is the name of its layout, which the
/// pass refuses if it is none; `named` holds their options for the target.
static void addChoicePasses(OpPassManager &pm, const ChoiceOptions &options,
                            const std::string &layout,
                            const NamedTarget &named) {
  OpPassManager &passes = getFunctionPasses(pm);
  if (options.perRegion)
    passes.addPass(createSplitRegionsPass());
  else
    addFusionPasses(passes, options, named);
  addDtypePasses(passes, options);
  passes.addPass(createSplitTransposesPass({layout}));
  passes.addPass(createAssignLayoutPass({layout}));
  passes.addPass(createRemoveRedundantConvertsPass());
  // The remaining converts become launches of their own.
  passes.addPass(createFusePass(Fusion::Off));
  if (options.fusion != Fusion::Off) {
    passes.addPass(options.target ? createEliminateConcatsPass(*options.target)
                                  : createEliminateConcatsPass(
                                        {named.name, named.threads}));
    passes.addPass(options.target ? createEliminateSlicesPass(*options.target)
                                  : createEliminateSlicesPass(
                                        {named.name, named.threads}));
  }
  // A region's own choice is that of one launch.
  if (options.fusion == Fusion::Producers && !options.perRegion)
    passes.addPass(options.target
                       ? createFuseProducersPass(*options.target)
                       : createFuseProducersPass({named.name, named.threads}));
}

void tarpon::buildChoicePipeline(OpPassManager &pm,
                                 const ChoiceOptions &options) {
  addChoicePasses(pm, options, options.layout.name(), NamedTarget());
}

static void addLoweringPasses(OpPassManager &pm, const LoweringOptions &options,
                              const NamedTarget &named) {
  OpPassManager &passes = getFunctionPasses(pm);
  passes.addPass(
      options.target
          ? createSelectSolutionsPass(*options.target, options.chooser)
          : createSelectSolutionsPass(
                {/*solver=*/"", named.name, named.threads}));
  passes.addPass(options.target
                     ? createLowerToLaunchesPass(*options.target)
                     : createLowerToLaunchesPass({named.name, named.threads}));
  passes.addPass(createPlanMemoryPass());
}

void tarpon::buildLoweringPipeline(OpPassManager &pm,
                                   const LoweringOptions &options) {
  assert((options.target || !options.chooser) && "a chooser needs a target");
  addLoweringPasses(pm, options, NamedTarget());
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

static constexpr const char *kTargetHelp =
    "The target, which overrides the module's";

namespace {

/// The values of an option that is a precision.
struct PrecisionValues {
  template <typename PrecisionOption>
  void apply(PrecisionOption &option) const {
    for (Precision precision : runtime::kPrecisions)
      option.getParser().addLiteralOption(runtime::getPrecisionName(precision),
                                          precision, "");
  }
};

/// The values of an option that is a fusion setting.
struct FusionValues {
  template <typename FusionOption>
  void apply(FusionOption &option) const {
    for (Fusion fusion : kFusions)
      option.getParser().addLiteralOption(getFusionName(fusion), fusion, "");
  }
};

struct ChoicePipelineOptions : PassPipelineOptions<ChoicePipelineOptions> {
  Option<Precision> dtype{*this, "dtype",
                          llvm::cl::desc("In what the model computes"),
                          llvm::cl::init(Precision::F32), PrecisionValues()};
  Option<std::string> layout{*this, "layout",
                             llvm::cl::desc("nchw, nhwc or nchw16c"),
                             llvm::cl::init("nchw")};
  Option<Fusion> fusion{*this, "fusion", llvm::cl::desc("on, producers or off"),
                        llvm::cl::init(Fusion::On), FusionValues()};
  Option<std::string> target{*this, "target", llvm::cl::desc(kTargetHelp)};
  Option<int64_t> threads{*this, "threads", llvm::cl::desc("Threads to run on"),
                          llvm::cl::init(0)};
  Option<bool> perRegion{
      *this, "per-region",
      llvm::cl::desc("Regions are there, and marked with their choices"),
      llvm::cl::init(false)};
};

struct LoweringPipelineOptions : PassPipelineOptions<LoweringPipelineOptions> {
  Option<std::string> target{*this, "target", llvm::cl::desc(kTargetHelp)};
  Option<int64_t> threads{*this, "threads", llvm::cl::desc("Threads to run on"),
                          llvm::cl::init(0)};
};

} // namespace

void tarpon::registerTarponPipelines() {
  PassPipelineRegistration<>("tarpon-simplify",
                             "Raise activations, fold batch norms",
                             buildSimplifyPipeline);
  PassPipelineRegistration<ChoicePipelineOptions>(
      "tarpon-choose", "Apply choices of dtype, layout and fusion",
      [](OpPassManager &pm, const ChoicePipelineOptions &options) {
        addChoicePasses(pm,
                        {options.dtype, Layout(), options.fusion,
                         /*target=*/{}, options.perRegion},
                        options.layout, {options.target, options.threads});
      });
  PassPipelineRegistration<LoweringPipelineOptions>(
      "tarpon-lower", "Attach solutions, make launches and plan memory",
      [](OpPassManager &pm, const LoweringPipelineOptions &options) {
        addLoweringPasses(pm, {}, {options.target, options.threads});
      });
}
