//===- Calibration.h - Calibration inputs, and int8's ranges ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Calibration inputs serve twice: int8 takes its ranges from the values that
// the model computes on them in fp32, and accuracy is measured on them.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_CALIBRATION_H
#define TARPON_AUTOTUNE_CHOICE_CALIBRATION_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace tarpon {

/// Samples of inputs of the model: one tensor per input in each sample.
struct CalibrationInputs {
  /// "generated" or "directory".
  std::string source;
  std::string digest;
  std::vector<std::vector<runtime::HostTensor>> samples;
  /// Ranges are measured on so many of the first samples, or on all.
  std::optional<size_t> rangeSamples = std::nullopt;

  llvm::ArrayRef<std::vector<runtime::HostTensor>> getRangeSamples() const {
    return llvm::ArrayRef(samples).take_front(
        rangeSamples.value_or(samples.size()));
  }
};

/// Generates seeded samples: floats are bell-shaped with mean 0 and deviation
/// 1, as normalised images are.
runtime::Result<CalibrationInputs>
generateCalibration(const std::vector<runtime::TensorInfo> &inputs);

/// Reads samples from a folder. Either each sub-folder is a sample, with one
/// `input_K.npy` or `input_K.pb` per input K of the model (ONNX's
/// test_data_set_N); or the folder itself is such a sample; or, for a model
/// with one input, each .npy file is a sample; or, for a model with several
/// inputs, the files `NAME_I.npy` are the inputs of sample I. Samples are read
/// in the order of their names, at most policy::kMaxSamples of them.
runtime::Result<CalibrationInputs>
readCalibration(const std::string &directory,
                const std::vector<runtime::TensorInfo> &inputs);

/// The same for all samples of the folder, for labels.
runtime::Result<CalibrationInputs>
readAllSamples(const std::string &directory,
               const std::vector<runtime::TensorInfo> &inputs);

/// Reads the samples of a folder, or generates samples if `directory` is empty.
runtime::Result<CalibrationInputs>
getCalibration(const std::string &directory,
               const std::vector<runtime::TensorInfo> &inputs);

/// Compiles a fused fp32 function of the tarpon dialect.
using CalibrationCompiler =
    std::function<runtime::Result<runtime::Package>(mlir::func::FuncOp)>;

/// Runs the fused fp32 function on the samples for ranges and returns the
/// ranges of its arguments and fused ops, in their order, with the means of
/// what filters read. Without a method, each tensor takes that with the least
/// squared error.
runtime::Result<std::vector<TensorRange>>
measureRanges(mlir::func::FuncOp function, const CalibrationInputs &inputs,
              const CalibrationCompiler &compile, int threads,
              std::optional<RangeMethod> method = std::nullopt);

/// Sets the attributes that tarpon-quantize reads. Fails if the ranges were
/// made for another function.
runtime::Status applyRanges(mlir::func::FuncOp function,
                            const std::vector<TensorRange> &ranges);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_CALIBRATION_H
