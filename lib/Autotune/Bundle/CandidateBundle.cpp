//===- CandidateBundle.cpp - Compiled candidates in a file ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Bundle/CandidateBundle.h"

#include "Bundle/BundleFile.h"
#include "Bundle/BundleManifest.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/ArchiveWriter.h"
#include "llvm/Support/raw_ostream.h"

using namespace tarpon;
using runtime::Result;
using runtime::Status;

static llvm::NewArchiveMember makeMember(llvm::StringRef bytes,
                                         llvm::StringRef name) {
  return llvm::NewArchiveMember(llvm::MemoryBufferRef(bytes, name));
}

/// A stream with an error that nobody has asked for ends the process.
static llvm::Error flush(llvm::raw_fd_ostream &os) {
  os.flush();
  std::error_code error = os.error();
  os.clear_error();
  return llvm::errorCodeToError(error);
}

Status tarpon::writeBundle(const CandidateBundle &bundle,
                           const std::string &path) {
  std::string manifest = printManifest(bundle);
  std::vector<std::string> names;
  for (size_t i = 0; i < bundle.candidates.size(); ++i)
    names.push_back(getPackageMember(i));
  std::vector<llvm::NewArchiveMember> members;
  members.push_back(makeMember(manifest, kManifestMember));
  members.push_back(makeMember(bundle.reference, kReferenceMember));
  for (auto [name, candidate] : llvm::zip_equal(names, bundle.candidates))
    if (candidate.error.empty())
      members.push_back(makeMember(candidate.package, name));
  llvm::Error error =
      llvm::writeToOutput(path, [&](llvm::raw_ostream &os) -> llvm::Error {
        llvm::Error written = llvm::writeArchiveToStream(
            os, members, llvm::SymtabWritingMode::NoSymtab,
            llvm::object::Archive::K_GNU, /*Deterministic=*/true,
            /*Thin=*/false);
        return llvm::joinErrors(std::move(written),
                                flush(static_cast<llvm::raw_fd_ostream &>(os)));
      });
  if (!error)
    return runtime::success();
  return runtime::Error{"cannot write '" + path +
                        "': " + llvm::toString(std::move(error))};
}

Result<CandidateBundle> tarpon::readBundle(const std::string &path) {
  Result<BundleFile> file = BundleFile::open(path);
  if (!file)
    return file.error();
  CandidateBundle bundle = file->getHead();
  bundle.reference = file->getReference().str();
  for (auto [index, candidate] : llvm::enumerate(bundle.candidates))
    candidate.package = file->getPackage(index).str();
  return bundle;
}
