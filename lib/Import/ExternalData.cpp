//===- ExternalData.cpp - Tensor data beside the model file -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data's place comes from the model and is not trusted: a path may not
// leave the model's folder, by dots or by a link, and a range may not exceed
// its file.
//
//===----------------------------------------------------------------------===//

#include "ExternalData.h"

#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/Twine.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"

using namespace llvm;

namespace tarpon {

namespace {
/// The entries of TensorProto.external_data.
struct Reference {
  StringRef location;
  uint64_t offset = 0;
  std::optional<uint64_t> length;
};
} // namespace

static runtime::Error error(const Twine &message) {
  return runtime::Error{message.str()};
}

static runtime::Result<Reference>
readReference(const onnx::TensorProto &tensor) {
  Reference reference;
  for (const onnx::StringStringEntryProto &entry : tensor.external_data()) {
    StringRef value = entry.value();
    uint64_t number = 0;
    bool isNumber = !value.getAsInteger(10, number);
    if (entry.key() == "location")
      reference.location = value;
    else if (entry.key() == "offset" && isNumber)
      reference.offset = number;
    else if (entry.key() == "length" && isNumber)
      reference.length = number;
    else if (entry.key() != "checksum")
      return error("external data has the invalid entry '" + entry.key() +
                   "' = '" + value + "'");
  }
  if (reference.location.empty())
    return error("external data has no location");
  return reference;
}

ExternalData::ExternalData(StringRef modelPath) {
  SmallString<256> parent(sys::path::parent_path(modelPath));
  folder = parent.empty() ? "." : parent.str().str();
}

/// Returns true if `path`, with links followed, lies below `folder`.
static bool isInside(StringRef path, StringRef folder) {
  SmallString<256> realPath, realFolder;
  if (sys::fs::real_path(path, realPath) ||
      sys::fs::real_path(folder, realFolder))
    return false;
  if (!realFolder.ends_with("/"))
    realFolder += "/";
  return realPath.starts_with(realFolder);
}

runtime::Result<StringRef> ExternalData::open(StringRef location) {
  SmallString<256> relative(location);
  sys::path::remove_dots(relative, /*remove_dot_dot=*/true);
  auto known = files.find(relative.str().str());
  if (known != files.end())
    return known->second->getBuffer();

  std::string outside =
      ("external data '" + location + "' lies outside the model's folder")
          .str();
  if (sys::path::is_absolute(relative) || relative.starts_with(".."))
    return error(outside);
  SmallString<256> path(folder);
  sys::path::append(path, relative);
  if (!sys::fs::exists(path))
    return error("external data file '" + path + "' does not exist");
  if (!isInside(path, folder))
    return error(outside);
  if (!sys::fs::is_regular_file(path))
    return error("external data '" + path + "' is not a file");
  stamps.emplace_back(path.str().str());
  auto file = MemoryBuffer::getFile(path, /*IsText=*/false,
                                    /*RequiresNullTerminator=*/false);
  if (!file)
    return error("cannot read external data file '" + path +
                 "': " + file.getError().message());
  StringRef bytes = (*file)->getBuffer();
  files.emplace(relative.str().str(), std::move(*file));
  return bytes;
}

std::optional<std::string> ExternalData::findChanged() const {
  for (const FileStamp &stamp : stamps)
    if (stamp.hasChanged())
      return stamp.getPath();
  return std::nullopt;
}

runtime::Result<StringRef> ExternalData::find(const onnx::TensorProto &tensor) {
  runtime::Result<Reference> reference = readReference(tensor);
  if (!reference)
    return reference.error();
  runtime::Result<StringRef> file = open(reference->location);
  if (!file)
    return file.error();
  uint64_t size = file->size();
  if (reference->offset > size)
    return error("external data offset " + Twine(reference->offset) +
                 " is beyond the end of '" + reference->location + "' (" +
                 Twine(size) + " bytes)");
  uint64_t length = reference->length.value_or(size - reference->offset);
  if (length > size - reference->offset)
    return error("external data of " + Twine(length) + " bytes at offset " +
                 Twine(reference->offset) + " is beyond the end of '" +
                 reference->location + "' (" + Twine(size) + " bytes)");
  return file->substr(reference->offset, length);
}

} // namespace tarpon
