//===- PartPlans.cpp - Solutions of two operations ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PartPlans.h"

#include "tarpon/Problem/Producer.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <iterator>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Operands
//===----------------------------------------------------------------------===//

void tarpon::renumberOperands(SolutionPlan &plan, ArrayRef<int64_t> places) {
  for (LaunchPlan &launch : plan.launches)
    for (BufferSlot &slot : launch.buffers)
      if (slot.kind == BufferSlot::Operand)
        slot.index = places[slot.index];
  std::vector<int64_t> kept(places.begin(), places.end());
  for (ConstantPlan &constant : plan.constants)
    constant.make = [make = std::move(constant.make),
                     kept](const ConstantOperands &all) {
      ConstantOperands own;
      for (int64_t place : kept)
        own.push_back(place < 0 ? ArrayRef<char>() : all[place]);
      return make(own);
    };
}

std::vector<int64_t> tarpon::listConsumerOperands(const Problem &problem,
                                                  int64_t first) {
  std::vector<int64_t> places = {first};
  auto end = static_cast<int64_t>(problem.operands.size());
  for (int64_t i = getConsumerOperand(problem, 1); i < end; ++i)
    places.push_back(i);
  return places;
}

//===----------------------------------------------------------------------===//
// Two solutions
//===----------------------------------------------------------------------===//

/// The bytes of the value between the parts, in whole units of alignment.
static int64_t getValueBytes(const Problem &problem) {
  return static_cast<int64_t>(llvm::alignTo(
      getProducer(problem).result.numBytes(), runtime::kBufferAlignment));
}

int64_t tarpon::getPartsWorkspace(const Problem &problem, int64_t ofProducer,
                                  int64_t ofConsumer) {
  return getValueBytes(problem) + std::max(ofProducer, ofConsumer);
}

/// Appends a part of a solution. Its own workspace starts at `workspace`, and
/// `isValue` tells which of its buffers are the value between the parts.
static void append(SolutionPlan &plan, SolutionPlan part, int64_t workspace,
                   function_ref<bool(const BufferSlot &)> isValue) {
  auto constants = static_cast<int64_t>(plan.constants.size());
  llvm::move(part.constants, std::back_inserter(plan.constants));
  for (LaunchPlan &launch : part.launches) {
    for (BufferSlot &slot : launch.buffers) {
      if (isValue(slot))
        slot = {BufferSlot::Workspace, 0};
      else if (slot.kind == BufferSlot::Workspace)
        slot.index += workspace;
      else if (slot.kind == BufferSlot::Constant)
        slot.index += constants;
    }
    plan.launches.push_back(std::move(launch));
  }
}

SolutionPlan tarpon::joinPlans(const Problem &problem, SolutionPlan producer,
                               SolutionPlan consumer) {
  SolutionPlan plan;
  plan.workspaceBytes = getPartsWorkspace(problem, producer.workspaceBytes,
                                          consumer.workspaceBytes);
  constexpr int64_t kNone = -1;
  renumberOperands(consumer, listConsumerOperands(problem, kNone));
  int64_t workspace = getValueBytes(problem);
  append(plan, std::move(producer), workspace, [](const BufferSlot &slot) {
    return slot.kind == BufferSlot::Result;
  });
  append(plan, std::move(consumer), workspace, [](const BufferSlot &slot) {
    return slot.kind == BufferSlot::Operand && slot.index == kNone;
  });
  return plan;
}
