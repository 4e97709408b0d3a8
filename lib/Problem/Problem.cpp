//===- Problem.cpp - One operation with all that decides its speed --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The data structure. ProblemKey.cpp has the text form.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/Problem.h"

#include "tarpon/Problem/OpRules.h"
#include "tarpon/Problem/Producer.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/MathExtras.h"

#include <numeric>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// TensorDesc
//===----------------------------------------------------------------------===//

std::string Layout::name() const {
  switch (kind) {
  case NCHW:
    return "nchw";
  case NHWC:
    return "nhwc";
  case Blocked:
    return "nchw" + std::to_string(block) + "c";
  }
  llvm_unreachable("unknown layout");
}

static int64_t product(ArrayRef<int64_t> numbers) {
  return std::accumulate(numbers.begin(), numbers.end(), int64_t(1),
                         std::multiplies<>());
}

int64_t TensorDesc::numElements() const { return product(shape); }

int64_t TensorDesc::numBytes() const {
  int64_t elements = numElements();
  if (pitch && elements > 0)
    elements = (elements / shape[1] - 1) * pitch + shape[1];
  if (layout.kind == Layout::Blocked && rank() >= 2 && shape[1] > 0)
    elements = elements / shape[1] * llvm::divideCeil(shape[1], layout.block) *
               layout.block;
  return elements * runtime::dtypeBytes(dtype);
}

ArrayRef<int64_t> TensorDesc::spatial() const {
  return ArrayRef<int64_t>(shape).drop_front(std::min<size_t>(2, rank()));
}

int64_t TensorDesc::spatialSize() const { return product(spatial()); }

//===----------------------------------------------------------------------===//
// Attributes and cost
//===----------------------------------------------------------------------===//

std::vector<int64_t> Problem::ints(StringRef name) const {
  auto attr = attrs.find(name.str());
  assert(attr != attrs.end() && "no such attribute in the problem");
  return std::vector<int64_t>(attr->second.begin(), attr->second.end());
}

double Problem::number(StringRef name) const {
  auto attr = attrs.find(name.str());
  assert(attr != attrs.end() && attr->second.size() == 1 &&
         "no such number in the problem");
  return attr->second.front();
}

int64_t Problem::integer(StringRef name) const {
  return static_cast<int64_t>(number(name));
}

double Problem::flops() const {
  if (hasProducer(*this))
    return getProducer(*this).flops() + getConsumer(*this).flops();
  if (auto *countFlops = getOpRule(op).countFlops)
    return countFlops(*this);
  auto flops = static_cast<double>(result.numElements());
  for (int i = 0; i < rootOperands; ++i)
    flops = std::max(flops, static_cast<double>(operands[i].numElements()));
  return flops;
}

bool Problem::operator==(const Problem &other) const {
  return operands == other.operands && result == other.result &&
         moreResults == other.moreResults && key() == other.key();
}

llvm::hash_code tarpon::hash_value(const Problem &problem) {
  return llvm::hash_value(problem.key());
}

Problem Problem::withUnitScales() const {
  Problem problem = *this;
  auto reset = [](TensorDesc &desc) {
    desc.scales.clear();
    if (desc.quantized)
      desc.scales = {1.0f};
    desc.zeroPoint = 0;
    desc.quantAxis = -1;
  };
  llvm::for_each(problem.operands, reset);
  reset(problem.result);
  llvm::for_each(problem.moreResults, reset);
  return problem;
}

bool Problem::hasSlices() const {
  auto isSlice = [](const TensorDesc &desc) { return desc.pitch != 0; };
  return isSlice(result) || llvm::any_of(moreResults, isSlice) ||
         llvm::any_of(operands, isSlice);
}

double Problem::bytes() const {
  auto bytesOf = [](TensorDesc desc) {
    desc.pitch = 0; // What lies between the pixels of a slice is not touched.
    return static_cast<double>(desc.numBytes());
  };
  double bytes = bytesOf(result);
  for (const std::vector<TensorDesc> *list : {&moreResults, &operands})
    for (const TensorDesc &desc : *list)
      bytes += bytesOf(desc);
  return bytes;
}
