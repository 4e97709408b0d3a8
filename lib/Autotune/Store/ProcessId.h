//===- ProcessId.h - Names of processes that are never reused ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_PROCESSID_H
#define TARPON_LIB_AUTOTUNE_STORE_PROCESSID_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

/// "place:pid:start time" of this process; the place is a boot of a machine and
/// a namespace of process ids.
std::string getProcessId();

/// Returns true if the process with that name is known to have ended, which it
/// is not of processes of other places.
bool isProcessGone(llvm::StringRef id);

/// Returns true if the process with that name will not end what it has begun:
/// it is gone, or nothing is known of it and what it began is old.
bool hasProcessAbandoned(llvm::StringRef id, bool isOld);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_PROCESSID_H
