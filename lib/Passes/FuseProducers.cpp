//===- FuseProducers.cpp - Fuses regions with their readers -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassTarget.h"
#include "Regions.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Problem/Producer.h"
#include "tarpon/Solver/Solver.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

namespace tarpon {
#define GEN_PASS_DEF_FUSEPRODUCERSPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

/// Returns true if the region's root may read the value of a producer, as it is
/// stored, and nothing else in the region reads it.
static bool readsFirst(FusedOp op) {
  Operation *root = op.getRoot();
  std::optional<OpKind> kind = parseOp(root->getName().stripDialect());
  if (!kind || !mayConsume(*kind))
    return false;
  BlockArgument argument = op.getBody().getArgument(0);
  return root->getOperand(0) == argument && argument.hasOneUse();
}

/// The region that computes what the consumer's root reads, or null. Between
/// the two, values are stored like the producer's first operand (Producer.h).
static FusedOp findProducer(FusedOp consumer) {
  if (consumer.getInputs().empty() || !readsFirst(consumer))
    return nullptr;
  Value value = consumer.getInputs().front();
  auto producer = value.getDefiningOp<FusedOp>();
  if (!producer || !value.hasOneUse() || producer->getNumResults() != 1 ||
      producer.getInputs().empty() || isConvertRegion(producer))
    return nullptr;
  RankedTensorType stored = getTensorType(value);
  RankedTensorType read = getTensorType(producer.getInputs().front());
  bool isAlike = stored.getElementType() == read.getElementType() &&
                 stored.getEncoding() == read.getEncoding();
  return isAlike && !hasProducer(getProblem(producer)) ? producer : nullptr;
}

/// The least share of the peak of a solver that was made for two operations.
/// Those that take any problem stay far below.
static constexpr double kLeastFraction = 0.05;

/// The number of launches of the first-ranking solver, or none if it is
/// expected to reach less than that share of the peak.
static std::optional<size_t> countLaunches(const Problem &problem,
                                           const TargetInfo &target,
                                           double least = 0) {
  std::vector<const Solver *> solvers = getApplicableSolvers(problem, target);
  if (solvers.empty())
    return std::nullopt;
  const Solver &solver = *solvers.front();
  if (solver.expectedFraction(problem, target) < least)
    return std::nullopt;
  return solver.plan(problem, target, solver.defaultConfig(problem, target))
      .launches.size();
}

/// Returns true if one region of both takes fewer launches.
static bool savesLaunches(const Problem &producer, const Problem &consumer,
                          const TargetInfo &target) {
  Problem both = joinProblems(producer, consumer);
  if (!findFault(both).empty())
    return false;
  std::optional<size_t> together = countLaunches(both, target, kLeastFraction);
  if (!together)
    return false;
  std::optional<size_t> first = countLaunches(producer, target);
  std::optional<size_t> second = countLaunches(consumer, target);
  return first && second && *together < *first + *second;
}

/// Clones the ops of a region's body; `mapping` has its arguments.
static void cloneBody(OpBuilder &builder, FusedOp op, IRMapping &mapping) {
  for (Operation &each : op.getBody().front().without_terminator())
    builder.clone(each, mapping);
}

/// Replaces the consumer by a region of both, whose operands are those of the
/// producer and then those of the consumer.
static void fuse(FusedOp producer, FusedOp consumer) {
  OpBuilder builder(consumer);
  SmallVector<Value> inputs(producer.getInputs());
  llvm::append_range(inputs, consumer.getInputs().drop_front());
  auto fused = FusedOp::create(builder, consumer.getLoc(),
                               consumer.getResultTypes(), inputs);
  fused->setDiscardableAttrs(consumer->getDiscardableAttrDictionary());
  Block &body = fused.getBody().emplaceBlock();
  for (Value input : inputs)
    body.addArgument(input.getType(), consumer.getLoc());
  builder.setInsertionPointToEnd(&body);
  IRMapping mapping;
  auto argument = body.getArguments().begin();
  for (BlockArgument each : producer.getBody().getArguments())
    mapping.map(each, *argument++);
  cloneBody(builder, producer, mapping);
  auto stored =
      cast<YieldOp>(producer.getBody().front().getTerminator()).getValue();
  mapping.map(consumer.getBody().getArgument(0), mapping.lookup(stored));
  for (BlockArgument each : consumer.getBody().getArguments().drop_front())
    mapping.map(each, *argument++);
  for (Operation &op : consumer.getBody().front())
    builder.clone(op, mapping);
  consumer->replaceAllUsesWith(fused->getResults());
  consumer.erase();
  producer.erase();
}

namespace {

struct FuseProducersPass
    : tarpon::impl::FuseProducersPassBase<FuseProducersPass> {
  using FuseProducersPassBase::FuseProducersPassBase;

  explicit FuseProducersPass(const TargetInfo &target) : given(target) {}

  void runOnOperation() override {
    if (getOperation().isExternal())
      return;
    FailureOr<TargetInfo> target =
        getPassTarget(getOperation(), given, targetName, threads);
    if (failed(target))
      return signalPassFailure();
    for (FusedOp consumer :
         llvm::to_vector(getOperation().getBody().front().getOps<FusedOp>())) {
      FusedOp producer = findProducer(consumer);
      if (!producer ||
          !savesLaunches(getProblem(producer), getProblem(consumer), *target))
        continue;
      fuse(producer, consumer);
      ++numFused;
    }
  }

private:
  std::optional<TargetInfo> given;
};

} // namespace

std::unique_ptr<Pass>
tarpon::createFuseProducersPass(const TargetInfo &target) {
  return std::make_unique<FuseProducersPass>(target);
}
