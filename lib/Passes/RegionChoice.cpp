//===- RegionChoice.cpp - The choice for one fused region -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Passes/RegionChoice.h"

#include "Regions.h"
#include "tarpon/Passes/Passes.h"

#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace tarpon;

static constexpr llvm::StringLiteral kUnfused = "unfused";

std::string tarpon::printRegionChoice(const RegionChoice &choice) {
  return std::string(runtime::getPrecisionName(choice.dtype)) + "/" +
         choice.layout.name() +
         (choice.fusion == Fusion::Off ? "/" + kUnfused.str() : "");
}

std::optional<RegionChoice> tarpon::parseRegionChoice(StringRef text) {
  auto [dtype, rest] = text.split('/');
  auto [layout, fusion] = rest.split('/');
  std::optional<runtime::Precision> precision =
      runtime::parsePrecision(dtype.str());
  FailureOr<Layout> parsed = parseLayout(layout);
  if (!precision || failed(parsed) || (!fusion.empty() && fusion != kUnfused))
    return std::nullopt;
  return RegionChoice{*precision, *parsed,
                      fusion.empty() ? Fusion::On : Fusion::Off};
}

SmallVector<FusedOp> tarpon::getChosenRegions(func::FuncOp function) {
  SmallVector<FusedOp> regions;
  function.walk([&](FusedOp op) {
    if (!detail::isConvertRegion(op))
      regions.push_back(op);
  });
  return regions;
}

LogicalResult tarpon::setRegionChoices(func::FuncOp function,
                                       ArrayRef<RegionChoice> choices) {
  SmallVector<FusedOp> regions = getChosenRegions(function);
  if (regions.size() != choices.size())
    return function.emitError("has ")
           << regions.size() << " regions, but there are choices for "
           << choices.size();
  Builder builder(function.getContext());
  for (auto [index, region, choice] : llvm::enumerate(regions, choices)) {
    region->setAttr(
        kPrecisionAttrName,
        builder.getStringAttr(runtime::getPrecisionName(choice.dtype)));
    region->setAttr(kLayoutAttrName,
                    builder.getStringAttr(choice.layout.name()));
    region->setAttr(kRegionAttrName, builder.getI64IntegerAttr(index));
    if (choice.fusion == Fusion::Off)
      region->setAttr(kUnfusedAttrName, builder.getUnitAttr());
  }
  return success();
}

std::optional<size_t> tarpon::getRegionIndex(FusedOp op) {
  auto index = op->getAttrOfType<IntegerAttr>(kRegionAttrName);
  return index ? std::optional<size_t>(index.getInt()) : std::nullopt;
}
