//===- RecordVersion.h - Versions of records --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A record is valid for the code generator of its target, whose version is in
// its column `tarpon` ("host-codegen-1"), and for its solver, whose version is
// in the column `version`. Both are raised when their behaviour changes
// (BehaviourVersion.h). A build by GCC emits the same instructions in another
// order, and therefore has versions of its own ("host-codegen-1/gcc").
//
// Before, `tarpon` was "0.1.0+" and a digest of the sources that emit and
// compile kernels. All parts of 6d49224 and the commits after it have version
// 1, so that their digests (SourceDigests.def) stand for "host-codegen-1" and
// "gpu-codegen-1". Those of older commits have no version.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_RECORDVERSION_H
#define TARPON_LIB_AUTOTUNE_RECORDVERSION_H

#include "tarpon/Solver/TargetInfo.h"

#include <string>

struct sqlite3;

namespace tarpon {

/// The version of the target's code generator.
std::string getRecordVersion(const TargetInfo &target);

/// The versions of the passes and of the calibration, on which records of whole
/// models depend: "1.1".
std::string getPassesVersion();

/// Returns the version that a record's `tarpon` stands for if it is such a
/// digest; any other text is returned unchanged. `target` is the name in the
/// record: "gfx942:cu=304/e3b0c442".
std::string translateRecordVersion(llvm::StringRef version,
                                   llvm::StringRef llvmVersion,
                                   llvm::StringRef target);

/// Returns the name of a record's target with the version of the static model
/// that a digest of its sources stands for: "gfx942:cu=304/e3b0c442/model:
/// gpu-model-v1+03d1df5482c8" becomes ".../model:gpu-model-1". Any other name
/// is returned unchanged.
std::string translateRecordTarget(llvm::StringRef target);

/// Defines the functions record_version(tarpon, llvm, target), which is
/// translateRecordVersion, record_target(target), which is
/// translateRecordTarget, solver_version(id), which is getBehaviourVersion, and
/// are_candidates_of_this_build(candidates), which is
/// CandidateDigests::areOfThisBuild, for a connection. Returns SQLite's result
/// code.
int defineVersionFunctions(sqlite3 *database);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_RECORDVERSION_H
