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

/// Return true if the process with that name is known to run, or known to have
/// ended. Both are false for processes of other places.
bool isProcessAlive(llvm::StringRef id);
bool isProcessGone(llvm::StringRef id);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_PROCESSID_H
