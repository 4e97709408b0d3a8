//===- SystemStore.h - The records that Tarpon comes with -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A second journal of the same form, which is installed with Tarpon and never
// written to. What the user's journal says of a problem and a solver goes
// before what it says. Its records are not bound to the build that made them,
// as the user's are, but to the ids of solvers: kernels that make its configs
// worthless need a new id ("-v2").
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

/// The system store for a target; null if there is none. One that is damaged is
/// an error of one sentence, and nothing that a user has to stop for.
runtime::Result<std::unique_ptr<Journal>>
openSystemStore(const TargetInfo &target);

} // namespace tarpon

#endif // TARPON_AUTOTUNE_STORE_SYSTEMSTORE_H
