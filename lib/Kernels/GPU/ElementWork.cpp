//===- ElementWork.cpp - A vector of elements per lane --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementWork.h"

#include "tarpon/Solver/GpuTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <algorithm>
#include <limits>

using namespace mlir;
using namespace tarpon;

/// The widest access of one lane, in bytes.
static constexpr int64_t kVectorBytes = 16;

Applicability tarpon::checkIndexable(const Problem &problem) {
  constexpr int64_t kLimit = std::numeric_limits<int32_t>::max() - (1 << 20);
  auto isIndexable = [](const TensorDesc &desc) {
    int64_t elements = desc.numBytes() / runtime::dtypeBytes(desc.dtype);
    return elements > 0 && elements < kLimit;
  };
  bool all = llvm::all_of(problem.operands, isIndexable);
  for (int64_t i = 0; i < problem.numResults(); ++i)
    all &= isIndexable(problem.getResult(i));
  return all ? Applicability::yes()
             : Applicability::no("is empty, or needs indices of more than 31 "
                                 "bits");
}

int64_t tarpon::chooseGpuVector(const Problem &problem, int64_t row) {
  int64_t narrowest = runtime::dtypeBytes(problem.result.dtype);
  for (const TensorDesc &operand : problem.operands)
    if (operand.numElements() >= problem.result.numElements())
      narrowest =
          std::min<int64_t>(narrowest, runtime::dtypeBytes(operand.dtype));
  int64_t vector = kVectorBytes / narrowest;
  while (row % vector != 0)
    vector /= 2;
  return vector;
}

int64_t tarpon::chooseRowVector(const Problem &problem, int64_t size,
                                const TargetInfo &target) {
  bool mustDivide = target.gpu->accessAlignment > 1;
  return chooseGpuVector(problem, mustDivide ? size : 0);
}

GpuElementWork::Order GpuElementWork::chooseOrder(const TensorDesc &desc,
                                                  bool needsChannels) {
  if (!needsChannels)
    return Order::Flat;
  assert(desc.layout.kind != Layout::Blocked && "blocks have no channel order");
  bool isPixels = desc.layout.kind == Layout::NHWC || desc.spatialSize() == 1;
  return isPixels ? Order::Pixels : Order::Planes;
}

/// The elements of a row, all of which are in one pixel or have one channel; 0
/// for the whole tensor.
int64_t GpuElementWork::getRow(const TensorDesc &desc, Order order) {
  if (order == Order::Flat)
    return 0;
  return order == Order::Pixels ? desc.shape[1] : desc.spatialSize();
}

static int64_t countElements(const TensorDesc &desc, bool isFlat) {
  return isFlat ? desc.numBytes() / runtime::dtypeBytes(desc.dtype)
                : desc.numElements();
}

GpuElementWork::GpuElementWork(LaunchBuilder &launch, const Problem &problem,
                               bool needsChannels, int64_t workgroup)
    : order(chooseOrder(problem.result, needsChannels)),
      vector(chooseGpuVector(problem, getRow(problem.result, order))),
      workgroup(workgroup),
      row(launch, std::max<int64_t>(1, getRow(problem.result, order))),
      channels(launch, problem.result.rank() < 2
                           ? 1
                           : std::max<int64_t>(1, problem.result.shape[1])) {
  int64_t elements = countElements(problem.result, order == Order::Flat);
  int64_t whole = elements / vector, all = whole + elements % vector;
  vectors = launch.addParam(whole);
  places = launch.addParam(all);
  numTasks = std::max<int64_t>(1, llvm::divideCeil(all, workgroup));
}

std::string GpuElementWork::symbolPart() const {
  static constexpr const char *kNames[] = {"flat", "nchw", "nhwc"};
  return kNames[static_cast<int>(order)] + std::to_string(vector);
}

VectorPlace GpuElementWork::getPlace(KernelBuilder &b, Value offset,
                                     int64_t lanes) const {
  VectorPlace place;
  place.offset = offset;
  place.lanes = lanes;
  if (order == Order::Flat)
    return place;
  auto [index, element] = row.bind(b).divRem(b, offset);
  if (order == Order::Pixels) {
    place.pixel = index;
    place.element = place.channel = element;
    place.lanesAreChannels = true;
  } else {
    place.channel = channels.bind(b).rem(b, index);
  }
  return place;
}

void GpuElementWork::emit(KernelBuilder &b,
                          function_ref<void(const VectorPlace &)> body) const {
  Value index = b.add(b.mul(b.getBegin(), workgroup), b.getLane());
  Value whole = b.getParam(vectors);
  auto vectors = [&] { body(getPlace(b, b.mul(index, vector), vector)); };
  if (vector == 1 || order != Order::Flat)
    return b.ifThen(b.slt(index, whole), vectors);
  b.ifThenElse(b.slt(index, whole), vectors, [&] {
    // Each lane takes one of the remaining elements.
    b.ifThen(b.slt(index, b.getParam(places)), [&] {
      Value behind = b.sub(index, whole);
      body(getPlace(b, b.add(b.mul(whole, vector), behind), 1));
    });
  });
}

static constexpr int64_t kWorkgroups[] = {256, 128, 512, 1024};

std::vector<int64_t> tarpon::getWorkgroups(const GpuTarget &gpu) {
  std::vector<int64_t> workgroups;
  for (int64_t workgroup : kWorkgroups)
    if (workgroup <= gpu.maxVectorWorkgroup)
      workgroups.push_back(workgroup);
  return workgroups;
}

std::string tarpon::getWorkgroupPart(int64_t workgroup) {
  return workgroup == kWorkgroups[0] ? "" : "wg" + std::to_string(workgroup);
}

void tarpon::finishGpuLaunch(SolutionPlan &plan, LaunchBuilder &launch,
                             std::string symbol,
                             std::function<void(KernelBuilder &)> emit,
                             int64_t tasks, int64_t workgroup,
                             int64_t ldsBytes) {
  launch.finish(joinSymbol({"gpu", symbol, getWorkgroupPart(workgroup)}),
                std::move(emit), tasks);
  KernelSource &kernel = plan.launches.back().kernel;
  kernel.workgroup = workgroup;
  kernel.ldsBytes = ldsBytes;
}
