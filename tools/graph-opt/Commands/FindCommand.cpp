//===- FindCommand.cpp - graph-opt find -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CommandLineValues.h"
#include "CommandSet.h"
#include "Commands.h"
#include "FinderArguments.h"
#include "Messages.h"
#include "SharedOptions.h"

#include "tarpon/Autotune/Search/Find.h"
#include "tarpon/Driver/DriverLine.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Solver/SolverRegistry.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <limits>
#include <set>

namespace tarpon {

namespace {

struct FindArguments {
  /// A problem key, or a MIOpenDriver command line.
  std::vector<std::string> words;
  FinderArguments finder;
  /// Seconds for all problems.
  std::optional<double> tuningTime;
  std::string order = "time";
  std::optional<int64_t> workspaceLimit;
  std::vector<std::string> disabledSolvers;
  bool tune = false, immediate = false;
  /// The file to write the best solution to, and a file to read instead of
  /// finding one.
  std::string save, load;
  bool withKernels = false;
};

} // namespace

using namespace runtime;
using llvm::formatv;

static Result<std::vector<Problem>>
readProblems(const std::vector<std::string> &words) {
  if (words.empty())
    return Error{"no problem: neither a key nor a driver line"};
  Result<DriverLine> line = parseDriverLine(words);
  if (!line)
    return line.error();
  std::vector<Problem> problems;
  for (DriverTask &task : line->tasks)
    problems.push_back(std::move(task.problem));
  return problems;
}

static Result<FindOptions> makeOptions(const FindArguments &arguments) {
  FindOptions options;
  options.order = arguments.order == "workspace" ? SolutionOrder::ByWorkspace
                                                 : SolutionOrder::ByTime;
  options.tuning = arguments.tune;
  if (arguments.workspaceLimit)
    options.limits.workspaceBytes = *arguments.workspaceLimit;
  options.limits.disabledSolvers = arguments.disabledSolvers;
  Result<std::shared_ptr<const Target>> target =
      findTarget(arguments.finder.target);
  if (!target)
    return target.error();
  for (const std::string &id : arguments.disabledSolvers)
    if (!findSolver((*target)->getInfo(), id))
      return Error{"there is no solver '" + id + "' (see 'graph-opt solvers')"};
  return options;
}

static void printSolutions(const std::vector<FoundSolution> &list) {
  llvm::outs() << formatv("{0,12} {1,14}  {2,-10} {3}\n", "time ms",
                          "workspace", "source", "solution");
  for (const FoundSolution &found : list) {
    std::optional<double> time = found.getMilliseconds();
    std::string text = "-";
    if (time)
      text = formatv("{0:f5}", *time).str();
    else if (found.solution.expectedMs)
      text = formatv("~{0:f5}", *found.solution.expectedMs).str();
    llvm::outs() << formatv("{0,12} {1,14}  {2,-10} {3} {{{4}}\n", text,
                            found.workspaceBytes, found.solution.source,
                            found.solution.solver->id(),
                            found.solution.config.str());
  }
}

/// Saves the best solution, and its kernels with generated constants.
static Status save(Finder &finder, const FoundSolution &found,
                   const FindArguments &arguments) {
  if (!arguments.withKernels)
    return finder.saveSolution(found, arguments.save);
  std::vector<HostTensor> tensors;
  std::vector<const void *> operands;
  for (auto [index, operand] : llvm::enumerate(found.problem.operands)) {
    operands.push_back(nullptr);
    if (!operand.constant)
      continue;
    Result<HostTensor> tensor =
        HostTensor::create(operand.dtype, operand.shape);
    if (!tensor)
      return tensor.error();
    fillRandom(*tensor, index);
    operands.back() = tensor->data.data();
    tensors.push_back(std::move(*tensor));
  }
  return finder.saveSolutionWithKernels(found, arguments.save, operands);
}

static Status findAll(Finder &finder, const std::vector<Problem> &problems,
                      const FindOptions &options,
                      const FindArguments &arguments) {
  std::set<std::string> explained;
  for (const Problem &problem : problems) {
    llvm::outs() << "Problem: " << problem.key() << "\n";
    Result<std::vector<FoundSolution>> list =
        arguments.immediate
            ? finder.listSolutions(problem, options.limits,
                                   std::numeric_limits<size_t>::max(),
                                   options.order)
            : finder.findSolutions(problem, options);
    if (!list)
      return list.error();
    printSolutions(*list);
    std::string guess = finder.explainGuess(list->front());
    if (!guess.empty() && explained.insert(guess).second)
      remark(guess);
    if (!arguments.save.empty())
      if (Status status = save(finder, list->front(), arguments); !status)
        return status;
  }
  const SearchStatistics &search = finder.getStatistics();
  llvm::outs() << formatv(
      "solutions: {0} {1}, {2} reused, {3} rejected, {4} dropped early\n",
      search.measured, finder.getVerb(), search.reused, search.rejected,
      search.dropped);
  return success();
}

/// Loads a saved solution and prints its record.
static int loadSaved(Finder &finder, const std::string &path) {
  Result<FoundSolution> found = finder.loadSolution(path);
  if (!found)
    return fail(found.message());
  llvm::outs() << "Problem: " << found->problem.key() << "\n";
  printSolutions({*found});
  return kSuccess;
}

static int runFind(const FindArguments &arguments) {
  bool loads = !arguments.load.empty();
  if (loads && !arguments.words.empty())
    return failUsage("--load takes no problem");
  Result<std::vector<Problem>> problems = std::vector<Problem>();
  if (!loads)
    problems = readProblems(arguments.words);
  if (!problems)
    return failUsage(problems.message());
  if (!arguments.save.empty() && problems->size() != 1)
    return failUsage("--save takes one problem, not " +
                     std::to_string(problems->size()));
  Result<FindOptions> options = makeOptions(arguments);
  if (!options)
    return failUsage(options.message());
  Result<std::unique_ptr<Finder>> finder =
      Finder::create(makeFinderOptions(arguments.finder));
  if (!finder)
    return fail(finder.message());
  if (arguments.tuningTime)
    (*finder)->setDeadline(Deadline::after(*arguments.tuningTime));
  if (loads)
    return loadSaved(**finder, arguments.load);
  if (Status status = findAll(**finder, *problems, *options, arguments);
      !status)
    return fail(status.message());
  llvm::outs().flush();
  return kSuccess;
}

//===----------------------------------------------------------------------===//
// The command line
//===----------------------------------------------------------------------===//

void addFind(CommandSet &commands) {
  using namespace options;
  auto [sub, find] =
      commands.add("find", "Find the solutions of one problem",
                   "graph-opt find --order workspace conv -n 1 -c 64 -H 56 "
                   "-W 56 -k 64 -y 3 -x 3 -p 1 -q 1 -F 1",
                   runFind);
  addFinder(sub, find.finder);
  addTuningTime(sub, find.tuningTime);
  sub->add_flag("--tune", find.tune, "Search every config");
  sub->add_flag("--immediate", find.immediate,
                "List known or expected solutions without measuring");
  sub->add_option("--order", find.order,
                  "Order of the solutions (default: time)")
      ->check(isOneOf(kOrder))
      ->type_name(getTypeName(kOrder));
  sub->add_option("--workspace-limit", find.workspaceLimit,
                  "Leave out solvers that need more")
      ->check(isBetween(int64_t(0), int64_t(1) << 60))
      ->type_name("BYTES");
  sub->add_option("--disable-solver", find.disabledSolvers,
                  "Leave out this solver; may be given several times")
      ->type_name("ID")
      ->expected(1)
      ->take_all()
      ->allow_extra_args(false);
  CLI::Option *save =
      sub->add_option("--save", find.save, "Write the best solution here")
          ->type_name("OUT.json");
  sub->add_flag("--with-kernels", find.withKernels,
                "Also write its kernels, with generated constants")
      ->needs(save);
  sub->add_option("--load", find.load, "Check a solution that was saved")
      ->type_name("IN.json")
      ->excludes(save);
  // The same holds as for the driver.
  sub->prefix_command();
  sub->description(sub->get_description() +
                   "\ngraph-opt find [OPTIONS] PROBLEM; the problem is a key "
                   "as in a tuning file, or a command line of MIOpenDriver "
                   "(see 'graph-opt driver --help').");
  sub->parse_complete_callback(
      [sub = sub, &words = find.words] { words = sub->remaining(); });
}

} // namespace tarpon
