//===- RecordVersion.h - What records are valid for -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record is valid for what was measured: the code generator of its target,
// whose version its column `tarpon` holds ("host-codegen-1"), and its solver,
// whose version the column `version` holds. Both are raised when what they do
// changes (BehaviourVersion.h).
//
// Before, `tarpon` was "0.1.0+" and a digest of the sources that emit and
// compile kernels. What 6d49224 and the commits after it do is version 1 of
// everything, so that their digests stand for "host-codegen-1" and
// "gpu-codegen-1". Those of older commits stand for nothing.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_RECORDVERSION_H
#define TARPON_LIB_AUTOTUNE_RECORDVERSION_H

#include "tarpon/Solver/GpuTarget.h"

#include <string>

struct sqlite3;

namespace tarpon {

/// The version of what compiles kernels for the target.
std::string getRecordVersion(const TargetInfo &target);

/// What such a text stands for on a target; any other text is returned as it
/// is. `target` is the name in a record: "gfx942:cu=304/e3b0c442".
std::string translateRecordVersion(llvm::StringRef version,
                                   llvm::StringRef target);

/// Whether it is such a text in a package for this GPU.
bool isFirstGpuVersion(llvm::StringRef version, const GpuTarget &gpu);

/// Defines the functions record_version(tarpon, target), which is
/// translateRecordVersion, and solver_version(id), which is
/// getBehaviourVersion, for a connection. Returns SQLite's result code.
int defineVersionFunctions(sqlite3 *database);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_RECORDVERSION_H
