//===- LearnedModels.cpp - Models of made-up measurements -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LearnedModels.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace tarpon;

Problem test::makeConv(int64_t channels, int64_t size) {
  return *parseProblem(
      llvm::formatv("conv(1x{0}x{1}x{1}xf32:nhwc, 64x{0}x1x1xf32:const)->"
                    "1x64x{1}x{1}xf32:nhwc {{dilations=1,1 group=1 "
                    "pads=0,0,0,0 strides=1,1}",
                    channels, size)
          .str());
}

MeasuredProblem test::makeMeasured(const Problem &problem,
                                   const TargetInfo &target) {
  constexpr double kEvenChannels = 48;
  MeasuredProblem measured;
  measured.problem = problem;
  measured.kind = *getProblemKind(problem);
  measured.target = std::make_shared<const TargetInfo>(target);
  measured.targetName = JournalContext::forTarget(target).target;
  double lean = std::log2(static_cast<double>(problem.operands[0].shape[1]) /
                          kEvenChannels) /
                4;
  for (llvm::StringRef id : {"conv-igemm-v1", "conv-direct-rows-v1"}) {
    const Solver *solver = findSolver(id);
    for (const PerfConfig &config : solver->configs(problem, target)) {
      auto m = static_cast<double>(config.get("tile_m"));
      double slower = 0.1 * std::abs(std::log2(m / 8)) +
                      (id == "conv-igemm-v1" ? -lean : lean);
      measured.solutions.push_back(
          {solver, config, problem.flops() * 1e-8 * std::exp2(slower)});
      if (measured.solutions.size() == 1 ||
          measured.solutions.back().milliseconds < measured.tuned.milliseconds)
        measured.tuned = measured.solutions.back();
    }
  }
  return measured;
}

std::vector<MeasuredProblem> test::makeManyMeasured(const TargetInfo &target) {
  std::vector<MeasuredProblem> problems;
  for (int64_t channels : {8, 16, 24, 32, 64, 96, 128, 160, 256})
    for (int64_t size : {7, 10, 14, 20, 28, 56})
      problems.push_back(makeMeasured(makeConv(channels, size), target));
  return problems;
}

LearnedModel test::makeModel(llvm::ArrayRef<TargetInfo> targets) {
  std::vector<MeasuredProblem> problems;
  for (const TargetInfo &target : targets)
    llvm::append_range(problems, makeManyMeasured(target));
  std::vector<const MeasuredProblem *> list;
  for (const MeasuredProblem &problem : problems)
    list.push_back(&problem);
  return trainModel(list);
}
