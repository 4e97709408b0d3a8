//===- HostTraits.cpp - The answers of CPUs -------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Solver/TargetTraits.h"

#include "tarpon/Problem/Problem.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/TargetInfo.h"

using namespace tarpon;
using runtime::DType;
using runtime::Precision;

namespace {

class HostTraits final : public TargetTraits {
public:
  std::string getName(const TargetInfo &target) const override {
    return target.arch + "/" + target.cpu + "/" +
           std::to_string(target.vectorBits);
  }
  std::string getDisplayName(const TargetInfo & /*target*/) const override {
    return "the host";
  }
  std::string getProcessor(const TargetInfo &target) const override {
    return target.cpu;
  }
  llvm::StringRef getCodegenPart() const override { return kHostCodegen; }

  std::string printCacheSizes(const TargetInfo &target) const override {
    auto print = [](int64_t bytes) {
      return std::to_string(bytes >> 10) + "K";
    };
    return print(target.l1Bytes) + "/" + print(target.l2Bytes) + "/" +
           print(target.l3Bytes);
  }

  /// CPUs that have no instruction for a dtype compute in f32.
  Precision getArithmetic(const Problem &problem,
                          const TargetInfo &target) const override {
    if (problem.operands.empty())
      return Precision::F32;
    const TensorDesc &input = problem.operands.front();
    if (input.quantized && target.hasVnni)
      return Precision::I8;
    if (input.dtype == DType::BF16 && target.hasBf16)
      return Precision::BF16;
    return Precision::F32;
  }
};

} // namespace

const TargetTraits &tarpon::getHostTraits() {
  static const HostTraits traits;
  return traits;
}
