//===- GlobalChoice.h - One dtype, layout and fusion for all ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_AUTOTUNE_CHOICE_GLOBALCHOICE_H
#define TARPON_AUTOTUNE_CHOICE_GLOBALCHOICE_H

#include "tarpon/Passes/Fusion.h"
#include "tarpon/Problem/Problem.h"
#include "tarpon/Runtime/Precision.h"

#include <array>
#include <compare>
#include <string>
#include <vector>

namespace tarpon {

/// One dtype, one layout and one fusion setting for a whole model.
struct GlobalChoice {
  runtime::Precision dtype = runtime::Precision::F32;
  Layout layout;
  Fusion fusion = Fusion::On;
  /// The precision of each fused operation, in their order, where they differ.
  /// Then `dtype` is the narrowest of them.
  std::vector<runtime::Precision> layers = {};

  auto operator<=>(const GlobalChoice &) const = default;
  /// "int8/nhwc", "mixed/nhwc" where layers differ, and "int8/nhwc/unfused"
  /// without fusion.
  std::string name() const;
};

/// The layouts that are tried and listed, in this order.
inline constexpr std::array<Layout, 2> kChoiceLayouts = {Layout{Layout::NCHW},
                                                         Layout{Layout::NHWC}};

/// The choice that the accuracy of the others is measured against.
inline const GlobalChoice kReferenceChoice;

} // namespace tarpon

#endif // TARPON_AUTOTUNE_CHOICE_GLOBALCHOICE_H
