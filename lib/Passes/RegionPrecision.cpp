//===- RegionPrecision.cpp - The precision of each region -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RegionPrecision.h"
#include "Regions.h"
#include "tarpon/Passes/Passes.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;
using runtime::Precision;

/// Returns none if the attribute does not name a precision.
static std::optional<Precision> parseMark(Attribute mark) {
  auto name = dyn_cast<StringAttr>(mark);
  return name ? runtime::parsePrecision(name.getValue()) : std::nullopt;
}

FailureOr<RegionPrecisions> RegionPrecisions::read(func::FuncOp function,
                                                   Precision unmarked) {
  WalkResult walk = function.walk([](FusedOp op) -> WalkResult {
    Attribute mark = op->getAttr(kPrecisionAttrName);
    if (!mark || parseMark(mark))
      return WalkResult::advance();
    return op.emitOpError("expects ")
           << kPrecisionAttrName << " to be fp32, fp16, bf16 or int8, got "
           << mark;
  });
  if (walk.wasInterrupted())
    return failure();
  return RegionPrecisions(unmarked);
}

Precision RegionPrecisions::get(FusedOp op) const {
  Attribute mark = op->getAttr(kPrecisionAttrName);
  return mark ? *parseMark(mark) : unmarked;
}

/// The regions that read the value, in order.
static SmallVector<FusedOp> getReadingRegions(Value value) {
  SmallVector<FusedOp> regions;
  for (Operation *reader : getReaders(value))
    if (auto region = dyn_cast<FusedOp>(reader))
      regions.push_back(region);
  llvm::sort(regions, [](FusedOp a, FusedOp b) {
    return a != b && a->isBeforeInBlock(b);
  });
  return regions;
}

std::optional<Precision> RegionPrecisions::getStored(FusedOp op,
                                                     Wish getWish) const {
  std::optional<Precision> first;
  for (FusedOp reader : getReadingRegions(op.getResult())) {
    std::optional<Precision> wish = getWish(reader);
    if (wish == get(op))
      return wish;
    if (!first)
      first = wish;
  }
  return first;
}
