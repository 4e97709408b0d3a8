//===- TemporaryFile.h - A file that replaces another one -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Its writer holds a lock on it from its beginning until it has its final name.
// A temporary file without a lock was left by a process that was killed, and
// the next process that replaces the same file removes it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_TEMPORARYFILE_H
#define TARPON_RUNTIME_TEMPORARYFILE_H

#include <string>
#include <sys/types.h>

namespace tarpon::runtime {

/// A new file beside the one that it replaces. Its destructor removes it,
/// unless replaceTarget() has succeeded. Functions return 0, or the errno of a
/// failure.
class TemporaryFile {
public:
  /// `target` must be no symbolic link. Nothing happens before open().
  explicit TemporaryFile(std::string target) : target(std::move(target)) {}
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile &) = delete;
  TemporaryFile &operator=(const TemporaryFile &) = delete;

  /// Creates the file. Its name cannot be guessed; in a folder that others can
  /// write to, a file or link that somebody else has put there is never opened.
  int open(mode_t mode);

  /// The open file, which nobody else may close.
  int descriptor() const { return handle; }

  /// Renames the file to the target.
  int replaceTarget();

private:
  int create(mode_t mode);
  bool isLocked() const;

  std::string target, name;
  int handle = -1;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_TEMPORARYFILE_H
