//===- MachineCode.cpp - Blocks and loops of a compiled kernel ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/GPU/Model/MachineCode.h"

#include "llvm/ADT/BitVector.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringMap.h"

#include <algorithm>
#include <set>

using namespace tarpon;
using llvm::StringRef;
using runtime::Error;
using runtime::Status;

void MachineCode::addLabel(StringRef label) {
  if (blocks.empty() || !blocks.back().instructions.empty() ||
      !blocks.back().label.empty())
    blocks.emplace_back();
  blocks.back().label = label.str();
}

void MachineCode::add(MachineInstruction instruction) {
  if (blocks.empty())
    blocks.emplace_back();
  InstructionKind kind = instruction.kind;
  blocks.back().instructions.push_back(std::move(instruction));
  if (kind == InstructionKind::Branch)
    blocks.emplace_back();
}

void MachineCode::forEach(
    llvm::function_ref<void(MachineInstruction &)> change) {
  for (BasicBlock &block : blocks)
    for (MachineInstruction &instruction : block.instructions)
      change(instruction);
}

Status MachineCode::finish() {
  if (!blocks.empty() && blocks.back().instructions.empty())
    blocks.pop_back();
  if (llvm::all_of(blocks, [](const BasicBlock &block) {
        return block.instructions.empty();
      }))
    return Error{"the assembly has no instructions"};
  for (const BasicBlock &block : blocks)
    for (const MachineInstruction &instruction : block.instructions)
      if (instruction.kind == InstructionKind::Branch &&
          llvm::none_of(blocks, [&](const BasicBlock &other) {
            return other.label == instruction.target;
          }))
        return Error{"the assembly has a branch to '" + instruction.target +
                     "', which is no label of it"};
  connect();
  return runtime::success();
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

/// The blocks through which every path from the first one leads, for each
/// block; all blocks for one that is never reached.
static std::vector<llvm::BitVector>
findDominators(llvm::ArrayRef<std::vector<size_t>> predecessors) {
  auto count = static_cast<unsigned>(predecessors.size());
  std::vector<llvm::BitVector> dominators(count, llvm::BitVector(count, true));
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned block = 0; block < count; ++block) {
      llvm::BitVector common(count, block != 0);
      if (block != 0)
        for (size_t predecessor : predecessors[block])
          common &= dominators[predecessor];
      common.set(block);
      changed |= common != dominators[block];
      dominators[block] = std::move(common);
    }
  }
  return dominators;
}

std::vector<MachineLoop> MachineCode::findLoops() const {
  std::vector<std::vector<size_t>> predecessors(blocks.size());
  for (auto [index, block] : llvm::enumerate(blocks))
    for (size_t successor : block.successors)
      predecessors[successor].push_back(index);
  std::vector<llvm::BitVector> dominators = findDominators(predecessors);
  std::vector<MachineLoop> loops;
  // A cycle that is entered elsewhere than at its head is no loop. The head may
  // lie anywhere in it.
  for (auto [tail, block] : llvm::enumerate(blocks))
    for (size_t head : block.successors)
      if (dominators[tail].test(static_cast<unsigned>(head)))
        loops.push_back(collectLoop(predecessors, head, tail));
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
