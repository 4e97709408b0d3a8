//===- ExportKernels.cpp - Exports a precompiled kernel cache -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CacheFolder.h"

#include "tarpon/Runtime/File.h"
#include "tarpon/Targets/Cache/LayeredKernelCache.h"

#include "llvm/Support/MemoryBuffer.h"

using namespace tarpon;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// Copies one file unchanged.
static Result<int64_t> copyKernel(const std::string &from,
                                  const std::string &to) {
  auto file = llvm::MemoryBuffer::getFile(from, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false,
                                          /*IsVolatile=*/true);
  if (!file)
    return Error{"cannot read " + from + ": " + file.getError().message()};
  llvm::StringRef folder = llvm::sys::path::parent_path(to);
  // The mode is set whatever the umask: files that a group may write to are not
  // trusted.
  const auto fileMode = llvm::sys::fs::all_read | llvm::sys::fs::owner_write;
  if (std::error_code error = llvm::sys::fs::create_directories(
          folder, /*IgnoreExisting=*/true, fileMode | llvm::sys::fs::all_exe))
    return Error{"cannot create folder " + folder.str() + ": " +
                 error.message()};
  llvm::StringRef text = (*file)->getBuffer();
  if (Status status = runtime::writeFileAtomically(to, {text}); !status)
    return status.error();
  if (std::error_code error = llvm::sys::fs::setPermissions(to, fileMode))
    return Error{"cannot set the mode of " + to + ": " + error.message()};
  return static_cast<int64_t>(text.size());
}

Result<ExportedKernels> tarpon::exportKernels(const TargetInfo &target,
                                              const std::string &directory,
                                              const std::string &output) {
  std::string name = getKernelFolderName(target);
  std::string from = directory + "/" + name, to = output + "/" + name;
  KernelCache cache(from);
  ExportedKernels summary;
  Status status = runtime::success();
  visitKernelFiles(from, [&](const std::string &path, llvm::StringRef digest) {
    if (!status || !isKernelDigest(digest))
      return;
    // Reading it checks its checksum.
    if (!cache.read(digest.str())) {
      ++summary.damaged;
      return;
    }
    Result<int64_t> bytes = copyKernel(path, getKernelPath(to, digest));
    if (!bytes) {
      status = bytes.error();
      return;
    }
    ++summary.kernels;
    summary.bytes += *bytes;
  });
  if (!status)
    return status.error();
  if (summary.kernels == 0)
    return Error{"there are no kernels of this build for " + target.name() +
                 " in the kernel cache " + directory};
  return summary;
}
