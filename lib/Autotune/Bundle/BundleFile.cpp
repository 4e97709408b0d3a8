//===- BundleFile.cpp - The archive of a bundle ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Bundle/BundleFile.h"

#include "Bundle/BundleManifest.h"
#include "tarpon/Runtime/File.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Object/Archive.h"

#include <utility>

using namespace tarpon;
using llvm::object::Archive;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// The file is read and not mapped: one that is cut short while it is mapped
/// would end this process.
static Result<std::unique_ptr<llvm::MemoryBuffer>>
readFile(const std::string &path) {
  Result<runtime::InputFile> file = runtime::InputFile::open(path);
  if (!file)
    return file.error();
  auto size = static_cast<size_t>(file->size());
  std::unique_ptr<llvm::WritableMemoryBuffer> buffer =
      llvm::WritableMemoryBuffer::getNewUninitMemBuffer(size);
  if (!buffer)
    return Error{"there is no memory for '" + path + "'"};
  if (Status status =
          file->read(0, {buffer->getBufferStart(), buffer->getBufferSize()});
      !status)
    return status.error();
  return std::unique_ptr<llvm::MemoryBuffer>(std::move(buffer));
}

/// The magic number excludes thin archives, whose members would be read from
/// whatever files they name.
Status BundleFile::readMembers() {
  auto archive = Archive::create(buffer->getMemBufferRef());
  if (!archive)
    return Error{llvm::toString(archive.takeError())};
  llvm::Error fault = llvm::Error::success();
  std::string repeated;
  for (const Archive::Child &child : (*archive)->children(fault)) {
    llvm::Expected<llvm::StringRef> name = child.getName();
    llvm::Expected<llvm::StringRef> bytes = child.getBuffer();
    if (!name || !bytes) {
      llvm::Error both = llvm::joinErrors(name.takeError(), bytes.takeError());
      llvm::consumeError(std::move(fault));
      return Error{llvm::toString(std::move(both))};
    }
    if (!members.try_emplace(*name, *bytes).second)
      repeated = name->str();
  }
  if (fault)
    return Error{llvm::toString(std::move(fault))};
  if (!repeated.empty())
    return Error{"the member '" + repeated + "' is there twice"};
  return runtime::success();
}

Status BundleFile::readHead() {
  auto manifest = members.find(kManifestMember);
  if (manifest == members.end())
    return Error{"there is no " + kManifestMember.str()};
  Result<CandidateBundle> parsed = parseManifest(manifest->second);
  if (!parsed)
    return Error{kManifestMember.str() + ": " + parsed.message()};
  head = std::move(*parsed);
  return runtime::success();
}

/// Every package is there, and nothing else.
Status BundleFile::checkMembers() const {
  if (getReference().empty())
    return Error{"there is no " + kReferenceMember.str()};
  size_t expected = 2;
  for (auto [index, candidate] : llvm::enumerate(head.candidates)) {
    bool hasPackage = !getPackage(index).empty();
    if (candidate.error.empty() != hasPackage)
      return Error{getPackageMember(index) +
                   (hasPackage ? " is there, although it could not be compiled"
                               : " is missing")};
    expected += hasPackage ? 1 : 0;
  }
  if (members.size() != expected)
    return Error{"there are members that no candidate has"};
  return runtime::success();
}

llvm::StringRef BundleFile::getReference() const {
  return members.lookup(kReferenceMember);
}

llvm::StringRef BundleFile::getPackage(size_t candidate) const {
  return members.lookup(getPackageMember(candidate));
}

Result<BundleFile> BundleFile::open(const std::string &path) {
  BundleFile file;
  auto buffer = readFile(path);
  if (!buffer)
    return buffer.error();
  file.buffer = std::move(*buffer);
  if (!file.buffer->getBuffer().starts_with(llvm::object::ArchiveMagic))
    return Error{"'" + path + "' is not a bundle of candidates"};
  Status status = file.readMembers();
  if (status)
    status = file.readHead();
  if (status)
    status = file.checkMembers();
  if (!status)
    return Error{"bundle '" + path + "' is damaged: " + status.message()};
  return file;
}
