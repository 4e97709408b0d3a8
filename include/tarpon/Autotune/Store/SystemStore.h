//===- SystemStore.h - The records shipped with Tarpon ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second journal of the same form, which is installed with Tarpon and never
// written to. For the same problem and solver, the user's journal takes
// precedence. Its records are bound to the ids of solvers and not, like the
// user's, to the build that made them: kernels that make its configs worthless
// need a new id ("-v2").
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_STORE_SYSTEMSTORE_H
#define TARPON_AUTOTUNE_STORE_SYSTEMSTORE_H

#include "tarpon/Autotune/Store/Journal.h"

#include <memory>
#include <string>

namespace tarpon {

/// $TARPON_SYSTEM_DB_PATH, else share/tarpon beside the folder of this program.
std::string getSystemStoreDirectory();

/// Opens the system store of a target; null if there is none. A damaged store
/// is an error of one sentence, for which no program has to stop.
runtime::Result<std::unique_ptr<Journal>>
openSystemStore(const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_SYSTEMSTORE_H
