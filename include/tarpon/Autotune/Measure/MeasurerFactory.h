//===- MeasurerFactory.h - How a target is measured -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the measurers of a target's problems and of whole models, and says what
// their records are worth. Kernels that run on this machine are measured by the
// evaluator process; those of other targets are compared by the model of their
// backend. A target may register a factory of its own.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_MEASURE_MEASURERFACTORY_H
#define TARPON_AUTOTUNE_MEASURE_MEASURERFACTORY_H

#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Targets/KernelCompiler.h"
#include "tarpon/Targets/Target.h"

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

namespace tarpon {

class PipelineMeasurer;
struct PipelineContext;

/// One thread at a time.
class MeasurerFactory {
public:
  /// `compiler` must outlive the factory.
  explicit MeasurerFactory(KernelCompiler &compiler) : compiler(compiler) {}
  virtual ~MeasurerFactory();

  /// The measurer of a problem; the factory must outlive it. An error means
  /// that nothing can be measured.
  virtual runtime::Result<std::unique_ptr<Measurer>>
  create(const Problem &problem) = 0;

  /// The measurer of whole models. Unless a factory knows better, the time of a
  /// model is the sum of its layers', and its accuracy and int8's ranges are
  /// those of the same choice on the host.
  virtual runtime::Result<std::unique_ptr<PipelineMeasurer>>
  createPipelineMeasurer(const PipelineContext &context);

  /// What the measurers' records are valid for.
  virtual JournalContext getJournalContext() const;

  /// What measurers have done to a candidate, for people: "measured".
  virtual std::string getVerb() const;

  /// Whether records of the system store, which were measured elsewhere,
  /// compare with what the measurers say.
  virtual bool usesSystemStore() const;

  /// What devices of `target` have recorded here when packages were tuned on
  /// them; null if there is nothing.
  virtual runtime::Result<std::unique_ptr<Journal>>
  openDeviceJournal(const Target &target) const;

  /// How many candidates of a problem are measured unless the user says how
  /// many, or for how long; none for no limit. `included` of them are to be
  /// part of the package.
  virtual std::optional<int64_t> getDefaultIterations(size_t included) const;

  /// Whether ranges of int8 are measured with kernels of the target, which are
  /// verified and recorded for that.
  virtual bool verifiesWhenCalibrating() const;

  /// An error if the reference solver cannot take the place of candidates none
  /// of which can be used.
  virtual runtime::Status checkReference(const Problem &problem) const;

protected:
  KernelCompiler &compiler;
};

using MakeMeasurerFactory = std::function<std::unique_ptr<MeasurerFactory>(
    KernelCompiler &compiler, const std::string &evaluatorProgram)>;

/// Registers the factory of an architecture (TargetInfo::arch), before anything
/// is measured.
void registerMeasurerFactory(const std::string &arch, MakeMeasurerFactory make);

/// The factory for what `compiler` compiles.
std::unique_ptr<MeasurerFactory>
makeMeasurerFactory(KernelCompiler &compiler,
                    const std::string &evaluatorProgram);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_MEASURE_MEASURERFACTORY_H
