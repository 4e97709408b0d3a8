//===- ModelMeasurer.h - Asks a model of the target -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_MODELMEASURER_H
#define TARPON_LIB_AUTOTUNE_MEASURE_MODELMEASURER_H

#include "Measure/CompilingMeasurer.h"

namespace tarpon {

/// Compiles candidates and takes the time that the compiler's backend estimates
/// from their machine code. Nothing is run: the tests of a solver check its
/// kernels' results.
class ModelMeasurer final : public CompilingMeasurer {
public:
  using CompilingMeasurer::CompilingMeasurer;

  runtime::Result<MeasureOutcome> measure(const Contender &contender,
                                          const Effort &effort) override;
  bool isNoisy() const override { return false; }

private:
  Built compile(const Contender &contender) override;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_MODELMEASURER_H
