//===- BundleMeasurer.h - Measures the candidates of a bundle ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEMEASURER_H
#define TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEMEASURER_H

#include "Bundle/BundledPackages.h"
#include "Measure/PackageEvaluation.h"
#include "tarpon/Autotune/Measure/Measurer.h"

namespace tarpon {

/// Has the packages of a bundle run by the evaluator process.
class BundleMeasurer final : public Measurer {
public:
  /// `packages`, of which the reference is written, must outlive the measurer.
  BundleMeasurer(BundledPackages &packages, PackageEvaluation evaluation)
      : packages(packages), evaluation(std::move(evaluation)) {}

  runtime::Status build(const Contender &contender) override {
    return packages.write(contender.key);
  }
  runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                          const Effort &effort) override;

private:
  BundledPackages &packages;
  PackageEvaluation evaluation;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEMEASURER_H
