//===- File.h - Reads and writes whole files --------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_FILE_H
#define TARPON_RUNTIME_FILE_H

#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>

namespace tarpon::runtime {

/// A regular file open for reading. Its size is known before anything is
/// allocated for its contents. Move-only; reads may come from several threads.
class InputFile {
public:
  /// Opens `path`; an error names it and says why.
  static Result<InputFile> open(const std::string &path);
  ~InputFile();
  InputFile(InputFile &&other) noexcept;
  InputFile &operator=(InputFile &&) = delete;

  /// The size in bytes when the file was opened.
  int64_t size() const { return bytes; }

  /// Fills `destination` from byte `offset` on; an error names the file.
  Status read(int64_t offset, std::span<char> destination) const;

private:
  InputFile(std::string path, int descriptor, int64_t bytes)
      : path(std::move(path)), descriptor(descriptor), bytes(bytes) {}

  std::string path;
  int descriptor;
  int64_t bytes;
};

/// Returns true if writing one file overwrites the other: they are one file on
/// the disk, or one place where there is no file yet. Devices and pipes keep
/// nothing, and are never the same.
bool isSameFile(const std::string &a, const std::string &b);

/// Writes the pieces one after the other to a temporary file beside `path`,
/// syncs it and renames it to `path`. On failure `path` is left as it was, and
/// the error names it. Symbolic links are kept, and so is the mode of a file
/// that is replaced. An existing `path` that is no regular file is refused,
/// except for /dev/stdout and /dev/null.
Status writeFileAtomically(const std::string &path,
                           std::initializer_list<std::span<const char>> pieces);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_FILE_H
