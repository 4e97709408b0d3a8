#include "Commands.h"
#include "DriverSolution.h"
#include "Messages.h"

#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/Solver.h"
#include "tarpon/Targets/AMDGPU/GpuBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"
#include "tarpon/Targets/Host/KernelCompiler.h"
#include "tarpon/Targets/Host/LayeredKernelCache.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

static void printSolver(const Solver &solver, const Problem &problem,
                        const TargetInfo &target) {
  Applicability answer = checkApplicable(solver, problem, target);
  if (!answer) {
    llvm::outs() << solver.id() << ": no, " << answer.getReason() << "\n";
    return;
  }
  llvm::outs() << llvm::formatv(
      "{0}: yes, expected to reach {1:P0} of peak, workspace {2} bytes\n",
      solver.id(), solver.expectedFraction(problem, target),
      solver.workspaceSize(problem, target));
  PerfConfig standard = solver.defaultConfig(problem, target);
  for (const PerfConfig &config : solver.configs(problem, target))
    if (std::string text = config.str(); !text.empty())
      llvm::outs() << "  " << text << (config == standard ? " (default)" : "")
                   << "\n";
}

static runtime::Result<TargetInfo>
makeTarget(const SolversArguments &arguments) {
  if (arguments.target == "host")
    return getHostTarget(arguments.threads, arguments.cpu);
  runtime::Result<GpuTarget> gpu = parseGpuTarget(arguments.target);
  if (!gpu)
    return gpu.error();
  return makeGpuTargetInfo(*gpu);
}

/// A candidate that cannot be compiled is an answer, too.
static void printEstimate(KernelCompiler &compiler, const Problem &problem,
                          const Solver &solver, const PerfConfig &config) {
  llvm::outs() << solver.id() << " {" << config.str() << "}: ";
  runtime::Result<SolutionEstimate> estimate =
      compiler.estimate(problem, solver, config);
  if (!estimate) {
    llvm::outs() << "no, " << estimate.message() << "\n";
    return;
  }
  llvm::outs() << llvm::formatv("{0:f5} ms\n", estimate->milliseconds)
               << estimate->report;
}

static int estimateNamed(KernelCompiler &compiler, const Problem &problem,
                         llvm::StringRef solution) {
  auto [id, text] = solution.split(':');
  const Solver *solver = findSolver(id);
  if (!solver)
    return fail("there is no solver '" + id.str() +
                "' (see 'graph-opt solvers')");
  const TargetInfo &target = compiler.getTarget();
  if (Applicability answer = checkApplicable(*solver, problem, target); !answer)
    return fail("the solver " + id.str() + " cannot solve " + problem.key() +
                ": it " + answer.getReason().str());
  PerfConfig config = solver->defaultConfig(problem, target);
  if (!text.empty()) {
    mlir::FailureOr<PerfConfig> parsed = PerfConfig::parse(text);
    if (mlir::failed(parsed) ||
        !solver->isValidConfig(problem, target, *parsed))
      return fail(describeBadConfig(*solver, problem, target, text));
    config = *parsed;
  }
  printEstimate(compiler, problem, *solver, config);
  return kSuccess;
}

static int estimate(const Problem &problem, const TargetInfo &target,
                    const SolversArguments &arguments) {
  if (!target.gpu)
    return failUsage("--estimate needs a GPU as --target: the host measures");
  KernelCompiler compiler(target, openKernelCache(target),
                          makeGpuBackend(*target.gpu));
  if (!arguments.solution.empty())
    return estimateNamed(compiler, problem, arguments.solution);
  for (const Solver *solver : getApplicableSolvers(problem, target))
    printEstimate(compiler, problem, *solver,
                  solver->defaultConfig(problem, target));
  return kSuccess;
}

int runSolvers(const SolversArguments &arguments) {
  runtime::Result<TargetInfo> target = makeTarget(arguments);
  if (!target)
    return fail(target.message());
  llvm::ArrayRef<const Solver *> solvers =
      target->gpu ? getGpuSolvers() : getHostSolvers();
  if (arguments.problem.empty()) {
    for (const Solver *solver : solvers)
      llvm::outs() << solver->id() << "\n";
    return kSuccess;
  }
  std::string fault;
  mlir::FailureOr<Problem> problem = parseProblem(arguments.problem, &fault);
  if (mlir::failed(problem))
    return fail("'" + arguments.problem + "' is not a problem key: " + fault);
  if (arguments.estimate)
    return estimate(*problem, *target, arguments);
  for (const Solver *solver : solvers)
    printSolver(*solver, *problem, *target);
  return kSuccess;
}

} // namespace tarpon
