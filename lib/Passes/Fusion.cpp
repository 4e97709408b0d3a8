//===- Fusion.cpp - Which operations share a launch -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Passes/Fusion.h"

using namespace tarpon;

std::string_view tarpon::getFusionName(Fusion fusion) {
  switch (fusion) {
  case Fusion::On:
    return "on";
  case Fusion::Producers:
    return "producers";
  case Fusion::Off:
    return "off";
  }
  return "";
}

std::optional<Fusion> tarpon::parseFusion(std::string_view name) {
  for (Fusion fusion : kFusions)
    if (getFusionName(fusion) == name)
      return fusion;
  return std::nullopt;
}
