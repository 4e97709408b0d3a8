//===- MachineCode.cpp - Blocks and loops of a compiled kernel ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Model/MachineCode.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <set>

using namespace tarpon;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;

/// Removes a comment, which begins with ';' or '//'.
static StringRef dropComment(StringRef line) {
  return line.split(';').first.split("//").first.trim();
}

Result<MachineCode> MachineCode::parse(StringRef text) {
  MachineCode code;
  code.blocks.emplace_back();
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  bool isOver = false;
  for (StringRef raw : lines) {
    StringRef line = dropComment(raw);
    if (line.ends_with(":")) {
      // Labels before the first instruction name the kernel.
      if (!code.blocks.back().instructions.empty())
        code.blocks.emplace_back();
      // There may be more code behind the end, but no other label.
      if (isOver && !line.starts_with(".LBB") && !line.starts_with("L"))
        break;
      isOver = false;
      code.blocks.back().label = line.drop_back().str();
      continue;
    }
    if (line.empty() || line.starts_with(".") || isOver)
      continue;
    MachineInstruction instruction = readInstruction(line);
    InstructionKind kind = instruction.kind;
    isOver = kind == InstructionKind::End;
    code.blocks.back().instructions.push_back(std::move(instruction));
    if (kind == InstructionKind::Branch)
      code.blocks.emplace_back();
  }
  if (code.blocks.back().instructions.empty())
    code.blocks.pop_back();
  if (code.blocks.empty())
    return Error{"the assembly has no instructions"};
  for (const BasicBlock &block : code.blocks)
    for (const MachineInstruction &instruction : block.instructions)
      if (instruction.kind == InstructionKind::Branch &&
          llvm::none_of(code.blocks, [&](const BasicBlock &other) {
            return other.label == instruction.target;
          }))
        return Error{"the assembly has a branch to '" + instruction.target +
                     "', which is no label of it"};
  code.connect();
  return code;
}

void MachineCode::connect() {
  llvm::StringMap<size_t> labels;
  for (auto [index, block] : llvm::enumerate(blocks))
    if (!block.label.empty())
      labels[block.label] = index;
  for (auto [index, block] : llvm::enumerate(blocks)) {
    const MachineInstruction *last =
        block.instructions.empty() ? nullptr : &block.instructions.back();
    bool isBranch = last && last->kind == InstructionKind::Branch;
    if (isBranch)
      block.successors.push_back(labels.lookup(last->target));
    bool falls = !last || (last->kind != InstructionKind::End &&
                           (!isBranch || last->isConditional));
    if (falls && index + 1 < blocks.size())
      block.successors.push_back(index + 1);
  }
}

/// Collects the blocks from which `tail` is reached without `head`, and both.
static MachineLoop collectLoop(llvm::ArrayRef<std::vector<size_t>> predecessors,
                               size_t head, size_t tail) {
  std::set<size_t> members = {head, tail};
  std::vector<size_t> open = {tail};
  while (!open.empty()) {
    size_t block = open.back();
    open.pop_back();
    if (block == head)
      continue;
    for (size_t predecessor : predecessors[block])
      if (members.insert(predecessor).second)
        open.push_back(predecessor);
  }
  return {{members.begin(), members.end()}};
}

std::vector<MachineLoop> MachineCode::findLoops() const {
  std::vector<std::vector<size_t>> predecessors(blocks.size());
  for (auto [index, block] : llvm::enumerate(blocks))
    for (size_t successor : block.successors)
      predecessors[successor].push_back(index);
  std::vector<MachineLoop> loops;
  for (auto [tail, block] : llvm::enumerate(blocks))
    for (size_t head : block.successors) {
      // The backend places a loop's head before the rest of it.
      if (head > tail)
        continue;
      MachineLoop loop = collectLoop(predecessors, head, tail);
      // A cycle whose body is entered from above its head is no loop.
      if (loop.blocks.front() == head)
        loops.push_back(std::move(loop));
    }
  return loops;
}

double MachineCode::countFlops(const MachineLoop &loop,
                               int64_t waveSize) const {
  double flops = 0;
  for (size_t index : loop.blocks)
    for (const MachineInstruction &instruction : blocks[index].instructions)
      flops += instruction.flops * (instruction.kind == InstructionKind::Vector
                                        ? static_cast<double>(waveSize)
                                        : 1.0);
  return flops;
}

std::optional<MachineLoop> MachineCode::findInnerLoop() const {
  constexpr int64_t kAnyWave = 32;
  std::vector<MachineLoop> loops = findLoops();
  llvm::erase_if(loops, [&](const MachineLoop &loop) {
    return countFlops(loop, kAnyWave) == 0;
  });
  auto isWithin = [](const MachineLoop &inner, const MachineLoop &outer) {
    return inner.blocks.size() < outer.blocks.size() &&
           std::includes(outer.blocks.begin(), outer.blocks.end(),
                         inner.blocks.begin(), inner.blocks.end());
  };
  std::optional<MachineLoop> best;
  double most = 0;
  for (const MachineLoop &loop : loops) {
    bool isInner = llvm::none_of(
        loops, [&](const MachineLoop &other) { return isWithin(other, loop); });
    double flops = countFlops(loop, kAnyWave);
    if (isInner && flops > most) {
      best = loop;
      most = flops;
    }
  }
  return best;
}
