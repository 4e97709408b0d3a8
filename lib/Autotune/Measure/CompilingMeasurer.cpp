//===- CompilingMeasurer.cpp - Compiles what is measured ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Measure/CompilingMeasurer.h"

#include "tarpon/IR/ParallelFor.h"
#include "tarpon/Runtime/ThreadPool.h"
#include "tarpon/Targets/Package/PackageBuilder.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <vector>

using namespace tarpon;
using runtime::Error;
using runtime::Status;

CompilingMeasurer::CompilingMeasurer(const Problem &problem,
                                     KernelCompiler &compiler)
    : problem(withStandardScales(problem)), compiler(compiler) {}

bool CompilingMeasurer::discard(const Built &) { return false; }

void CompilingMeasurer::buildBatch(llvm::ArrayRef<const Contender *> batch,
                                   const Deadline &deadline) {
  auto isNext = [&](const CandidateKey &key) {
    return llvm::any_of(batch, [&](const Contender *contender) {
      return contender->key == key;
    });
  };
  std::erase_if(builtCandidates, [&](const auto &entry) {
    return !isNext(entry.first) && discard(entry.second);
  });
  std::vector<const Contender *> open;
  for (const Contender *contender : batch)
    if (!builtCandidates.count(contender->key))
      open.push_back(contender);
  std::vector<std::optional<Built>> built(open.size());
  parallelFor(open.size(), std::max(1, runtime::availableCores()),
              [&](size_t index) {
                if (!deadline.isOver())
                  built[index] = compile(*open[index]);
              });
  for (auto [contender, result] : llvm::zip_equal(open, built))
    if (result)
      builtCandidates.try_emplace(contender->key, std::move(*result));
}

Status CompilingMeasurer::build(const Contender &contender) {
  auto known = builtCandidates.find(contender.key);
  if (known == builtCandidates.end())
    known =
        builtCandidates.try_emplace(contender.key, compile(contender)).first;
  const std::string &error = known->second.error;
  return error.empty() ? runtime::success() : Status(Error{error});
}
