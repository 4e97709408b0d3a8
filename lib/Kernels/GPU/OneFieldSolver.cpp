//===- OneFieldSolver.cpp - Configs of one field --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OneFieldSolver.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;

PerfConfig OneFieldSolver::defaultConfig(const Problem &problem,
                                         const TargetInfo &target) const {
  return {{getField(problem).str(), chooseValue(problem, target)}};
}

std::vector<PerfConfig>
OneFieldSolver::configs(const Problem &problem,
                        const TargetInfo &target) const {
  std::vector<PerfConfig> all = {defaultConfig(problem, target)};
  for (int64_t value : getValues(problem, target))
    if (PerfConfig config = {{getField(problem).str(), value}};
        config != all.front())
      all.push_back(config);
  return all;
}

bool OneFieldSolver::isValidConfig(const Problem &problem,
                                   const TargetInfo &target,
                                   const PerfConfig &config) const {
  return config.getFields().size() == 1 && config.has(getField(problem)) &&
         llvm::is_contained(getValues(problem, target),
                            getValue(problem, config));
}
