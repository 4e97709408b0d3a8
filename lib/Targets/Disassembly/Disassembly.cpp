//===- Disassembly.cpp - Reads the instructions of a kernel ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Disassembly/Disassembly.h"

#include "llvm/ADT/BitVector.h"
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
#include <set>

// Not all of llvm, which has loops and instructions of its own.
using namespace tarpon;
using llvm::ArrayRef;
using llvm::StringRef;
using StringRefs = std::initializer_list<StringRef>;
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
tarpon::disassemble(const std::vector<char> &object) {
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
// Control flow
//===----------------------------------------------------------------------===//

namespace {
/// The instructions [begin, end) and the blocks that may follow.
struct Block {
  size_t begin, end;
  std::vector<size_t> successors, predecessors;
};

class FlowGraph {
public:
  explicit FlowGraph(const std::vector<Instruction> &code);

  /// By header: the blocks of each natural loop.
  std::map<size_t, std::set<size_t>> findLoops() const;
  const Block &operator[](size_t index) const { return blocks[index]; }

private:
  static bool endsFlow(const Instruction &instruction) {
    StringRef text = instruction.text;
    return text.starts_with("jmp") || text.starts_with("ret");
  }
  void cutUnreachable();
  void findDominators();

  std::vector<Block> blocks;
  /// The blocks that all ways to a block go through, itself included.
  std::vector<llvm::BitVector> dominators;
};
} // namespace

FlowGraph::FlowGraph(const std::vector<Instruction> &code) {
  std::map<uint64_t, size_t> byAddress;
  for (size_t i = 0; i < code.size(); ++i)
    byAddress[code[i].address] = i;
  std::set<size_t> leaders = {0};
  for (size_t i = 0; i < code.size(); ++i) {
    if (code[i].target && byAddress.count(*code[i].target))
      leaders.insert(byAddress[*code[i].target]);
    if (code[i].target || endsFlow(code[i]))
      leaders.insert(i + 1);
  }
  leaders.erase(code.size());
  std::map<size_t, size_t> byLeader;
  for (size_t leader : leaders) {
    byLeader[leader] = blocks.size();
    if (!blocks.empty())
      blocks.back().end = leader;
    blocks.push_back({leader, code.size(), {}, {}});
  }
  for (size_t i = 0; i < blocks.size(); ++i) {
    const Instruction &last = code[blocks[i].end - 1];
    if (last.target && byAddress.count(*last.target))
      blocks[i].successors.push_back(byLeader[byAddress[*last.target]]);
    if (!endsFlow(last) && i + 1 < blocks.size())
      blocks[i].successors.push_back(i + 1);
  }
  cutUnreachable();
  for (size_t i = 0; i < blocks.size(); ++i)
    for (size_t next : blocks[i].successors)
      blocks[next].predecessors.push_back(i);
  findDominators();
}

/// Removes the ways out of blocks that nothing reaches: the padding behind a
/// jump, which falls through to an aligned block, would count as the tail of a
/// loop, as every block dominates it.
void FlowGraph::cutUnreachable() {
  llvm::BitVector reached(blocks.size());
  std::vector<size_t> open = {0};
  while (!open.empty()) {
    size_t block = open.back();
    open.pop_back();
    if (reached.test(block))
      continue;
    reached.set(block);
    llvm::append_range(open, blocks[block].successors);
  }
  for (size_t i = 0; i < blocks.size(); ++i)
    if (!reached.test(i))
      blocks[i].successors.clear();
}

void FlowGraph::findDominators() {
  dominators.assign(blocks.size(), llvm::BitVector(blocks.size(), true));
  dominators[0].reset();
  dominators[0].set(0);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 1; i < blocks.size(); ++i) {
      llvm::BitVector common(blocks.size(), true);
      for (size_t previous : blocks[i].predecessors)
        common &= dominators[previous];
      common.set(i);
      if (common == dominators[i])
        continue;
      dominators[i] = common;
      changed = true;
    }
  }
}

std::map<size_t, std::set<size_t>> FlowGraph::findLoops() const {
  std::map<size_t, std::set<size_t>> loops;
  for (size_t tail = 0; tail < blocks.size(); ++tail)
    for (size_t header : blocks[tail].successors) {
      // A jump back to what need not have been passed makes no loop.
      if (!dominators[tail].test(header))
        continue;
      std::set<size_t> &body = loops[header];
      body.insert(header);
      std::vector<size_t> open = {tail};
      while (!open.empty()) {
        size_t block = open.back();
        open.pop_back();
        if (body.insert(block).second)
          llvm::append_range(open, blocks[block].predecessors);
      }
    }
  return loops;
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Returns true if rbp holds the frame, and not another value.
static bool hasFramePointer(const std::vector<Instruction> &code) {
  return llvm::any_of(code, [](const Instruction &instruction) {
    return instruction.text == "movq %rsp, %rbp";
  });
}

static bool isSpill(StringRef text, bool framePointer) {
  bool movesVector = text.contains("%xmm") || text.contains("%ymm") ||
                     text.contains("%zmm") || text.contains("%tmm");
  return movesVector &&
         (text.contains("(%rsp") || (framePointer && text.contains("(%rbp")));
}

/// The text without the prefix that tells apart two encodings of an
/// instruction.
static StringRef skipEncoding(StringRef text) {
  text.consume_front("{vex}");
  return text.ltrim();
}

/// Finds the instruction of the kernel's main loop: epilogues multiply too, but
/// with floats in kernels for bytes. A CPU without fused multiply-add has only
/// mulps for products; one that has it uses vmulps for scales only.
static StringRef findMultiplication(const std::vector<Instruction> &code) {
  for (StringRef mnemonic :
       {"tdp", "vpdp", "vdpbf16ps", "vpmadd", "pmadd", "vfmadd", "mulps"})
    if (llvm::any_of(code, [&](const Instruction &instruction) {
          return skipEncoding(instruction.text).starts_with(mnemonic);
        }))
      return mnemonic;
  return "none";
}

/// The operands of an instruction, without masks: "%zmm2 {%k1}" is "%zmm2".
static llvm::SmallVector<StringRef> getOperands(StringRef text) {
  llvm::SmallVector<StringRef> operands;
  StringRef rest = text.split(' ').second;
  size_t start = 0;
  int depth = 0;
  for (size_t i = 0; i <= rest.size(); ++i) {
    if (i < rest.size() && (rest[i] == '(' || rest[i] == ')'))
      depth += rest[i] == '(' ? 1 : -1;
    if (i < rest.size() && (rest[i] != ',' || depth > 0))
      continue;
    operands.push_back(rest.slice(start, i).trim().split(' ').first);
    start = i + 1;
  }
  return operands;
}

/// The number of a vector or tile register, "%ymm12" or "%tmm0", or none.
static std::optional<int> getVectorRegister(StringRef operand) {
  int number;
  if (operand.size() < 5 || operand[0] != '%' || operand.substr(2, 2) != "mm" ||
      operand.drop_front(4).getAsInteger(10, number))
    return std::nullopt;
  return number;
}

/// Returns true if an instruction adds to the register that it writes.
static bool addsToResult(StringRef text, ArrayRef<StringRef> operands) {
  if (llvm::any_of(
          StringRefs{"vfmadd231", "vfnmadd231", "vpdp", "vdpbf16ps", "tdp"},
          [&](StringRef name) { return text.starts_with(name); }))
    return true;
  bool adds =
      llvm::any_of(StringRefs{"vaddps", "vpaddd", "addps", "paddd"},
                   [&](StringRef name) { return text.starts_with(name); });
  // The older form has two operands, the second of which is the result.
  return adds && (operands.size() == 2 ||
                  llvm::is_contained(operands.drop_back(), operands.back()));
}

/// Finds the registers whose only writes add to them. Of vector instructions,
/// the last operand is the result.
static std::vector<int> findSums(const std::vector<Instruction> &body) {
  std::map<int, bool> isSum;
  for (const Instruction &instruction : body) {
    StringRef text = skipEncoding(instruction.text);
    llvm::SmallVector<StringRef> operands = getOperands(text);
    std::optional<int> result = getVectorRegister(operands.back());
    if (!result)
      continue;
    auto [place, isFirst] = isSum.try_emplace(*result, true);
    place->second &= addsToResult(text, operands);
  }
  std::vector<int> sums;
  for (auto [number, holds] : isSum)
    if (holds)
      sums.push_back(number);
  return sums;
}

std::vector<InnermostLoop>
tarpon::findInnermostLoops(const std::vector<Instruction> &code) {
  FlowGraph graph(code);
  bool framePointer = hasFramePointer(code);
  StringRef multiplication = findMultiplication(code);
  std::map<size_t, std::set<size_t>> loops = graph.findLoops();
  std::vector<InnermostLoop> innermost;
  for (const auto &[header, blocks] : loops) {
    bool holdsOther = llvm::any_of(loops, [&, header = header](auto &other) {
      return other.first != header && blocks.count(other.first);
    });
    if (holdsOther)
      continue;
    InnermostLoop &loop = innermost.emplace_back();
    for (size_t block : blocks)
      loop.body.insert(loop.body.end(), code.begin() + graph[block].begin,
                       code.begin() + graph[block].end);
    for (const Instruction &instruction : loop.body) {
      StringRef text = instruction.text;
      if (isSpill(text, framePointer))
        loop.spills.push_back(instruction);
      if (skipEncoding(text).starts_with(multiplication))
        loop.multiplications.push_back(instruction);
    }
    loop.sums = findSums(loop.body);
  }
  return innermost;
}
