//===- GlobalChoice.cpp - Dtypes, layouts and fusion of a model -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Choice/GlobalChoice.h"

#include "llvm/ADT/STLExtras.h"

#include <algorithm>
#include <map>

using namespace tarpon;

static const char *const kMixed = "mixed";

std::string GlobalChoice::getDtypeName() const {
  bool isMixed = llvm::any_of(regions, [this](const RegionChoice &region) {
    return region.dtype != dtype;
  });
  return isMixed ? kMixed : std::string(getPrecisionName(dtype));
}

std::string GlobalChoice::getLayoutName() const {
  bool isMixed = llvm::any_of(regions, [this](const RegionChoice &region) {
    return region.layout != layout;
  });
  return isMixed ? kMixed : layout.name();
}

std::string GlobalChoice::getFusionName() const {
  bool isMixed = llvm::any_of(regions, [](const RegionChoice &region) {
    return region.fusion == Fusion::Off;
  });
  return isMixed ? kMixed : std::string(tarpon::getFusionName(fusion));
}

std::string GlobalChoice::name() const {
  std::string name = getDtypeName() + "/" + getLayoutName();
  if (fusion == Fusion::Off)
    return name + "/unfused";
  if (fusion == Fusion::Producers)
    name += "/producers";
  return getFusionName() == kMixed ? name + "/partly-fused" : name;
}

GlobalChoice tarpon::makeRegionChoice(std::vector<RegionChoice> regions,
                                      Fusion fusion) {
  GlobalChoice choice;
  choice.fusion = fusion;
  std::map<Layout, size_t> counts;
  for (const RegionChoice &region : regions) {
    // The narrowest is the last of the list.
    choice.dtype = std::max(choice.dtype, region.dtype);
    ++counts[region.layout];
  }
  choice.layout = llvm::max_element(counts, [](const auto &a, const auto &b) {
                    return a.second < b.second;
                  })->first;
  choice.regions = std::move(regions);
  return choice;
}
