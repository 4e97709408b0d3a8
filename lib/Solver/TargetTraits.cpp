//===- TargetTraits.cpp - A target's answers about itself -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/TargetTraits.h"

#include "tarpon/Solver/TargetInfo.h"

using namespace tarpon;

TargetTraits::~TargetTraits() = default;

std::string TargetTraits::getDisplayName(const TargetInfo &target) const {
  return getName(target);
}

std::string TargetTraits::getProcessor(const TargetInfo &target) const {
  return getName(target);
}

std::string TargetTraits::getMeasuredArch(const TargetInfo &target) const {
  return target.arch;
}
