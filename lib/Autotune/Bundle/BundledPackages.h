//===- BundledPackages.h - The packages of a bundle as files ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEDPACKAGES_H
#define TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEDPACKAGES_H

#include "Bundle/BundleFile.h"
#include "Search/TempDirectory.h"

#include <cstddef>
#include <string>

namespace tarpon {

/// Writes the packages of a bundle to files, from which they are run. The files
/// end with the object.
class BundledPackages {
public:
  /// Both must outlive the object.
  BundledPackages(const BundleFile &bundle, const TempDirectory &directory)
      : bundle(bundle), directory(directory) {}
  ~BundledPackages();
  BundledPackages(const BundledPackages &) = delete;
  BundledPackages &operator=(const BundledPackages &) = delete;

  runtime::Status writeReference();
  std::string getReferencePath() const;

  /// The bundle has this candidate.
  const BundledCandidate &find(const CandidateKey &key) const;
  /// Writes the package of a candidate unless it is there. The error is the
  /// candidate's fault if it could not be compiled.
  runtime::Status write(const CandidateKey &key);
  std::string getPath(const CandidateKey &key) const;
  void remove(const CandidateKey &key);

private:
  size_t getIndex(const CandidateKey &key) const;
  std::string getPath(size_t candidate) const;

  const BundleFile &bundle;
  const TempDirectory &directory;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_BUNDLE_BUNDLEDPACKAGES_H
