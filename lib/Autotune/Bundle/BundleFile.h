//===- BundleFile.h - The archive of a bundle -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEFILE_H
#define TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEFILE_H

#include "tarpon/Autotune/Bundle/CandidateBundle.h"

#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"

#include <memory>

namespace tarpon {

/// A bundle whose file is in memory, and whose packages are not copied.
class BundleFile {
public:
  static runtime::Result<BundleFile> open(const std::string &path);

  /// The bundle, but for the bytes of its packages.
  const CandidateBundle &getHead() const { return head; }
  llvm::StringRef getReference() const;
  /// Empty if the candidate cannot be compiled.
  llvm::StringRef getPackage(size_t candidate) const;

private:
  runtime::Status readMembers();
  runtime::Status readHead();
  runtime::Status checkMembers() const;

  std::unique_ptr<llvm::MemoryBuffer> buffer;
  llvm::StringMap<llvm::StringRef> members;
  CandidateBundle head;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEFILE_H
