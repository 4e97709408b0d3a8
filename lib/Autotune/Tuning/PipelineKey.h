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

#include <string>
#include <vector>

namespace tarpon {

/// The key of a compiled model. `calibration` is the digest of the calibration
/// inputs; `ranges` is empty unless the dtype is int8.
PipelineKey makePipelineKey(const TuningFile::Model &model,
                            const GlobalChoice &choice,
                            const std::string &calibration,
                            const std::vector<LayerRecord> &layers,
                            const std::vector<TensorRange> &ranges);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_PIPELINEKEY_H
