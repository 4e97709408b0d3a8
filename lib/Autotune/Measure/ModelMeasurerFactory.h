//===- ModelMeasurerFactory.h - Measurers for modelled targets --*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_MODELMEASURERFACTORY_H
#define TARPON_LIB_AUTOTUNE_MEASURE_MODELMEASURERFACTORY_H

#include "tarpon/Autotune/Measure/MeasurerFactory.h"

namespace tarpon {

/// Records have a context of their own: a model's predictions are not
/// comparable with measurements.
class ModelMeasurerFactory final : public MeasurerFactory {
public:
  using MeasurerFactory::MeasurerFactory;

  runtime::Result<std::unique_ptr<Measurer>>
  create(const Problem &problem) override;
  JournalContext getJournalContext() const override;
  std::string getVerb() const override { return "modelled"; }
  bool usesSystemStore() const override { return false; }
  runtime::Result<std::unique_ptr<Journal>>
  openDeviceJournal(const Target &target) const override;
  std::optional<int64_t> getDefaultIterations(size_t included) const override;
  bool verifiesWhenCalibrating() const override { return false; }
  runtime::Status checkReference(const Problem &problem) const override;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_MODELMEASURERFACTORY_H
