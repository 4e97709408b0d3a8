//===- Disassembly.cpp - Reads the instructions of a kernel ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Disassembly.h"

#include "llvm/ADT/STLExtras.h"
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
#include "llvm/Object/ObjectFile.h"
#include "llvm/Support/TargetSelect.h"
#include "llvm/TargetParser/Host.h"

#include <algorithm>
#include <map>

// Not all of llvm, which has loops and instructions of its own.
using namespace tarpon;
using namespace tarpon::test;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

namespace {
/// LLVM's decoder for this architecture.
class Decoder {
public:
  Decoder() : triple(llvm::sys::getDefaultTargetTriple()) {
    llvm::InitializeNativeTarget();
    llvm::InitializeNativeTargetAsmPrinter();
    llvm::InitializeNativeTargetDisassembler();
    std::string error;
    const llvm::Target *target =
        llvm::TargetRegistry::lookupTarget(triple, error);
    registers.reset(target->createMCRegInfo(triple));
    syntax.reset(target->createMCAsmInfo(*registers, triple, options));
    instructions.reset(target->createMCInstrInfo());
    subtarget.reset(target->createMCSubtargetInfo(triple, "", ""));
    context = std::make_unique<llvm::MCContext>(
        triple, syntax.get(), registers.get(), subtarget.get());
    decoder.reset(target->createMCDisassembler(*subtarget, *context));
    analysis.reset(target->createMCInstrAnalysis(instructions.get()));
    printer.reset(target->createMCInstPrinter(
        triple, /*SyntaxVariant=*/0, *syntax, *instructions, *registers));
  }

  /// Appends the instructions of a section.
  bool decode(StringRef bytes, uint64_t base, std::vector<Instruction> &code) {
    llvm::ArrayRef<uint8_t> rest(
        reinterpret_cast<const uint8_t *>(bytes.data()), bytes.size());
    for (uint64_t address = base; !rest.empty();) {
      llvm::MCInst inst;
      uint64_t size = 0;
      if (decoder->getInstruction(inst, size, rest, address, llvm::nulls()) !=
          llvm::MCDisassembler::Success)
        return false;
      code.push_back(describe(inst, address, size));
      address += size;
      rest = rest.drop_front(size);
    }
    return true;
  }

private:
  Instruction describe(const llvm::MCInst &inst, uint64_t address,
                       uint64_t size) {
    Instruction result;
    result.address = address;
    llvm::raw_string_ostream os(result.text);
    printer->printInst(&inst, address, "", *subtarget, os);
    std::replace(result.text.begin(), result.text.end(), '\t', ' ');
    result.text = StringRef(result.text).trim().str();
    uint64_t target = 0;
    if (analysis->isBranch(inst) &&
        analysis->evaluateBranch(inst, address, size, target))
      result.target = target;
    return result;
  }

  llvm::Triple triple;
  llvm::MCTargetOptions options;
  std::unique_ptr<llvm::MCRegisterInfo> registers;
  std::unique_ptr<llvm::MCAsmInfo> syntax;
  std::unique_ptr<llvm::MCInstrInfo> instructions;
  std::unique_ptr<llvm::MCSubtargetInfo> subtarget;
  std::unique_ptr<llvm::MCContext> context;
  std::unique_ptr<llvm::MCDisassembler> decoder;
  std::unique_ptr<llvm::MCInstrAnalysis> analysis;
  std::unique_ptr<llvm::MCInstPrinter> printer;
};
} // namespace

Result<std::vector<Instruction>>
test::disassemble(const std::vector<char> &object) {
  llvm::MemoryBufferRef buffer({object.data(), object.size()}, "kernel");
  auto file = llvm::object::ObjectFile::createObjectFile(buffer);
  if (!file)
    return Error{llvm::toString(file.takeError())};
  Decoder decoder;
  std::vector<Instruction> code;
  for (const llvm::object::SectionRef &section : (*file)->sections()) {
    if (!section.isText() || section.getSize() == 0)
      continue;
    if (!code.empty())
      return Error{"the object has code in more than one section"};
    llvm::Expected<StringRef> contents = section.getContents();
    if (!contents)
      return Error{llvm::toString(contents.takeError())};
    if (!decoder.decode(*contents, section.getAddress(), code))
      return Error{"an instruction behind '" +
                   (code.empty() ? "" : code.back().text) +
                   "' cannot be decoded"};
  }
  if (code.empty())
    return Error{"the object has no code"};
  return code;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

std::vector<Loop>
test::findInnermostLoops(const std::vector<Instruction> &code) {
  // Several jumps to one place are one loop, up to the last of them.
  std::map<uint64_t, uint64_t> ends;
  for (const Instruction &instruction : code)
    if (instruction.target && *instruction.target <= instruction.address)
      ends[*instruction.target] = instruction.address;
  std::vector<Loop> innermost;
  for (auto [begin, end] : ends) {
    bool holdsOther =
        llvm::any_of(ends, [&, begin = begin, end = end](auto other) {
          return other.first > begin && other.second <= end;
        });
    if (!holdsOther)
      innermost.push_back({begin, end});
  }
  return innermost;
}

/// Whether rbp holds the frame and not just any value.
static bool hasFramePointer(const std::vector<Instruction> &code) {
  return llvm::any_of(code, [](const Instruction &instruction) {
    return instruction.text == "movq %rsp, %rbp";
  });
}

static bool movesVector(StringRef text) {
  return text.contains("%xmm") || text.contains("%ymm") ||
         text.contains("%zmm");
}

std::vector<Instruction>
test::findInnerLoopSpills(const std::vector<Instruction> &code) {
  bool framePointer = hasFramePointer(code);
  auto onStack = [&](StringRef text) {
    return text.contains("(%rsp") || (framePointer && text.contains("(%rbp"));
  };
  std::vector<Loop> loops = findInnermostLoops(code);
  std::vector<Instruction> spills;
  for (const Instruction &instruction : code) {
    bool inLoop = llvm::any_of(loops, [&](const Loop &loop) {
      return loop.begin <= instruction.address &&
             instruction.address <= loop.end;
    });
    if (inLoop && movesVector(instruction.text) && onStack(instruction.text))
      spills.push_back(instruction);
  }
  return spills;
}
