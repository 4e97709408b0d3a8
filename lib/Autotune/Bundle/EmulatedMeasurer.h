//===- EmulatedMeasurer.h - Verifies bundles on an emulated GPU -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_BUNDLE_EMULATEDMEASURER_H
#define TARPON_LIB_AUTOTUNE_BUNDLE_EMULATEDMEASURER_H

#include "Bundle/BundledPackages.h"
#include "Measure/PackageEvaluation.h"
#include "tarpon/Autotune/Measure/Measurer.h"

namespace tarpon {

/// Has the packages of a bundle run on an emulated GPU by tarpon-emulator, and
/// compared with the reference. Their times are the bundle's.
class EmulatedMeasurer final : public Measurer {
public:
  /// `packages`, of which the reference is written, must outlive the measurer.
  EmulatedMeasurer(BundledPackages &packages, PackageEvaluation evaluation)
      : packages(packages), evaluation(std::move(evaluation)) {}

  runtime::Status build(const Contender &contender) override {
    return packages.write(contender.key);
  }
  runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                          const Effort &effort) override;
  bool isNoisy() const override { return false; }

private:
  BundledPackages &packages;
  PackageEvaluation evaluation;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_BUNDLE_EMULATEDMEASURER_H
