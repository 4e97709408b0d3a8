//===- KernelCache.cpp - Compiled kernels on disk -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One file per digest: magic, SHA-256 of the digest and the rest, the size of
// the contents, and the contents, compressed with zstd where LLVM has it. The
// digest is hashed too, so that a kernel's file under another kernel's name
// counts as damaged.
//
// A kernel runs as the user who loads it, so that whoever can write to the
// cache can run code as that user. Files and folders that anybody but this user
// and root owns or can write to are not read.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Compiler/KernelCache.h"

#include "tarpon/Runtime/Sha256.h"
#include "tarpon/Runtime/TemporaryFile.h"
#include "tarpon/Runtime/UserFolder.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Compression.h"
#include "llvm/Support/Endian.h"
#include "llvm/Support/Errc.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

using namespace llvm;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// The file format
//===----------------------------------------------------------------------===//

namespace {

/// The encoding of the contents.
enum Encoding : char { Plain = 'p', Zstd = 'z' };

constexpr StringLiteral kMagic = "tarponk2";
constexpr size_t kChecksumBytes = 32;
/// The header behind the checksum: the encoding and the size of the decoded
/// contents.
constexpr size_t kBodyHeaderBytes = 1 + sizeof(uint64_t);
constexpr size_t kHeaderBytes =
    kMagic.size() + kChecksumBytes + kBodyHeaderBytes;
/// The largest size of a kernel; keeps a forged size from exhausting memory.
constexpr uint64_t kMaxContentBytes = uint64_t(1) << 30;

} // namespace

static ArrayRef<uint8_t> asBytes(StringRef text) {
  return ArrayRef(reinterpret_cast<const uint8_t *>(text.data()), text.size());
}

static StringRef asText(ArrayRef<uint8_t> bytes) {
  return StringRef(reinterpret_cast<const char *>(bytes.data()), bytes.size());
}

static std::array<uint8_t, 32> getChecksum(StringRef digest, StringRef body) {
  return runtime::Sha256().update(digest).update(body).finish();
}

/// Encodes these contents as the file of that digest.
static std::string encode(StringRef digest, ArrayRef<char> contents) {
  StringRef stored(contents.data(), contents.size());
  SmallVector<uint8_t, 0> packed;
  Encoding encoding = Plain;
  if (compression::zstd::isAvailable()) {
    compression::zstd::compress(asBytes(stored), packed);
    stored = asText(packed);
    encoding = Zstd;
  }
  char size[sizeof(uint64_t)];
  support::endian::write64le(size, contents.size());
  std::string body(1, encoding);
  body += StringRef(size, sizeof(size));
  body += stored;
  return (kMagic + asText(getChecksum(digest, body)) + body).str();
}

/// Decodes the file of that digest; none if it is damaged.
static std::optional<std::vector<char>> decode(StringRef digest,
                                               StringRef text) {
  if (text.size() < kHeaderBytes || !text.consume_front(kMagic))
    return std::nullopt;
  StringRef checksum = text.take_front(kChecksumBytes);
  StringRef body = text.drop_front(kChecksumBytes);
  std::array<uint8_t, 32> actual = getChecksum(digest, body);
  if (std::memcmp(checksum.data(), actual.data(), kChecksumBytes) != 0)
    return std::nullopt;

  uint64_t size = support::endian::read64le(body.data() + 1);
  StringRef stored = body.drop_front(kBodyHeaderBytes);
  if (body.front() == Plain && stored.size() == size)
    return std::vector<char>(stored.begin(), stored.end());
  if (body.front() != Zstd || !compression::zstd::isAvailable() ||
      size > kMaxContentBytes)
    return std::nullopt;
  SmallVector<uint8_t, 0> contents;
  if (Error error =
          compression::zstd::decompress(asBytes(stored), contents, size)) {
    consumeError(std::move(error));
    return std::nullopt;
  }
  return std::vector<char>(contents.begin(), contents.end());
}

//===----------------------------------------------------------------------===//
// Trust
//===----------------------------------------------------------------------===//

/// Explains why code must not be read from a file or folder; "" if it may be.
static std::string findDistrust(const struct stat &info) {
  if (info.st_uid != geteuid() && info.st_uid != 0)
    return "it belongs to user " + std::to_string(info.st_uid);
  if (info.st_mode & (S_IWGRP | S_IWOTH))
    return "other users can write to it, which 'chmod go-w' ends";
  return "";
}

//===----------------------------------------------------------------------===//
// The folder
//===----------------------------------------------------------------------===//

/// The path has two levels, so that no folder holds thousands of files.
static SmallString<128> getPath(StringRef directory, StringRef digest) {
  SmallString<128> path(directory);
  sys::path::append(path, "kernels", digest.take_front(2), digest);
  return path;
}

/// 0 is success.
static std::error_code makeError(int code) {
  return {code, std::generic_category()};
}

/// Writes to a temporary name beside `path` and renames. Nothing is synced: a
/// file that a power failure cut short fails its checksum. Folders and file are
/// this user's alone, whatever the umask.
static std::error_code writeAtomically(StringRef path, StringRef text) {
  if (std::error_code error = sys::fs::create_directories(
          sys::path::parent_path(path), /*IgnoreExisting=*/true,
          sys::fs::owner_all))
    return error;
  runtime::TemporaryFile temporary(path.str());
  if (int code = temporary.open(0600))
    return makeError(code);
  raw_fd_ostream stream(temporary.descriptor(), /*shouldClose=*/false);
  stream << text;
  stream.flush();
  if (std::error_code error = stream.error()) {
    stream.clear_error();
    return error;
  }
  return makeError(temporary.replaceTarget());
}

KernelCache::KernelCache(std::string directory)
    : directory(std::move(directory)) {}

std::string KernelCache::defaultDirectory() {
  return runtime::UserFolder{"TARPON_CACHE_DIR", "XDG_CACHE_HOME", ".cache"}
      .find();
}

bool KernelCache::isTrusted() const {
  struct stat info;
  // A folder that does not exist yet will be this user's.
  if (stat(directory.c_str(), &info) != 0)
    return true;
  return !reportDistrust(directory, findDistrust(info));
}

bool KernelCache::reportDistrust(StringRef path,
                                 const std::string &reason) const {
  if (reason.empty())
    return false;
  if (!reportedDistrust.exchange(true))
    errs() << "remark: no kernels are kept in or taken from '" << path
           << "', as others could run code by it: " << reason << "\n";
  return true;
}

std::optional<std::vector<char>>
KernelCache::read(const std::string &digest) const {
  if (!isTrusted())
    return std::nullopt;
  SmallString<128> path = getPath(directory, digest);
  // Non-blocking, so that a pipe is refused instead of waited for.
  int descriptor =
      open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (descriptor < 0)
    return std::nullopt;
  auto closer = make_scope_exit([&] { close(descriptor); });
  struct stat info;
  if (fstat(descriptor, &info) != 0 || !S_ISREG(info.st_mode) ||
      reportDistrust(path, findDistrust(info)))
    return std::nullopt;
  ErrorOr<std::unique_ptr<MemoryBuffer>> file = MemoryBuffer::getOpenFile(
      descriptor, path, info.st_size, /*RequiresNullTerminator=*/false,
      /*IsVolatile=*/true);
  if (!file)
    return std::nullopt;
  return decode(digest, (*file)->getBuffer());
}

void KernelCache::write(const std::string &digest,
                        const std::vector<char> &bytes) {
  if (!isTrusted())
    return;
  std::error_code error =
      writeAtomically(getPath(directory, digest), encode(digest, bytes));
  if (!error || reportedFailure.exchange(true))
    return;
  errs() << "remark: cannot write to the kernel cache '" << directory
         << "': " << error.message() << "\n";
}
