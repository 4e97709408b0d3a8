//===- EnumerateChoices.cpp - The choices for a whole model ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Tuning/GlobalTuner.h"

#include "llvm/ADT/STLExtras.h"

#include <tuple>

using namespace tarpon;
using runtime::Precision;

std::vector<GlobalChoice>
tarpon::enumerateChoices(const std::vector<Precision> &dtypes,
                         const std::vector<Layout> &layouts,
                         const std::vector<Fusion> &fusions) {
  std::vector<GlobalChoice> choices;
  for (Precision dtype : dtypes)
    for (Layout layout : layouts)
      for (Fusion fusion : fusions)
        choices.push_back({dtype, layout, fusion});
  // Calibration and accuracy use kernels for the first of these.
  auto getRank = [](const GlobalChoice &choice) {
    bool isExact = choice.dtype == kReferenceChoice.dtype;
    return std::tuple(!isExact,
                      isExact && choice.layout != kReferenceChoice.layout,
                      isExact && choice.fusion != kReferenceChoice.fusion);
  };
  llvm::stable_sort(choices, [&](const GlobalChoice &a, const GlobalChoice &b) {
    return getRank(a) < getRank(b);
  });
  return choices;
}
