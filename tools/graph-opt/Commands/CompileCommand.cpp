//===- CompileCommand.cpp - graph-opt compile -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Commands.h"
#include "Files/OutputFiles.h"
#include "Messages.h"
#include "Reports/KernelReport.h"
#include "SearchFlags.h"

#include "tarpon/Autotune/Choice/Compile.h"
#include "tarpon/Driver/ProblemLog.h"
#include "tarpon/Runtime/Candidates.h"
#include "tarpon/Targets/TargetRegistry.h"

#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <limits>

using llvm::formatv;

namespace tarpon {

static runtime::Status setKnobs(CompileOptions &options,
                                const CompileArguments &arguments) {
  runtime::Result<Knob> dtype = parseDtypeKnob(arguments.dtype);
  runtime::Result<Knob> layout = parseLayoutKnob(arguments.layout);
  runtime::Result<Knob> fusion = parseFusionKnob(arguments.fusion);
  for (const runtime::Result<Knob> *knob : {&dtype, &layout, &fusion})
    if (!*knob)
      return knob->error();
  options.dtype = std::move(*dtype);
  options.layout = std::move(*layout);
  options.fusion = std::move(*fusion);
  return runtime::success();
}

static CompileOptions makeOptions(const CompileArguments &arguments) {
  CompileOptions options;
  options.model = arguments.model;
  options.batch = arguments.batch;
  options.target = arguments.target;
  options.device = arguments.device;
  // The command line has checked it.
  if (arguments.candidates == "all")
    options.candidates = std::numeric_limits<size_t>::max();
  else if (!arguments.candidates.empty())
    options.candidates =
        std::strtoull(arguments.candidates.c_str(), nullptr, 10);
  options.threads = arguments.threads;
  options.cpu = arguments.cpu;
  options.calibration = arguments.calibration;
  if (arguments.maxError)
    options.maxError = *arguments.maxError;
  options.tuningTime = arguments.tuningTime;
  // The command line has checked them.
  if (!arguments.findMode.empty())
    options.findMode = *parseFindMode(arguments.findMode);
  if (!arguments.tuningPolicy.empty())
    options.tuningPolicy = *parseTuningPolicy(arguments.tuningPolicy);
  options.search = makeSearchOverrides(arguments.search);
  options.tuningFile = arguments.tuningFile;
  options.replay = arguments.replay;
  options.replayAnyway = arguments.replayAnyway;
  options.strict = arguments.strict;
  options.quiet = arguments.quiet;
  options.output = arguments.output;
  return options;
}

/// What a package takes for being tuned elsewhere.
static std::string describeCandidates(const runtime::Package &package) {
  size_t count = 0;
  for (const runtime::Layer &layer : package.layers)
    count += layer.candidates.size();
  runtime::Package alone = runtime::dropCandidates(package);
  auto getMiB = [](const runtime::Package &p) {
    return static_cast<double>(p.constants.size() + p.kernels.size()) / 1048576;
  };
  return formatv("candidates: {0} with {1} kernels, which make {2:F1} MiB of "
                 "constants and kernels {3:F1}\n",
                 count, package.codeObjects.size(), getMiB(alone),
                 getMiB(package));
}

/// "resnet50: fp32/nhwc tuned: 21 problems, ...": what the run has done.
static void printSummary(const CompileOutcome &outcome) {
  static constexpr const char *kModes[] = {"compiled", "tuned", "replayed"};
  llvm::raw_ostream &os = llvm::outs();
  const runtime::Package &package = outcome.package;
  const SearchStatistics &search = outcome.search;
  os << formatv("{0}: {1} as {2}, {3} layers\n", package.modelName,
                kModes[outcome.mode], outcome.record.getWinner().choice.name(),
                package.layers.size());
  os << formatv("solutions: {0} {1}, {2} reused, {3} rejected, {4} dropped "
                "early\n",
                search.measured, outcome.compared, search.reused,
                search.rejected, search.dropped);
  if (runtime::hasCandidates(package))
    os << describeCandidates(package);
  os << formatv("kernels: {0} compiled, {1} from the cache\n",
                outcome.kernels.compiled, outcome.kernels.fromCache);
  os << formatv("elapsed: {0:F2} s\n", outcome.seconds);
}

/// Whether packages for a target can be tuned.
static bool canHoldCandidates(const std::string &name) {
  runtime::Result<std::shared_ptr<const Target>> target = findTarget(name);
  return target && (*target)->makeBackend()->getKernelForm() ==
                       runtime::KernelForm::CodeObjects;
}

int runCompile(const CompileArguments &arguments) {
  if (!arguments.candidates.empty() && !canHoldCandidates(arguments.target))
    return failUsage("--include-candidates is for targets whose kernels are "
                     "code objects, such as GPUs, not for '" +
                     arguments.target + "'");
  CompileOptions options = makeOptions(arguments);
  if (runtime::Status status = setKnobs(options, arguments); !status)
    return failUsage(status.message());
  if (runtime::Status status = checkOutputs(
          {{"the model", options.model},
           {"the file to replay", options.replay}},
          {{"--tuning-file", options.tuningFile}, {"-o", options.output}});
      !status)
    return fail(status.message());
  runtime::Result<CompileOutcome> outcome = compileModel(options);
  if (!outcome)
    return fail(outcome.message());
  if (runtime::Status status =
          logProblems(outcome->package, arguments.logDriver);
      !status)
    return fail(status.message());
  // One choice that nobody measured says nothing.
  if (outcome->mode != CompileOutcome::Quick)
    llvm::outs() << formatCandidates(outcome->record) << "\n";
  if (arguments.kernelReport) {
    runtime::Result<std::string> report = reportKernels(outcome->package);
    if (!report)
      return fail(report.message());
    llvm::outs() << *report << "\n";
  }
  printSummary(*outcome);
  if (!options.tuningFile.empty())
    llvm::outs() << "tuning file: " << options.tuningFile << "\n";
  if (!options.output.empty())
    llvm::outs() << "package: " << options.output << "\n";
  llvm::outs().flush();
  return kSuccess;
}

} // namespace tarpon
