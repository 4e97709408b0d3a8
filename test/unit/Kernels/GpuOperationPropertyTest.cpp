//===- GpuOperationPropertyTest.cpp - Every operation on every GPU --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Every operation of Ops.def agrees with the host's reference on the emulated
// device, by the solver that is expected to be the fastest and by gpu-naive-v1,
// on integers too if models apply it to them; or no solver of a GPU takes it,
// for a reason that stands here.
//
// TARPON_TEST_GPU_PROBLEMS: how many of each operation (6; 60 for a long run);
// GpuPropertyTest.h has the rest.
//
//===----------------------------------------------------------------------===//

#include "GpuPropertyTest.h"

#include "tarpon/Problem/ComputeKind.h"
#include "tarpon/Problem/OpRules.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"

#include <iostream>
#include <map>
#include <utility>

using namespace tarpon;
using namespace tarpon::test;

namespace {

/// An operation that no solver of a GPU takes, and why gpu-naive-v1 refuses it.
struct Refusal {
  OpKind op;
  const char *reason;
};

constexpr Refusal kRefusals[] = {
    // The state of the elements of a batch, which a step reads and writes.
    {OpKind::Gru, "needs scratch memory for a task"},
    {OpKind::Lstm, "needs scratch memory for a task"},
    {OpKind::Rnn, "needs scratch memory for a task"},
};

enum class Elements : uint8_t { Floats, Integers, Bools };

/// The operations that models apply to integers, beside elementwise ones, and
/// to bools.
constexpr OpKind kOfIntegers[] = {
    OpKind::Concat,    OpKind::Convert,   OpKind::Gather,    OpKind::Pad,
    OpKind::ReduceMax, OpKind::ReduceMin, OpKind::ReduceSum, OpKind::Reshape,
    OpKind::Scatter,   OpKind::TopK,      OpKind::Transpose, OpKind::Where};
constexpr OpKind kOfBools[] = {
    OpKind::BitAnd,  OpKind::BitOr,     OpKind::BitXor, OpKind::Concat,
    OpKind::Convert, OpKind::Equal,     OpKind::Gather, OpKind::Pad,
    OpKind::Reshape, OpKind::Transpose, OpKind::Where};

bool takes(OpKind op, Elements elements) {
  const OpRule &rule = getOpRule(op);
  switch (elements) {
  case Elements::Floats:
    return !rule.needsIntegers;
  case Elements::Integers:
    return rule.needsIntegers ||
           (rule.elementwise != Elementwise::No && !rule.needsFloats) ||
           llvm::is_contained(kOfIntegers, op);
  case Elements::Bools:
    return llvm::is_contained(kOfBools, op);
  }
  llvm_unreachable("unknown elements");
}

/// Quantised elements are floats.
Elements getElements(const Problem &problem) {
  // The first operand of a where is its condition.
  const TensorDesc &data = problem.operands[problem.op == OpKind::Where];
  if (isFloat(computeKindOf(data)))
    return Elements::Floats;
  return data.dtype == DType::Bool ? Elements::Bools : Elements::Integers;
}

/// "relu", "relu of integers".
std::string describe(OpKind op, Elements elements) {
  static constexpr const char *kNames[] = {"", " of integers", " of bools"};
  return getOpName(op).str() + kNames[static_cast<size_t>(elements)];
}

/// Makes some integers negative, and some too large for half as many bits. The
/// doubles that are compared hold all bits of what is computed from them.
double widen(DType dtype, double element) {
  auto number = static_cast<int64_t>(element);
  if (number % 3 == 0 && runtime::isSignedInteger(dtype))
    element = -element;
  if (number % 3 == 1 && runtime::dtypeBytes(dtype) >= 4)
    element *= runtime::dtypeBytes(dtype) == 4 ? 0x1000003 : 0x100000003;
  return element;
}

class GpuOperationProperty : public GpuPropertyTest {
protected:
  GpuOperationProperty() : GpuPropertyTest(/*shortRun=*/6) {}

  void SetUp() override;
  /// Tests a problem if there were too few of its kind so far.
  void offer(size_t area, uint64_t seed);
  /// Why gpu-naive-v1 does not take a problem; "" if it does.
  std::string getNaiveRefusal(const Problem &problem) const;
  void checkRefusal(const Problem &problem, const Refusal &refusal);
  void checkAgreement(GpuCase drawn);
  bool isComplete() const;
  void report() const;

  /// The number of tested problems of everything that has to be tested.
  std::map<std::pair<OpKind, Elements>, uint64_t> counts;
};

void GpuOperationProperty::SetUp() {
  ASSERT_NO_FATAL_FAILURE(GpuPropertyTest::SetUp());
  for (OpKind op : kOpKinds)
    for (Elements elements :
         {Elements::Floats, Elements::Integers, Elements::Bools})
      if (takes(op, elements))
        counts[{op, elements}] = 0;
}

std::string
GpuOperationProperty::getNaiveRefusal(const Problem &problem) const {
  return checkApplicable(*findSolver("gpu-naive-v1"), problem, gpu->getTarget())
      .getReason()
      .str();
}

void GpuOperationProperty::checkRefusal(const Problem &problem,
                                        const Refusal &refusal) {
  EXPECT_TRUE(getApplicableSolvers(problem, gpu->getTarget()).empty());
  EXPECT_EQ(getNaiveRefusal(problem), refusal.reason);
}

void GpuOperationProperty::checkAgreement(GpuCase drawn) {
  drawn.solvers = getApplicableSolvers(drawn.problem, gpu->getTarget());
  ASSERT_FALSE(drawn.solvers.empty()) << getNaiveRefusal(drawn.problem);
  // The best one and the last one, which takes what no better one does.
  if (drawn.solvers.size() > 2)
    drawn.solvers.erase(drawn.solvers.begin() + 1, drawn.solvers.end() - 1);
  bool widens = getOpRule(drawn.problem.op).elementwise != Elementwise::No &&
                getElements(drawn.problem) == Elements::Integers;
  SolverRunner::OperandChange change =
      [dtype = drawn.problem.operands[0].dtype](size_t index, double element) {
        return index == 0 ? widen(dtype, element) : element;
      };
  for (SolverRunner *runner : {host.get(), gpu.get()})
    runner->setOperandChange(widens ? change : nullptr);
  check(drawn);
}

void GpuOperationProperty::offer(size_t area, uint64_t seed) {
  constexpr double kMaxFlops = 1e5, kMaxBytes = 1e5;
  GpuCase drawn;
  drawn.problem = makeGpuProblem(area, seed);
  drawn.area = area;
  drawn.seed = seed;
  auto entry = counts.find({drawn.problem.op, getElements(drawn.problem)});
  if (entry == counts.end() || entry->second >= wanted ||
      drawn.problem.flops() > kMaxFlops || drawn.problem.bytes() > kMaxBytes)
    return;
  SCOPED_TRACE(drawn.describe());
  if (const Refusal *refusal = findRow(kRefusals, drawn.problem.op))
    checkRefusal(drawn.problem, *refusal);
  else
    checkAgreement(drawn);
  ++entry->second;
}

bool GpuOperationProperty::isComplete() const {
  return llvm::all_of(
      counts, [&](const auto &entry) { return entry.second >= wanted; });
}

void GpuOperationProperty::report() const {
  uint64_t total = 0;
  for (const auto &[kind, count] : counts) {
    EXPECT_GE(count, wanted) << describe(kind.first, kind.second);
    total += count;
  }
  std::cout << GetParam() << " operations: " << total << " problems of "
            << kNumOpKinds << " operations\n";
}

TEST_P(GpuOperationProperty, agreesWithReference) {
  const uint64_t lastSeed = firstSeed + 10000 * wanted;
  for (uint64_t seed = firstSeed; seed < lastSeed && !isComplete(); ++seed)
    for (size_t area = 0; area < getNumGpuAreas(); ++area)
      offer(area, seed);
  report();
}

/// Arguments of kernels have 32 bits, which hold neither these bounds nor these
/// paddings.
TEST_P(GpuOperationProperty, takesWideParameters) {
  static const char *const kKeys[] = {
      "clip(70xu32)->70xu32 {high=4294967295 low=5}",
      "clip(70xi64)->70xi64 {high=3000000000 low=-3000000000}",
      "clip(70xu64)->70xu64 {high=1e19 low=3}",
      "clip(70xf64)->70xf64 {high=0.7 low=-0.1}",
      "pad(7x5xi64)->9x6xi64 {mode=0 pads=1,0,1,1 value=5000000000}",
      "pad(7x5xf64)->9x6xf64 {mode=0 pads=1,0,1,1 value=-0.1}",
  };
  for (const char *key : kKeys) {
    SCOPED_TRACE(key);
    auto problem = parseProblem(key);
    ASSERT_TRUE(mlir::succeeded(problem));
    GpuCase drawn;
    drawn.problem = *problem;
    drawn.seed = 1;
    drawn.solvers = getApplicableSolvers(*problem, gpu->getTarget());
    EXPECT_FALSE(drawn.solvers.empty());
    check(drawn);
  }
}

INSTANTIATE_TEST_SUITE_P(Gpus, GpuOperationProperty,
                         testing::ValuesIn(kEmulatedGpus),
                         [](const auto &info) {
                           return std::string(info.param);
                         });

} // namespace
