//===- KernelImage.cpp - Checks shared objects before loading -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The dynamic linker goes by segments and by the dynamic table, and by no
// section. Indirect functions are symbols of the table that it reads, or
// relocations without a symbol.
//
//===----------------------------------------------------------------------===//

#include "KernelImage.h"

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <elf.h>
#include <optional>
#include <string>
#include <vector>

namespace tarpon::runtime {

/// Reads `count` entries at `offset`; nothing if they do not lie in the image.
template <typename Entry>
static std::optional<std::vector<Entry>>
readTable(std::span<const char> image, uint64_t offset, uint64_t count) {
  if (offset > image.size() || count > (image.size() - offset) / sizeof(Entry))
    return std::nullopt;
  std::vector<Entry> entries(count);
  if (count > 0)
    std::memcpy(entries.data(), image.data() + offset, count * sizeof(Entry));
  return entries;
}

namespace {

struct ForbiddenTag {
  Elf64_Sxword tag;
  const char *why;
};

/// The parts of an image that the dynamic linker reads.
class ImageReader {
public:
  explicit ImageReader(std::span<const char> image) : image(image) {}

  Status check() {
    if (Status status = readSegments(); !status)
      return status;
    if (Status status = checkSections(); !status)
      return status;
    if (Status status = checkDynamicTable(); !status)
      return status;
    return checkIndirectFunctions();
  }

private:
  Status readSegments();
  Status checkSections() const;
  Status checkDynamicTable();
  Status checkIndirectFunctions() const;
  Status checkRelocations(Elf64_Sxword table, Elf64_Sxword bytes) const;
  Status checkSymbols() const;
  bool isIndirect(uint64_t index) const;
  std::optional<uint64_t> countHashed() const;

  std::optional<uint64_t> find(Elf64_Sxword tag) const;
  std::optional<uint64_t> findOffset(uint64_t address) const;

  std::span<const char> image;
  Elf64_Ehdr header = {};
  std::vector<Elf64_Phdr> segments;
  std::vector<Elf64_Dyn> entries;
};

} // namespace

static constexpr ForbiddenTag kForbiddenTags[] = {
    {DT_NEEDED, "they need another library"},
    {DT_INIT, "they have a constructor"},
    {DT_INIT_ARRAY, "they have constructors"},
    {DT_PREINIT_ARRAY, "they have constructors"},
    {DT_FINI, "they have a destructor"},
    {DT_FINI_ARRAY, "they have destructors"},
    {DT_AUXILIARY, "they name another library"},
    {DT_FILTER, "they name another library"},
    {DT_RPATH, "they name folders of libraries"},
    {DT_RUNPATH, "they name folders of libraries"},
    {DT_TEXTREL, "their code is relocated"},
};

static constexpr const char *kIndirect = "they have an indirect function";

static Error refuse(const std::string &why) {
  return {"its kernels are refused: " + why};
}

Status ImageReader::readSegments() {
  std::memcpy(&header, image.data(), sizeof(header));
  auto table = readTable<Elf64_Phdr>(image, header.e_phoff, header.e_phnum);
  if (!table ||
      (header.e_phnum > 0 && header.e_phentsize != sizeof(Elf64_Phdr)))
    return refuse("their segments do not lie in the file");
  segments = std::move(*table);
  uint64_t end = 0;
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_offset > image.size() ||
        segment.p_filesz > image.size() - segment.p_offset)
      return refuse("their segments do not lie in the file");
    if (segment.p_type != PT_LOAD)
      continue;
    // Where pages overlap, memory has the bytes of one of them.
    uint64_t page = segment.p_vaddr & ~uint64_t(0xfff);
    if (page < end || segment.p_vaddr + segment.p_memsz < segment.p_vaddr)
      return refuse("their segments overlap");
    end = segment.p_vaddr + segment.p_memsz;
  }
  return success();
}

/// Tools look at sections; what they see must be there.
Status ImageReader::checkSections() const {
  auto table = readTable<Elf64_Shdr>(image, header.e_shoff, header.e_shnum);
  bool isValid = table && !table->empty() &&
                 header.e_shentsize == sizeof(Elf64_Shdr) &&
                 header.e_shstrndx < header.e_shnum;
  if (isValid)
    isValid = std::ranges::all_of(*table, [&](const Elf64_Shdr &section) {
      return section.sh_type == SHT_NOBITS ||
             (section.sh_offset <= image.size() &&
              section.sh_size <= image.size() - section.sh_offset);
    });
  return isValid ? success()
                 : Status(refuse("they have no valid table of sections"));
}

Status ImageReader::checkDynamicTable() {
  for (const Elf64_Phdr &segment : segments) {
    if (segment.p_type != PT_DYNAMIC)
      continue;
    // The dynamic linker takes the table from memory, which has other bytes
    // than the file where the addresses of segments do not fit.
    if (findOffset(segment.p_vaddr) != segment.p_offset || !entries.empty())
      return refuse("their dynamic table is ambiguous");
    entries = *readTable<Elf64_Dyn>(image, segment.p_offset,
                                    segment.p_filesz / sizeof(Elf64_Dyn));
  }
  auto end = std::ranges::find(entries, DT_NULL, &Elf64_Dyn::d_tag);
  if (end == entries.end() && !entries.empty())
    return refuse("their dynamic table has no end");
  entries.erase(end, entries.end());
  for (const ForbiddenTag &forbidden : kForbiddenTags)
    if (find(forbidden.tag))
      return refuse(forbidden.why);
  return success();
}

Status ImageReader::checkIndirectFunctions() const {
  if (Status status = checkRelocations(DT_RELA, DT_RELASZ); !status)
    return status;
  if (Status status = checkRelocations(DT_JMPREL, DT_PLTRELSZ); !status)
    return status;
  return checkSymbols();
}

Status ImageReader::checkRelocations(Elf64_Sxword table,
                                     Elf64_Sxword bytes) const {
  std::optional<uint64_t> address = find(table), size = find(bytes);
  if (!address || !size || *size == 0)
    return success();
  std::optional<uint64_t> offset = findOffset(*address);
  auto list =
      offset ? readTable<Elf64_Rela>(image, *offset, *size / sizeof(Elf64_Rela))
             : std::nullopt;
  if (!list)
    return refuse("their relocations do not lie in the file");
  for (const Elf64_Rela &relocation : *list) {
    uint64_t type = ELF64_R_TYPE(relocation.r_info);
    if (type == R_X86_64_IRELATIVE || type == R_AARCH64_IRELATIVE ||
        isIndirect(ELF64_R_SYM(relocation.r_info)))
      return refuse(kIndirect);
  }
  return success();
}

/// Returns true if the symbol's value is the address of a resolver, which the
/// dynamic linker calls. So does one that cannot be read.
bool ImageReader::isIndirect(uint64_t index) const {
  std::optional<uint64_t> table = find(DT_SYMTAB);
  std::optional<uint64_t> offset =
      table ? findOffset(*table + index * sizeof(Elf64_Sym)) : std::nullopt;
  auto symbol = offset ? readTable<Elf64_Sym>(image, *offset, 1) : std::nullopt;
  return !symbol || ELF64_ST_TYPE(symbol->front().st_info) == STT_GNU_IFUNC;
}

/// Counts the symbols that a name can lead to: the largest index that a bucket
/// of the hash table begins with, and the chain from there to its end, which a
/// lowest bit marks.
std::optional<uint64_t> ImageReader::countHashed() const {
  std::optional<uint64_t> address = find(DT_GNU_HASH);
  std::optional<uint64_t> offset =
      address ? findOffset(*address) : std::nullopt;
  auto head = offset ? readTable<uint32_t>(image, *offset, 4) : std::nullopt;
  if (!head)
    return std::nullopt;
  uint64_t first = (*head)[1], filter = uint64_t((*head)[2]) * sizeof(uint64_t);
  uint64_t begin = *offset + 4 * sizeof(uint32_t) + filter;
  auto buckets = readTable<uint32_t>(image, begin, (*head)[0]);
  if (!buckets || buckets->empty())
    return std::nullopt;
  uint64_t last = std::ranges::max(*buckets);
  if (last < first)
    return first;
  uint64_t chain = begin + buckets->size() * sizeof(uint32_t);
  while (true) {
    uint64_t place = chain + (last - first) * sizeof(uint32_t);
    auto link = readTable<uint32_t>(image, place, 1);
    if (!link)
      return std::nullopt;
    ++last;
    if (link->front() & 1)
      return last;
  }
}

Status ImageReader::checkSymbols() const {
  if (entries.empty())
    return success();
  std::optional<uint64_t> count = countHashed();
  if (!count || find(DT_HASH))
    return refuse("their symbols have no GNU hash table, or another one");
  for (uint64_t index = 0; index < *count; ++index)
    if (isIndirect(index))
      return refuse(kIndirect);
  return success();
}

/// The dynamic linker takes the last of equal tags.
std::optional<uint64_t> ImageReader::find(Elf64_Sxword tag) const {
  for (auto entry = entries.rbegin(); entry != entries.rend(); ++entry)
    if (entry->d_tag == tag)
      return entry->d_un.d_val;
  return std::nullopt;
}

/// Finds the place in the file of what will be loaded at `address`.
std::optional<uint64_t> ImageReader::findOffset(uint64_t address) const {
  for (const Elf64_Phdr &segment : segments)
    if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
        address - segment.p_vaddr < segment.p_filesz)
      return segment.p_offset + (address - segment.p_vaddr);
  return std::nullopt;
}

Status validateKernelImage(std::span<const char> image) {
  return ImageReader(image).check();
}

} // namespace tarpon::runtime
