//===- MeasurerFactory.h - Makes the measurers of a target ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Makes the measurers of a target's problems and of whole models, and defines
// the context of their records. Kernels that run on this machine are measured
// by the evaluator process, on the host or on a GPU; those of other targets are
// compared by the model of their backend. A target may register a factory of
// its own.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_MEASURE_MEASURERFACTORY_H
#define TARPON_AUTOTUNE_MEASURE_MEASURERFACTORY_H

#include "tarpon/Autotune/Measure/Measurer.h"
#include "tarpon/Autotune/Store/Journal.h"
#include "tarpon/Targets/Compiler/KernelCompiler.h"
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

/// Not thread-safe: one thread at a time.
class MeasurerFactory {
public:
  /// `compiler` must outlive the factory.
  explicit MeasurerFactory(KernelCompiler &compiler) : compiler(compiler) {}
  virtual ~MeasurerFactory();

  /// Makes the measurer of a problem; the factory must outlive it. An error
  /// means that nothing can be measured.
  virtual runtime::Result<std::unique_ptr<Measurer>>
  create(const Problem &problem) = 0;

  /// Makes the measurer of whole models. Unless a factory overrides this, the
  /// time of a model is the sum of its layers' times, and its accuracy and int8
  /// ranges are those of the same choice on the host.
  virtual runtime::Result<std::unique_ptr<PipelineMeasurer>>
  createPipelineMeasurer(const PipelineContext &context);

  /// The context in which the measurers' records are valid.
  virtual JournalContext getJournalContext() const;

  /// The past participle that says in messages what the measurers do to a
  /// candidate: "measured".
  virtual std::string getVerb() const;

  /// Returns true if records of the system store, which were measured
  /// elsewhere, are comparable with the measurers' results.
  virtual bool usesSystemStore() const;

  /// The journal of measurements that devices of `target` made here when
  /// packages were tuned on them; null if there is none.
  virtual runtime::Result<std::unique_ptr<Journal>>
  openDeviceJournal(const Target &target) const;

  /// The number of candidates of a problem to measure unless the user sets a
  /// number or a time; none for no limit. `included` of them are to be part of
  /// the package.
  virtual std::optional<int64_t> getDefaultIterations(size_t included) const;

  /// Returns true if int8 ranges are measured with kernels of the target, which
  /// are verified and recorded for that.
  virtual bool verifiesWhenCalibrating() const;

  /// Returns an error if the reference solver cannot replace candidates none of
  /// which can be used.
  virtual runtime::Status checkReference(const Problem &problem) const;

protected:
  KernelCompiler &compiler;
};

using MakeMeasurerFactory = std::function<std::unique_ptr<MeasurerFactory>(
    KernelCompiler &compiler, const std::string &evaluatorProgram)>;

/// Registers the factory of an architecture (TargetInfo::arch). Call it before
/// anything is measured.
void registerMeasurerFactory(const std::string &arch, MakeMeasurerFactory make);

/// The factory for the target of `compiler`. With `onDevice`, candidates for a
/// GPU are measured on it, which has to be in this machine; otherwise its model
/// is asked, if it has one.
std::unique_ptr<MeasurerFactory>
makeMeasurerFactory(KernelCompiler &compiler,
                    const std::string &evaluatorProgram, bool onDevice = false);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_MEASURE_MEASURERFACTORY_H
