//===- graph-opt-hostile.cpp - graph-opt with solvers that do harm --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// For tests of graph-opt fleet: packages of real candidates, some of which
// crash, hang, eat memory, compute something else, or write to the terminal. A
// relu with images of width 1 has the harmful candidate that its channels ask
// for, besides the right ones. One of them crashes the compiler.
//
//===----------------------------------------------------------------------===//

#include "GraphOptMain.h"
#include "HostileSolvers.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/AllTargets.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

#include <cstring>
#include <unistd.h>
#include <vector>

using namespace tarpon;
using namespace tarpon::test;

namespace {

/// More than a node of the test's cluster has.
constexpr int64_t kGreed = int64_t(1) << 30;

/// Returns true if the problem asks for the candidate of these channels.
bool asksFor(const Problem &problem, int64_t channels) {
  const std::vector<int64_t> &shape = problem.result.shape;
  return shape.size() == 4 && shape[1] == channels && shape[3] == 1;
}

class PlantedSolver : public HostileSolver {
public:
  PlantedSolver(const char *id, Kind kind, int64_t channels)
      : HostileSolver(id, kind), channels(channels) {}

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    return asksFor(problem, channels)
               ? HostileSolver::isApplicable(problem, target)
               : Applicability::no("is planted elsewhere");
  }

private:
  int64_t channels;
};

class PlantedGpuSolver final : public HostileGpuSolver {
public:
  PlantedGpuSolver(Kind kind, int64_t channels)
      : HostileGpuSolver(kind), channels(channels) {}

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override {
    return asksFor(problem, channels)
               ? HostileGpuSolver::isApplicable(problem, target)
               : Applicability::no("is planted elsewhere");
  }

private:
  int64_t channels;
};

/// Writes to every page of a workspace that is larger than the memory.
class GreedySolver final : public PlantedSolver {
public:
  using PlantedSolver::PlantedSolver;

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override {
    SolutionPlan plan = PlantedSolver::plan(problem, target, config);
    LaunchPlan &launch = plan.launches.front();
    launch.kernel.symbol = "hostile_greedy";
    launch.kernel.emit = [](KernelBuilder &b) {
      constexpr int64_t kPage = 4096;
      b.forLoop(b.cst(kGreed / kPage), [&](mlir::Value i) {
        b.store(b.cstF(1), b.offset(b.getBuffer(2), b.mul(i, kPage)));
      });
    };
    launch.buffers.push_back({BufferSlot::Workspace, 0});
    plan.workspaceBytes = kGreed;
    return plan;
  }
};

/// Writes to the standard error: the colour red, and a line. The compiler
/// warns of it.
class TalkingSolver final : public PlantedSolver {
public:
  using PlantedSolver::PlantedSolver;

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override {
    SolutionPlan plan = PlantedSolver::plan(problem, target, config);
    LaunchPlan &launch = plan.launches.front();
    launch.kernel.symbol = "hostile_talking";
    auto emit = launch.kernel.emit;
    launch.kernel.emit = [emit](KernelBuilder &b) {
      llvm::errs() << "the compiler warns\n";
      emitWrite(b, "\x1b[31mhi\n");
      emit(b);
    };
    return plan;
  }

private:
  /// The text has eight bytes; the kernel's result is its buffer.
  static void emitWrite(KernelBuilder &b, const char *text) {
    constexpr int64_t kWrite = 1;
    int64_t bytes;
    std::memcpy(&bytes, text, sizeof(bytes));
    mlir::Value buffer = b.getBuffer(1);
    b.store(b.cst(bytes), buffer);
    mlir::LLVM::InlineAsmOp::create(
        b, mlir::TypeRange{b.i64()},
        mlir::ValueRange{b.cst(kWrite), b.cst(STDERR_FILENO), buffer,
                         b.cst(sizeof(bytes))},
        "syscall", "={rax},{rax},{rdi},{rsi},{rdx},~{rcx},~{r11},~{memory}",
        /*has_side_effects=*/true, /*is_align_stack=*/false,
        mlir::LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
        /*operand_attrs=*/nullptr);
  }
};

/// Compiling its kernels ends the compiler.
class FatalSolver final : public PlantedSolver {
public:
  using PlantedSolver::PlantedSolver;

  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override {
    SolutionPlan plan = PlantedSolver::plan(problem, target, config);
    LaunchPlan &launch = plan.launches.front();
    launch.kernel.symbol = "hostile_fatal";
    launch.kernel.emit = [](KernelBuilder &) {
      llvm::report_fatal_error("the compiler has a planted bug");
    };
    return plan;
  }
};

} // namespace

/// Those of GPUs, and the planted ones.
static llvm::ArrayRef<const Solver *> getEmulatedSolvers() {
  static const PlantedGpuSolver crash(HostileGpuSolver::Crashes, 11);
  static const PlantedGpuSolver hang(HostileGpuSolver::Hangs, 12);
  static const std::vector<const Solver *> all = [] {
    std::vector<const Solver *> list = {&crash, &hang};
    for (const Solver *solver : getGpuSolvers())
      list.push_back(solver);
    return list;
  }();
  return all;
}

int main(int argc, char **argv) {
  registerAllTargets();
  registerSolvers("amdgcn-ir", getEmulatedSolvers);
  PlantedSolver crash("crash-v1", HostileSolver::Crashes, 11);
  PlantedSolver hang("hang-v1", HostileSolver::Hangs, 12);
  PlantedSolver wrong("wrong-v1", HostileSolver::Wrong, 13);
  GreedySolver memory("memory-v1", HostileSolver::Right, 14);
  memory.workspace = kGreed;
  TalkingSolver talking("talking-v1", HostileSolver::Right, 15);
  FatalSolver fatal("fatal-v1", HostileSolver::Right, 16);
  ScopedExtraSolvers extra({&crash, &hang, &wrong, &memory, &talking, &fatal});
  return graphOptMain(argc, argv);
}
