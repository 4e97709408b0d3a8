#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "DriverSolution.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

namespace tarpon {

namespace {

struct SolversArguments {
  std::string problem;
  /// "host" or a GPU.
  std::string target = "host";
  /// Estimate every solver's default config by the target's model.
  bool estimate = false;
  /// Estimate this solution instead: "SOLVER:CONFIG".
  std::string solution;
  int64_t threads = 0;
  std::string cpu = "native";
};

} // namespace

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

/// Prints an estimate; that a candidate cannot be compiled is a result, too.
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
  const TargetInfo &target = compiler.getTarget();
  const Solver *solver = findSolver(target, id);
  if (!solver)
    return fail("there is no solver '" + id.str() +
                "' (see 'graph-opt solvers')");
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

static int estimate(const Problem &problem, const Target &target,
                    const SolversArguments &arguments) {
  const TargetInfo &info = target.getInfo();
  std::unique_ptr<KernelCompiler> compiler = openKernelCompiler(target);
  if (compiler->describeCostModel().empty())
    return failUsage("--estimate needs a target that has a model, such as a "
                     "GPU, and " +
                     arguments.target + " has none");
  if (!arguments.solution.empty())
    return estimateNamed(*compiler, problem, arguments.solution);
  for (const Solver *solver : getApplicableSolvers(problem, info))
    printEstimate(*compiler, problem, *solver,
                  solver->defaultConfig(problem, info));
  return kSuccess;
}

static int runSolvers(const SolversArguments &arguments) {
  runtime::Result<std::shared_ptr<const Target>> target = findTarget(
      arguments.target, {arguments.threads, arguments.cpu, /*device=*/""});
  if (!target)
    return fail(target.message());
  llvm::ArrayRef<const Solver *> solvers = (*target)->getSolvers();
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
    return estimate(*problem, **target, arguments);
  for (const Solver *solver : solvers)
    printSolver(*solver, *problem, (*target)->getInfo());
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addSolvers(CommandSet &commands) {
  using namespace options;
  auto [sub, solvers] = commands.add(
      "solvers", "List the solvers, or those of a problem",
      "graph-opt solvers --problem 'relu(1x64x56x56xf32)->...'", runSolvers);
  CLI::Option *problem = sub->add_option("--problem", solvers.problem,
                                         "A problem key as in a tuning file")
                             ->type_name("KEY");
  addTarget(sub, solvers.target, "Target of the solvers (default: host)");
  CLI::Option *estimate =
      sub->add_flag("--estimate", solvers.estimate,
                    "Compile the kernels of default configs for a GPU, and "
                    "report their resources and predicted times")
          ->needs(problem);
  sub->add_option("--solution", solvers.solution,
                  "Estimate this solution, with a config from --problem's list")
      ->needs(estimate)
      ->type_name("SOLVER[:CONFIG]");
  addThreads(sub, solvers.threads);
  addCpu(sub, solvers.cpu);
}

} // namespace tarpon
