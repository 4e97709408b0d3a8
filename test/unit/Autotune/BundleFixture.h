//===- BundleFixture.h - A search split in two, for tests -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_AUTOTUNE_BUNDLEFIXTURE_H
#define TARPON_TEST_UNIT_AUTOTUNE_BUNDLEFIXTURE_H

#include "TestDirectory.h"
#include "tarpon/Autotune/Bundle/BundleBuilder.h"
#include "tarpon/Autotune/Bundle/BundleEvaluator.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include "llvm/Support/raw_ostream.h"

#include "gtest/gtest.h"

#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace tarpon::test {

/// A search of which the halves know nothing of each other but files and
/// measurements.
class BundleTest : public testing::Test {
protected:
  TestDirectory directory;
  std::string remarks;
  llvm::raw_string_ostream os{remarks};
  Progress progress{os, Progress::Style::Quiet};
  TargetInfo target = *getHostTarget(1);
  std::shared_ptr<KernelCache> cache =
      std::make_shared<KernelCache>(directory.file("cache"));
  KernelCompiler compiler{target, cache, makeHostBackend(target)};
  std::unique_ptr<Journal> journal =
      Journal::openInMemory(JournalContext::forTarget(target));
  SearchOptions options;
  BundleEvaluator evaluator{findEvaluatorProgram(), progress};
  Problem problem = *parseProblem("relu(1x4x8x8xf32)->1x4x8x8xf32");
  std::string path = directory.file("bundle");
  /// The numbers of the candidates of the rounds.
  std::vector<size_t> raced, timed;

  /// A builder of its own for each round: none knows anything of the last one.
  std::optional<CandidateBundle> build(size_t max,
                                       const SolutionLimits &limits = {}) {
    BundleBuilder builder(compiler, *journal, /*system=*/nullptr,
                          /*ranker=*/nullptr, options);
    auto bundle = builder.build(problem, max, limits);
    EXPECT_TRUE(bundle) << bundle.message();
    return bundle ? std::move(*bundle) : std::nullopt;
  }

  std::vector<Measurement> measure(const CandidateBundle &bundle) {
    auto written = writeBundle(bundle, path);
    EXPECT_TRUE(written) << written.message();
    auto measured =
        evaluator.measure(path, journal->getMeasurements(bundle.problem));
    EXPECT_TRUE(measured) << measured.message();
    return measured ? std::move(*measured) : std::vector<Measurement>();
  }

  /// Searches the problem to its end.
  void search(size_t max, const SolutionLimits &limits = {}) {
    while (std::optional<CandidateBundle> bundle = build(max, limits)) {
      bool isFinal = bundle->stage == MeasurementStage::Final;
      (isFinal ? timed : raced).push_back(bundle->candidates.size());
      std::vector<Measurement> measured = measure(*bundle);
      ASSERT_EQ(measured.size(), bundle->candidates.size());
      for (const Measurement &m : measured)
        ASSERT_TRUE(journal->record(m));
      ASSERT_LT(raced.size() + timed.size(), 500u) << "it does not end";
    }
  }
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_AUTOTUNE_BUNDLEFIXTURE_H
