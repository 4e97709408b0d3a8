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

  double getSpeedup(Precision arithmetic,
                    const TargetInfo &target) const override;
};

} // namespace

/// vpdpbusd adds four products to each lane, and vdpbf16ps two, where a fused
/// multiplication and addition adds one. tdpbusd does 16 x 16 x 64 products in
/// 16 clocks, and tdpbf16ps half of that, where two vectors of 16 lanes are
/// multiplied in a clock (Intel 64 and IA-32 Architectures Optimization
/// Reference Manual, on AMX).
double HostTraits::getSpeedup(Precision arithmetic,
                              const TargetInfo &target) const {
  if (arithmetic == Precision::I8)
    return target.hasAmxInt8 ? 32 : target.hasVnni ? 4 : 1;
  if (arithmetic == Precision::BF16)
    return target.hasAmxBf16 ? 16 : target.hasBf16 ? 2 : 1;
  return 1;
}

const TargetTraits &tarpon::getHostTraits() {
  static const HostTraits traits;
  return traits;
}
