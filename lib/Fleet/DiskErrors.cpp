//===- DiskErrors.cpp - Errors of disks in messages
//-------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "DiskErrors.h"

#include "llvm/ADT/STLExtras.h"

#include <cerrno>
#include <system_error>

using namespace tarpon::fleet;

/// Errors come as text from compilers, linkers and other processes, which name
/// them as the system does.
bool tarpon::fleet::isDiskError(llvm::StringRef message) {
  static constexpr int kCodes[] = {ENOSPC, EDQUOT, EIO, EROFS};
  return llvm::any_of(kCodes, [&](int code) {
    return message.contains(std::generic_category().message(code));
  });
}

Cause tarpon::fleet::getDiskCauseOr(Cause otherwise, llvm::StringRef message) {
  return isDiskError(message) ? Cause::Disk : otherwise;
}
