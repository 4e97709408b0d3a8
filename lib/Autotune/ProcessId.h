//===- ProcessId.h - Names of processes that are never reused ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_PROCESSID_H
#define TARPON_LIB_AUTOTUNE_PROCESSID_H

#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

/// "boot:pid:start time" of this process.
std::string getProcessId();

/// Whether the process of that name still runs on this machine. Processes of
/// other machines count as ended.
bool isProcessAlive(llvm::StringRef id);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_PROCESSID_H
