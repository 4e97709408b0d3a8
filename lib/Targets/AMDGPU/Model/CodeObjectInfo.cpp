//===- CodeObjectInfo.cpp - Reads the metadata of code objects ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The metadata is a MessagePack document in a note of the ELF file (LLVM,
// AMDGPUUsage.rst, "Code Object V5 Metadata").
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/CodeObject.h"

#include "llvm/BinaryFormat/MsgPackDocument.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"

#include <optional>

using namespace llvm;
using namespace tarpon;
using runtime::Result;

using Elf = object::ELF64LEFile;

static runtime::Error makeError(const Twine &what) {
  return runtime::Error{("not a code object of an AMD GPU: " + what).str()};
}

/// Returns the bytes of the metadata note; none if there is no such note.
static std::optional<StringRef> findMetadata(const Elf &file) {
  auto headers = file.program_headers();
  if (!headers) {
    consumeError(headers.takeError());
    return std::nullopt;
  }
  std::optional<StringRef> found;
  for (const auto &header : *headers) {
    if (header.p_type != ELF::PT_NOTE)
      continue;
    llvm::Error error = llvm::Error::success();
    for (const auto &note : file.notes(header, error))
      if (note.getName() == "AMDGPU" &&
          note.getType() == ELF::NT_AMDGPU_METADATA)
        found = note.getDescAsStringRef(header.p_align);
    if (error)
      consumeError(std::move(error));
  }
  return found;
}

static int64_t getInteger(msgpack::MapDocNode &map, StringRef key) {
  auto found = map.find(key);
  if (found == map.end())
    return 0;
  msgpack::DocNode &node = found->second;
  if (node.getKind() == msgpack::Type::UInt)
    return static_cast<int64_t>(node.getUInt());
  return node.getKind() == msgpack::Type::Int ? node.getInt() : 0;
}

static KernelResources readKernel(msgpack::MapDocNode &map) {
  KernelResources kernel;
  if (auto name = map.find(".name");
      name != map.end() && name->second.isString())
    kernel.symbol = name->second.getString().str();
  kernel.vectorRegisters = getInteger(map, ".vgpr_count");
  kernel.accumulationRegisters = getInteger(map, ".agpr_count");
  kernel.scalarRegisters = getInteger(map, ".sgpr_count");
  kernel.vectorSpills = getInteger(map, ".vgpr_spill_count");
  kernel.scalarSpills = getInteger(map, ".sgpr_spill_count");
  kernel.ldsBytes = getInteger(map, ".group_segment_fixed_size");
  kernel.privateBytes = getInteger(map, ".private_segment_fixed_size");
  kernel.argumentBytes = getInteger(map, ".kernarg_segment_size");
  kernel.workgroup = getInteger(map, ".max_flat_workgroup_size");
  kernel.waveSize = getInteger(map, ".wavefront_size");
  return kernel;
}

Result<std::vector<KernelResources>>
tarpon::readKernelResources(ArrayRef<char> codeObject) {
  auto file = Elf::create(StringRef(codeObject.data(), codeObject.size()));
  if (!file)
    return makeError(toString(file.takeError()));
  if (file->getHeader().e_machine != ELF::EM_AMDGPU)
    return makeError("it is for another machine");
  std::optional<StringRef> metadata = findMetadata(*file);
  msgpack::Document document;
  if (!metadata || !document.readFromBlob(*metadata, /*Multi=*/false) ||
      !document.getRoot().isMap())
    return makeError("it has no metadata");
  msgpack::MapDocNode &root = document.getRoot().getMap();
  auto kernels = root.find("amdhsa.kernels");
  if (kernels == root.end() || !kernels->second.isArray())
    return makeError("its metadata names no kernels");
  std::vector<KernelResources> result;
  for (msgpack::DocNode &node : kernels->second.getArray())
    if (node.isMap())
      result.push_back(readKernel(node.getMap()));
  return result;
}
