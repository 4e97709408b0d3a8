//===- DiskErrors.h - Errors of disks in messages ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_DISKERRORS_H
#define TARPON_LIB_FLEET_DISKERRORS_H

#include "tarpon/Fleet/Job.h"

#include "llvm/ADT/StringRef.h"

namespace tarpon::fleet {

/// Returns true if the message of an error names a disk that is full, broken or
/// read-only: neither the problem nor a candidate is to blame for it, and it is
/// another matter on another machine.
bool isDiskError(llvm::StringRef message);

/// Returns the disk as the cause if the message names it, otherwise the other.
Cause getDiskCauseOr(Cause otherwise, llvm::StringRef message);

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_DISKERRORS_H
