//===- BundledPackages.cpp - The packages of a bundle as files ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundledPackages.h"

#include "Bundle/BundleManifest.h"
#include "tarpon/Runtime/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FileSystem.h"

using namespace tarpon;
using runtime::Error;
using runtime::Status;

BundledPackages::~BundledPackages() {
  (void)llvm::sys::fs::remove(getReferencePath());
  for (size_t i = 0; i < bundle.getHead().candidates.size(); ++i)
    (void)llvm::sys::fs::remove(getPath(i));
}

Status BundledPackages::writeReference() {
  return runtime::writeFileAtomically(getReferencePath(),
                                      {bundle.getReference()});
}

std::string BundledPackages::getReferencePath() const {
  return directory.file(kReferenceMember.str());
}

size_t BundledPackages::getIndex(const CandidateKey &key) const {
  const std::vector<BundledCandidate> &candidates = bundle.getHead().candidates;
  return llvm::find_if(candidates,
                       [&](const BundledCandidate &candidate) {
                         return candidate.key == key;
                       }) -
         candidates.begin();
}

const BundledCandidate &BundledPackages::find(const CandidateKey &key) const {
  return bundle.getHead().candidates[getIndex(key)];
}

std::string BundledPackages::getPath(size_t candidate) const {
  return directory.file(getPackageMember(candidate));
}

std::string BundledPackages::getPath(const CandidateKey &key) const {
  return getPath(getIndex(key));
}

Status BundledPackages::write(const CandidateKey &key) {
  const BundledCandidate &candidate = find(key);
  if (!candidate.error.empty())
    return Error{candidate.error};
  std::string path = getPath(key);
  if (llvm::sys::fs::exists(path))
    return runtime::success();
  return runtime::writeFileAtomically(path, {bundle.getPackage(getIndex(key))});
}

void BundledPackages::remove(const CandidateKey &key) {
  (void)llvm::sys::fs::remove(getPath(key));
}
