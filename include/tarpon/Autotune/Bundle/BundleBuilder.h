//===- BundleBuilder.h - Compiles candidates of a search --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_BUNDLE_BUNDLEBUILDER_H
#define TARPON_AUTOTUNE_BUNDLE_BUNDLEBUILDER_H

#include "tarpon/Autotune/Bundle/CandidateBundle.h"
#include "tarpon/Autotune/Search/Deadline.h"
#include "tarpon/Autotune/Search/SearchOptions.h"
#include "tarpon/Autotune/Search/Solution.h"
#include "tarpon/Autotune/Search/SolutionRanker.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"

#include "llvm/ADT/ArrayRef.h"

#include <cstddef>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace tarpon {

struct Contender;
class RelatedProblems;

/// The half of a search that has no device: proposes the next candidates of a
/// problem, by the same method as Tuner, and compiles them. It keeps nothing
/// about a problem, so that the rounds of one may be made by several builders.
/// Not thread-safe: one thread at a time.
class BundleBuilder {
public:
  /// All references must outlive the builder; `system` and `ranker` may be
  /// null. The journal is the one that measurements are recorded in: for an
  /// emulated GPU with the context of its model (JournalContext::forModel).
  /// Each measurement in it counts as one of this search, also a failure that
  /// may pass: who wants such a candidate to be measured again does not record
  /// it. The times of problems (SearchOptions) are ignored, since rounds are
  /// made in many places.
  BundleBuilder(KernelCompiler &compiler, Journal &journal,
                const Journal *system, const SolutionRanker *ranker,
                const SearchOptions &options);
  ~BundleBuilder();

  /// Returns the next bundle of the problem, given what the journal knows; none
  /// if its search is over: the method proposes nothing more, or a limit is
  /// reached, and the finalists, if there are several, were timed in turn. It
  /// has `max` candidates at most, but for those of the final, and fewer if
  /// their packages are large (policy::kMaxPackageBytes). When the method has
  /// come to its own end, that is recorded in the journal as a finding. Those
  /// of `first` that are candidates without a result come before all others.
  /// Those whose turn comes after the deadline, whose condition several threads
  /// ask, are left out.
  ///
  /// An error means that nothing can be measured of the problem.
  runtime::Result<std::optional<CandidateBundle>>
  build(const Problem &problem, size_t max, const SolutionLimits &limits = {},
        llvm::ArrayRef<CandidateKey> first = {},
        Deadline deadline = Deadline::never());

private:
  runtime::Result<std::vector<size_t>>
  chooseNext(const Problem &problem, size_t max, const SolutionLimits &limits,
             llvm::ArrayRef<CandidateKey> first,
             std::vector<Contender> &contenders, MeasurementStage &stage);
  runtime::Result<CandidateBundle> makeHead(const Problem &problem,
                                            MeasurementStage stage);
  BundledCandidate compile(const Problem &problem, const Contender &contender);

  KernelCompiler &compiler;
  Journal &journal;
  const Journal *system;
  const SolutionRanker *ranker;
  SearchOptions options;
  std::unique_ptr<RelatedProblems> related;
  /// The kernels that candidates have been compiled from.
  std::set<std::string> compiled;
};

} // namespace tarpon

#endif // TARPON_AUTOTUNE_BUNDLE_BUNDLEBUILDER_H
