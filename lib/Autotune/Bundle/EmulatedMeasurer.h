//===- EmulatedMeasurer.h - Verifies bundles on an emulated GPU -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_BUNDLE_EMULATEDMEASURER_H
#define TARPON_LIB_AUTOTUNE_BUNDLE_EMULATEDMEASURER_H

#include "Bundle/BundledPackages.h"
#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Measure.h"
#include "tarpon/Runtime/Package.h"

#include <vector>

namespace tarpon {

/// Runs the candidates of a bundle on an emulated GPU, in this process, and
/// compares them with the reference. Their times are the bundle's.
class EmulatedMeasurer final : public Measurer {
public:
  /// `packages` and `device` must outlive the measurer.
  EmulatedMeasurer(const Problem &problem, BundledPackages &packages,
                   runtime::Package reference, double slack,
                   runtime::Device &device)
      : problem(problem), packages(packages), reference(std::move(reference)),
        slack(slack), device(device) {}

  runtime::Status prepare(llvm::ArrayRef<Contender> contenders) override;
  runtime::Status build(const Contender &contender) override {
    return packages.write(contender.key);
  }
  runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                          const Effort &effort) override;
  bool isNoisy() const override { return false; }

private:
  using Tensors = std::vector<runtime::HostTensor>;

  runtime::Result<Tensors> run(runtime::Package package);
  runtime::Status verify(const Contender &contender, MeasureOutcome &outcome);

  Problem problem;
  BundledPackages &packages;
  /// Its constants and kernels are gone when it has run.
  runtime::Package reference;
  double slack;
  runtime::Device &device;
  /// The results of the reference; empty before it has run.
  Tensors expected;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_BUNDLE_EMULATEDMEASURER_H
