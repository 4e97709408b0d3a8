//===- UserFolder.h - Where a user's files are ------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_USERFOLDER_H
#define TARPON_RUNTIME_USERFOLDER_H

#include <string>

namespace tarpon::runtime {

/// The environment variables that name a folder of Tarpon's, the stronger one
/// first, and where it is without them.
struct UserFolder {
  /// Names the folder itself, such as TARPON_CACHE_DIR.
  const char *ownVariable;
  /// Names the folder of all programs, such as XDG_CACHE_HOME.
  const char *baseVariable;
  /// The folder of all programs below the home folder, such as ".cache".
  const char *baseFolder;

  /// Without $HOME, the home folder is that of the user database. Empty
  /// variables count as absent.
  std::string find() const;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_USERFOLDER_H
