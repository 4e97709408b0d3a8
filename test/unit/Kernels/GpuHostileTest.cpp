//===- GpuHostileTest.cpp -------------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Candidates that fault, hang or give wrong numbers on a GPU lose alone.
// TARPON_TEST_GPU_DEVICE: "cuda" or "hip".
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Measure/MeasurerFactory.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "gtest/gtest.h"

#include <cstdlib>
#include <filesystem>
#include <limits>

using namespace tarpon;

namespace {

/// Takes every relu of f32, claims to be the fastest, and is not to be trusted.
class HostileGpuSolver : public Solver {
public:
  enum Kind { Faults, Hangs, Wrong };

  HostileGpuSolver(std::string name, Kind kind)
      : name(std::move(name)), kind(kind) {}

  llvm::StringRef id() const override { return name; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &) const override {
    bool fits = problem.op == OpKind::Relu && problem.epilogue.empty() &&
                problem.result.dtype == DType::F32;
    return fits ? Applicability::yes()
                : Applicability::no("needs a relu of f32");
  }
  PerfConfig defaultConfig(const Problem &, const TargetInfo &) const override {
    return {};
  }
  std::vector<PerfConfig> configs(const Problem &,
                                  const TargetInfo &) const override {
    return {PerfConfig()};
  }
  bool isValidConfig(const Problem &, const TargetInfo &,
                     const PerfConfig &config) const override {
    return config == PerfConfig();
  }
  double expectedFraction(const Problem &, const TargetInfo &) const override {
    return 1.5;
  }
  bool isDynamic() const override { return true; }
  int64_t workspaceSize(const Problem &, const TargetInfo &) const override {
    return 0;
  }
  SolutionPlan plan(const Problem &, const TargetInfo &,
                    const PerfConfig &) const override;

private:
  std::string name;
  Kind kind;
};

} // namespace

SolutionPlan HostileGpuSolver::plan(const Problem &, const TargetInfo &,
                                    const PerfConfig &) const {
  LaunchPlan launch;
  launch.kernel.symbol = "hostile_gpu_" + std::to_string(kind);
  launch.kernel.workgroup = 64;
  launch.kernel.emit = [kind = kind](KernelBuilder &b) {
    mlir::Value out = b.getBuffer(1);
    switch (kind) {
    case Faults:
      // Nobody has memory there.
      b.store(b.cstF(0), b.offset(out, b.cst(int64_t(1) << 46)));
      break;
    case Hangs:
      b.forLoop(b.cst(std::numeric_limits<int64_t>::max()), [&](mlir::Value) {
        b.store(b.addF(b.load(out, b.f32()), b.cstF(1)), out);
      });
      break;
    case Wrong:
      b.store(b.cstF(0.125), out);
      break;
    }
  };
  launch.buffers = {{BufferSlot::Operand, 0}, {BufferSlot::Result, 0}};
  SolutionPlan plan;
  plan.launches = {launch};
  return plan;
}

static const HostileGpuSolver kFaults("faults-v1", HostileGpuSolver::Faults);
static const HostileGpuSolver kHangs("hangs-v1", HostileGpuSolver::Hangs);
static const HostileGpuSolver kWrong("wrong-v1", HostileGpuSolver::Wrong);

/// The hostile solvers and those of all GPUs.
static llvm::ArrayRef<const Solver *> getAll() {
  static const std::vector<const Solver *> all = [] {
    std::vector<const Solver *> list = {&kFaults, &kHangs, &kWrong};
    for (const Solver *solver : getGpuSolvers())
      list.push_back(solver);
    return list;
  }();
  return all;
}

/// The target of the machine's GPU. The device is closed again, since another
/// process opens it.
static runtime::Result<std::shared_ptr<const Target>>
findGpu(const std::string &driver) {
  GpuVendor vendor = driver == "cuda" ? GpuVendor::NVIDIA : GpuVendor::AMD;
  runtime::Error last{"no chip is known"};
  for (const std::string &chip : getGpuChips(vendor)) {
    auto target = findTarget(chip);
    if (!target)
      return target.error();
    auto device = (*target)->openDevice(/*threads=*/0);
    if (device)
      return findTarget((*device)->target());
    last = device.error();
  }
  return last;
}

TEST(GpuHostile, BadCandidatesLoseAlone) {
  const char *named = std::getenv("TARPON_TEST_GPU_DEVICE");
  std::string driver = named ? named : "";
  if (driver != "cuda" && driver != "hip")
    GTEST_SKIP() << "TARPON_TEST_GPU_DEVICE names no GPU";
  auto target = findGpu(driver);
  ASSERT_TRUE(target) << target.message();
  const TargetInfo &info = (*target)->getInfo();
  registerSolvers(info.arch, getAll);

  KernelCompiler compiler(info, /*cache=*/nullptr, (*target)->makeBackend());
  std::unique_ptr<MeasurerFactory> measurers =
      makeMeasurerFactory(compiler, findEvaluatorProgram(), /*onDevice=*/true);
  auto journal = Journal::openInMemory(measurers->getJournalContext());
  std::string remarks;
  llvm::raw_string_ostream os(remarks);
  Progress progress(os, Progress::Style::Quiet);
  Tuner tuner(compiler, *measurers, *journal, progress);
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  auto solution = tuner.tune(problem);
  registerSolvers(info.arch, getGpuSolvers);
  ASSERT_TRUE(solution) << solution.message();
  std::cout << remarks;

  std::map<std::string, MeasurementStatus> statuses;
  for (const Measurement &m : journal->getMeasurements(problem.key()))
    statuses[m.key.solver] = m.status;
  EXPECT_EQ(statuses["faults-v1"], MeasurementStatus::Crashed);
  EXPECT_EQ(statuses["hangs-v1"], MeasurementStatus::TimedOut);
  EXPECT_EQ(statuses["wrong-v1"], MeasurementStatus::Wrong);
  EXPECT_EQ(statuses["gpu-elementwise-v1"], MeasurementStatus::Ok);
  EXPECT_EQ(statuses["gpu-naive-v1"], MeasurementStatus::Ok);
  EXPECT_EQ(solution->source, "measured");
  EXPECT_TRUE(llvm::is_contained(getGpuSolvers(), solution->solver));
  EXPECT_EQ(tuner.getStatistics().rejected, 3);
}
