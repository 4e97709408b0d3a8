//===- Disassembler.cpp - Disassembles code objects -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/MC/MCAsmInfo.h"
#include "llvm/MC/MCContext.h"
#include "llvm/MC/MCDisassembler/MCDisassembler.h"
#include "llvm/MC/MCInst.h"
#include "llvm/MC/MCInstPrinter.h"
#include "llvm/MC/MCInstrAnalysis.h"
#include "llvm/MC/MCInstrInfo.h"
#include "llvm/MC/MCRegisterInfo.h"
#include "llvm/MC/MCSubtargetInfo.h"
#include "llvm/MC/MCTargetOptions.h"
#include "llvm/MC/TargetRegistry.h"
#include "llvm/Object/ELFObjectFile.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/raw_ostream.h"

#include <mutex>
#include <set>

extern "C" {
void LLVMInitializeAMDGPUTargetInfo(void);
void LLVMInitializeAMDGPUTargetMC(void);
void LLVMInitializeAMDGPUDisassembler(void);
}

using namespace llvm;
using namespace tarpon;
using runtime::Result;

static runtime::Error makeError(const Twine &what) {
  return runtime::Error{
      ("a code object cannot be disassembled: " + what).str()};
}

namespace {

/// The bytes of a kernel, and their address.
struct KernelBytes {
  ArrayRef<uint8_t> bytes;
  uint64_t address;
};

/// LLVM's classes for one processor.
class Tools {
public:
  explicit Tools(const std::string &chip);

  bool isUsable() const { return disassembler != nullptr; }
  std::string print(const KernelBytes &kernel);

private:
  struct Decoded {
    uint64_t address, size;
    MCInst instruction;
  };
  std::vector<Decoded> decode(const KernelBytes &kernel) const;
  std::optional<uint64_t> getTarget(const Decoded &decoded) const;

  Triple triple;
  std::unique_ptr<MCRegisterInfo> registers;
  std::unique_ptr<MCAsmInfo> assembly;
  std::unique_ptr<MCInstrInfo> instructions;
  std::unique_ptr<MCSubtargetInfo> subtarget;
  std::unique_ptr<MCContext> context;
  std::unique_ptr<MCDisassembler> disassembler;
  std::unique_ptr<MCInstPrinter> printer;
  std::unique_ptr<MCInstrAnalysis> analysis;
};

} // namespace

Tools::Tools(const std::string &chip) : triple("amdgcn-amd-amdhsa") {
  static std::once_flag once;
  std::call_once(once, [] {
    LLVMInitializeAMDGPUTargetInfo();
    LLVMInitializeAMDGPUTargetMC();
    LLVMInitializeAMDGPUDisassembler();
  });
  std::string error;
  const Target *target = TargetRegistry::lookupTarget(triple, error);
  if (!target)
    return;
  registers.reset(target->createMCRegInfo(triple));
  assembly.reset(target->createMCAsmInfo(*registers, triple, {}));
  instructions.reset(target->createMCInstrInfo());
  subtarget.reset(target->createMCSubtargetInfo(triple, chip, ""));
  context = std::make_unique<MCContext>(triple, assembly.get(), registers.get(),
                                        subtarget.get());
  disassembler.reset(target->createMCDisassembler(*subtarget, *context));
  printer.reset(
      target->createMCInstPrinter(triple, assembly->getAssemblerDialect(),
                                  *assembly, *instructions, *registers));
  analysis.reset(target->createMCInstrAnalysis(instructions.get()));
}

std::vector<Tools::Decoded> Tools::decode(const KernelBytes &kernel) const {
  std::vector<Decoded> list;
  for (uint64_t at = 0; at < kernel.bytes.size();) {
    Decoded decoded{kernel.address + at, 0, {}};
    bool isKnown =
        disassembler->getInstruction(decoded.instruction, decoded.size,
                                     kernel.bytes.slice(at), decoded.address,
                                     nulls()) == MCDisassembler::Success;
    // A word that is no instruction is padding.
    at += isKnown && decoded.size > 0 ? decoded.size : 4;
    if (isKnown)
      list.push_back(std::move(decoded));
  }
  return list;
}

std::optional<uint64_t> Tools::getTarget(const Decoded &decoded) const {
  uint64_t target = 0;
  if (analysis->isBranch(decoded.instruction) &&
      analysis->evaluateBranch(decoded.instruction, decoded.address,
                               decoded.size, target))
    return target;
  return std::nullopt;
}

std::string Tools::print(const KernelBytes &kernel) {
  std::vector<Decoded> list = decode(kernel);
  std::set<uint64_t> targets;
  for (const Decoded &decoded : list)
    if (std::optional<uint64_t> target = getTarget(decoded))
      targets.insert(*target);
  std::string text;
  raw_string_ostream os(text);
  auto getLabel = [](uint64_t address) { return "L" + utohexstr(address); };
  for (const Decoded &decoded : list) {
    if (targets.count(decoded.address))
      os << getLabel(decoded.address) << ":\n";
    std::string line;
    raw_string_ostream stream(line);
    printer->printInst(&decoded.instruction, decoded.address, "", *subtarget,
                       stream);
    if (std::optional<uint64_t> target = getTarget(decoded))
      os << "\t" << StringRef(line).trim().split(' ').first << " "
         << getLabel(*target) << "\n";
    else
      os << "\t" << StringRef(line).trim() << "\n";
  }
  return text;
}

/// Finds the symbol's bytes in its section.
static Result<KernelBytes> findKernel(const object::ELF64LEObjectFile &file,
                                      StringRef symbol) {
  for (const object::ELFSymbolRef &candidate :
       file.getDynamicSymbolIterators()) {
    Expected<StringRef> name = candidate.getName();
    if (!name) {
      consumeError(name.takeError());
      continue;
    }
    if (*name != symbol || candidate.getELFType() != ELF::STT_FUNC)
      continue;
    Expected<uint64_t> address = candidate.getAddress();
    auto section = candidate.getSection();
    if (!address || !section || *section == file.section_end()) {
      if (!address)
        consumeError(address.takeError());
      if (!section)
        consumeError(section.takeError());
      return makeError("'" + symbol + "' has no code");
    }
    Expected<StringRef> contents = (*section)->getContents();
    if (!contents)
      return makeError(toString(contents.takeError()));
    uint64_t offset = *address - (*section)->getAddress();
    if (offset + candidate.getSize() > contents->size())
      return makeError("'" + symbol + "' ends behind its section");
    StringRef bytes = contents->substr(offset, candidate.getSize());
    return KernelBytes{arrayRefFromStringRef(bytes), *address};
  }
  return makeError("it has no kernel '" + symbol + "'");
}

Result<std::string> tarpon::disassembleKernel(ArrayRef<char> codeObject,
                                              StringRef symbol,
                                              const GpuTarget &gpu) {
  MemoryBufferRef buffer(StringRef(codeObject.data(), codeObject.size()),
                         "code object");
  auto file = object::ELF64LEObjectFile::create(buffer);
  if (!file)
    return makeError(toString(file.takeError()));
  Result<KernelBytes> kernel = findKernel(*file, symbol);
  if (!kernel)
    return kernel.error();
  Tools tools(gpu.chip);
  if (!tools.isUsable())
    return makeError("LLVM has no disassembler for " + gpu.chip);
  return tools.print(*kernel);
}
