//===- ProblemSearch.cpp - The search over one problem --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Search/ProblemSearch.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/ThreadPool.h"

#include <algorithm>

using namespace tarpon;
using runtime::Status;

static ProposalContext makeProposalContext(const SearchContext &context) {
  return {context.target,
          context.journal,
          context.options,
          context.related,
          context.compiled,
          context.system,
          context.ranker,
          std::clamp<size_t>(runtime::availableCores(), 1,
                             context.measurer.getMaxProposals())};
}

ProblemSearch::ProblemSearch(SearchContext context, const Problem &problem,
                             SearchScope scope)
    : context(context),
      race({context.measurer, context.journal, context.progress,
            context.statistics, context.deadline},
           problem.key()),
      proposer(makeProposalContext(context), problem, std::move(scope),
               race.getContenders()) {}

void ProblemSearch::recallResults() {
  context.statistics.reused += proposer.recall();
}

/// Compiles and measures the batch, until a limit is hit.
Status ProblemSearch::raceBatch(llvm::ArrayRef<size_t> batch) {
  if (Status status = race.build(batch); !status)
    return status;
  proposer.noteCompiled(batch);
  for (size_t index : batch) {
    if (race.isOver() || proposer.isAtLimit())
      return runtime::success();
    if (Status status = race.measure(index); !status)
      return status;
    proposer.take(index);
  }
  return runtime::success();
}

Status ProblemSearch::raceAll() {
  while (true) {
    std::vector<size_t> next =
        proposer.propose(context.measurer.getBatchSize());
    if (next.empty() || race.isOver())
      return runtime::success();
    if (Status status = raceBatch(next); !status)
      return status;
  }
}

std::optional<Measurement> ProblemSearch::getFirstResult() const {
  const std::vector<Contender> &contenders = race.getContenders();
  return contenders.empty() ? std::nullopt : contenders.front().result;
}

Status ProblemSearch::run() {
  recallResults();
  Status status = raceAll();
  if (status)
    status = race.runFinal();
  Status finished = race.finish();
  return status ? finished : status;
}

Status ProblemSearch::verifyFirst() {
  size_t count = 0;
  for (size_t index = 0; index < race.getContenders().size(); ++index) {
    const Contender &contender = race.getContenders()[index];
    if (contender.result)
      continue;
    if (count++ == policy::kMaxVerifications)
      break;
    if (Status status = race.measure(index); !status)
      return status;
    if (contender.isOk())
      break;
  }
  return runtime::success();
}

Status ProblemSearch::verifyDefault() {
  recallResults();
  Status status = verifyFirst();
  Status finished = race.finish();
  return status ? finished : status;
}
