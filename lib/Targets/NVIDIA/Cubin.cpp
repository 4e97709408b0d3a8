//===- Cubin.cpp - Reads assembled code of NVIDIA GPUs --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A cubin is an ELF file. Its sections .nv.info and .nv.info.KERNEL hold
// attributes, which NVIDIA does not document: a format and an attribute of a
// byte each, then a value of 16 bits, or the size of a value that follows.
// Their numbers were read off what cuobjdump --dump-elf prints, and what it
// means off ptxas --verbose (CubinTest.cpp compares both).
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Cubin.h"

#include "NvvmLowering.h"

#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/Endian.h"

#include <map>

using namespace llvm;
using namespace tarpon;
using runtime::Result;

using Elf = object::ELF64LEFile;

namespace {

enum Format : uint8_t { kSized = 4 };

enum CubinAttribute : uint8_t {
  kRequiredWorkgroup = 0x10, ///< three words
  kFrameSize = 0x11,         ///< a symbol, and bytes per lane
  kRegisterCount = 0x2f,     ///< a symbol, and registers per lane
};

/// The words of each attribute with a sized value.
using Attributes = std::map<uint8_t, SmallVector<uint32_t, 4>>;

} // namespace

static runtime::Error makeError(const Twine &what) {
  return runtime::Error{("not a cubin of NVIDIA's: " + what).str()};
}

static void readAttributes(ArrayRef<uint8_t> bytes, Attributes &attributes) {
  constexpr size_t kHead = 4;
  while (bytes.size() >= kHead) {
    uint8_t format = bytes[0], attribute = bytes[1];
    size_t size = format == kSized ? support::endian::read16le(&bytes[2]) : 0;
    bytes = bytes.drop_front(kHead);
    if (size > bytes.size())
      return;
    if (format == kSized) {
      SmallVector<uint32_t, 4> words;
      for (size_t at = 0; at + 4 <= size; at += 4)
        words.push_back(support::endian::read32le(&bytes[at]));
      attributes[attribute] = words;
    }
    bytes = bytes.drop_front(size);
  }
}

/// Word `index` of the attribute, or 0.
static int64_t getWord(const Attributes &attributes, CubinAttribute attribute,
                       size_t index) {
  auto found = attributes.find(attribute);
  return found != attributes.end() && index < found->second.size()
             ? found->second[index]
             : 0;
}

/// Calls `use` with the name and the bytes of each section that has any.
static bool forSections(
    const Elf &file,
    function_ref<void(StringRef, const Elf::Elf_Shdr &, ArrayRef<uint8_t>)>
        use) {
  auto sections = file.sections();
  if (!sections) {
    consumeError(sections.takeError());
    return false;
  }
  for (const Elf::Elf_Shdr &section : *sections) {
    auto name = file.getSectionName(section);
    if (!name) {
      consumeError(name.takeError());
      return false;
    }
    if (section.sh_type == ELF::SHT_NOBITS)
      continue;
    auto bytes = file.getSectionContents(section);
    if (!bytes) {
      consumeError(bytes.takeError());
      return false;
    }
    use(*name, section, *bytes);
  }
  return true;
}

/// The value of the constant that tells the bytes of LDS; 0 if it lies where
/// zeros do, or nowhere.
static int64_t readLdsBytes(const Elf &file) {
  int64_t value = 0;
  forSections(
      file, [&](StringRef, const Elf::Elf_Shdr &table, ArrayRef<uint8_t>) {
        if (table.sh_type != ELF::SHT_SYMTAB)
          return;
        auto symbols = file.symbols(&table);
        auto names = file.getStringTableForSymtab(table);
        if (!symbols || !names) {
          consumeError(symbols.takeError());
          consumeError(names.takeError());
          return;
        }
        for (const Elf::Elf_Sym &symbol : *symbols) {
          auto name = symbol.getName(*names);
          auto section = file.getSection(symbol.st_shndx);
          if (!name || !section) {
            consumeError(name.takeError());
            consumeError(section.takeError());
            continue;
          }
          if (*name != kLdsBytesName || (*section)->sh_type == ELF::SHT_NOBITS)
            continue;
          auto bytes = file.getSectionContents(**section);
          if (bytes && symbol.st_value + 4 <= bytes->size())
            value = support::endian::read32le(bytes->data() + symbol.st_value);
          else
            consumeError(bytes.takeError());
        }
      });
  return value;
}

Result<KernelResources> tarpon::readCubinResources(ArrayRef<char> cubin) {
  auto file = Elf::create(StringRef(cubin.data(), cubin.size()));
  if (!file)
    return makeError(toString(file.takeError()));
  if (file->getHeader().e_machine != ELF::EM_CUDA)
    return makeError("it is for another machine");
  constexpr StringLiteral kInfo = ".nv.info", kText = ".text.";
  KernelResources kernel;
  Attributes attributes;
  bool isWhole = forSections(
      *file, [&](StringRef name, const Elf::Elf_Shdr &, ArrayRef<uint8_t> b) {
        if (name.starts_with(kInfo))
          readAttributes(b, attributes);
        else if (name.starts_with(kText))
          kernel.symbol = name.drop_front(kText.size()).str();
      });
  if (!isWhole || kernel.symbol.empty())
    return makeError("it has no kernel");
  kernel.workgroup = getWord(attributes, kRequiredWorkgroup, 0);
  kernel.vectorRegisters = getWord(attributes, kRegisterCount, 1);
  kernel.privateBytes = getWord(attributes, kFrameSize, 1);
  kernel.ldsBytes = readLdsBytes(*file);
  kernel.waveSize = 32;
  if (kernel.workgroup < 1 || kernel.vectorRegisters < 1)
    return makeError("it tells neither workgroup nor registers of '" +
                     kernel.symbol + "'");
  return kernel;
}
