//===- PipelineKey.h - Keys of models' time and accuracy --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_PIPELINEKEY_H
#define TARPON_LIB_AUTOTUNE_PIPELINEKEY_H

#include "tarpon/Autotune/Choice/TuningFile.h"
#include "tarpon/Autotune/Store/Journal.h"

#include "llvm/ADT/ArrayRef.h"

#include <string>
#include <vector>

namespace tarpon {

struct RegionOptions;

/// The key of a compiled model. `calibration` is the digest of the calibration
/// inputs; `ranges` is empty unless the dtype is int8.
PipelineKey makePipelineKey(const TuningFile::Model &model,
                            const GlobalChoice &choice,
                            const std::string &calibration,
                            const std::vector<LayerRecord> &layers,
                            const std::vector<TensorRange> &ranges);

/// Names what a run tunes: a model, on its inputs, over all that it may choose
/// and under its budget. Runs with one name differ in the time that they have.
std::string nameTuning(const TuningFile::Model &model,
                       const std::string &calibration,
                       llvm::ArrayRef<GlobalChoice> choices,
                       const RegionOptions &regions);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_PIPELINEKEY_H
