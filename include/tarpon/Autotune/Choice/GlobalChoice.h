//===- GlobalChoice.h - Dtypes, layouts and fusion of a model ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_GLOBALCHOICE_H
#define TARPON_AUTOTUNE_CHOICE_GLOBALCHOICE_H

#include "tarpon/Passes/Fusion.h"
#include "tarpon/Passes/RegionChoice.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Precision.h"

#include <array>
#include <compare>
#include <string>
#include <vector>

namespace tarpon {

/// The dtype, layout and fusion setting of a whole model, or those of each of
/// its regions.
struct GlobalChoice {
  runtime::Precision dtype = runtime::Precision::F32;
  Layout layout;
  Fusion fusion = Fusion::On;
  /// The choice of each region, in their order, where they differ; see
  /// getChosenRegions. Then `dtype` is the narrowest of them, and `layout` that
  /// of most.
  std::vector<RegionChoice> regions = {};

  auto operator<=>(const GlobalChoice &) const = default;
  /// "int8/nhwc", "mixed/nhwc" where regions differ in their dtypes,
  /// "fp32/mixed" where they do in their layouts, "int8/nhwc/unfused" without
  /// fusion, "int8/nhwc/producers" with that of producers, and
  /// "fp32/nhwc/partly-fused" where some regions are split.
  std::string name() const;
  std::string getDtypeName() const;
  std::string getLayoutName() const;
  std::string getFusionName() const;
};

/// The choice that gives each region its own dtype and layout; `regions` is not
/// empty.
GlobalChoice makeRegionChoice(std::vector<RegionChoice> regions, Fusion fusion);

/// The layouts that are tried and listed, in this order.
inline constexpr std::array<Layout, 2> kChoiceLayouts = {Layout{Layout::NCHW},
                                                         Layout{Layout::NHWC}};

/// The choice that the accuracy of the others is measured against.
inline const GlobalChoice kReferenceChoice;

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_GLOBALCHOICE_H
