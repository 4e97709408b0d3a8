//===- HostModelRun.h - Runs a model on the host ----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The int8 ranges and the accuracy of a choice depend on the model after the
// passes, and hardly on the device: where the target's device is missing, the
// host runs the same choice with its own kernels.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_MEASURE_HOSTMODELRUN_H
#define TARPON_LIB_AUTOTUNE_MEASURE_HOSTMODELRUN_H

#include "Choice/ModelCompiler.h"
#include "Choice/ModelLoading.h"
#include "tarpon/Autotune/Search/Tuner.h"
#include "tarpon/Runtime/Tensor.h"

#include <memory>
#include <string>
#include <vector>

namespace tarpon {

class HostModelRun {
public:
  /// `module` must be simplified, and outlive the object, as must `progress`.
  static runtime::Result<std::unique_ptr<HostModelRun>>
  create(mlir::ModuleOp module, const std::string &cpu, Progress &progress,
         const std::string &evaluatorProgram);

  /// The ranges for int8.
  runtime::Result<std::vector<TensorRange>>
  measureRanges(Fusion fusion, const CalibrationInputs &inputs,
                std::optional<RangeMethod> method);

  /// Measures the relative L2 distance of the choice's results from fp32's, the
  /// greatest over results and in the root mean square over the first `count`
  /// inputs. The ranges of its fusion must have been measured.
  runtime::Result<double> measureError(const GlobalChoice &choice,
                                       const CalibrationInputs &inputs,
                                       size_t count);

  using Tensors = std::vector<runtime::HostTensor>;
  /// Returns the results for each sample.
  runtime::Result<std::vector<Tensors>> run(const GlobalChoice &choice,
                                            const CalibrationInputs &inputs);

private:
  HostModelRun(TargetCompiler compiler, mlir::ModuleOp module,
               Progress &progress, const std::string &evaluatorProgram);

  SolutionSource makeSource();
  runtime::Result<runtime::Instance> makeInstance(const GlobalChoice &choice,
                                                  const Tensors &inputs);

  TargetCompiler compiler;
  /// The journal of the kernels that were verified to run in this process.
  std::unique_ptr<Journal> journal;
  std::unique_ptr<Tuner> tuner;
  ModelCompiler model;
  /// The results of fp32 for each sample.
  std::vector<Tensors> expected;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_MEASURE_HOSTMODELRUN_H
