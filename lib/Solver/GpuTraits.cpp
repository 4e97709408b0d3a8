//===- GpuTraits.cpp - The answers of AMD GPUs ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/Problem.h"
#include "tarpon/Problem/Producer.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/GpuTarget.h"
#include "tarpon/Solver/TargetTraits.h"

using namespace tarpon;
using runtime::DType;
using runtime::Precision;

namespace {

class GpuTraits final : public TargetTraits {
public:
  std::string getName(const TargetInfo &target) const override {
    return target.gpu->name();
  }
  llvm::StringRef getCodegenPart() const override { return kGpuCodegen; }
  /// The chip, which decides them, is in every key.
  std::string printCacheSizes(const TargetInfo & /*target*/) const override {
    return "";
  }
  Precision getArithmetic(const Problem &problem,
                          const TargetInfo &target) const override;
  double getSpeedup(Precision arithmetic,
                    const TargetInfo &target) const override;
  double getProductRounding(const Problem &problem,
                            const TargetInfo &target) const override;
  llvm::StringRef getArbiter() const override { return "gpu-naive-v1"; }
  double getFlopsPerMs(const TargetInfo &target) const override {
    return target.gpu->peakGflops(DType::F32) * 1e6;
  }
  int64_t getSliceAlignment(const TargetInfo &target) const override {
    return target.gpu->accessAlignment;
  }
  /// An emulated device has the name of its chip.
  std::string getMeasuredArch(const TargetInfo &target) const override {
    return target.gpu->arch().str();
  }
};

} // namespace

/// GPUs compute in the dtype of the first operand, if they have matrix
/// instructions for it.
Precision GpuTraits::getArithmetic(const Problem &problem,
                                   const TargetInfo & /*target*/) const {
  if (problem.operands.empty())
    return Precision::F32;
  DType dtype = problem.operands.front().dtype;
  if (dtype == DType::F16)
    return Precision::F16;
  if (dtype == DType::BF16)
    return Precision::BF16;
  if (dtype == DType::I8 || dtype == DType::U8)
    return Precision::I8;
  return Precision::F32;
}

double GpuTraits::getSpeedup(Precision arithmetic,
                             const TargetInfo &target) const {
  return target.gpu->peakGflops(runtime::getFactorDType(arithmetic)) /
         target.gpu->peakGflops(DType::F32);
}

/// Rounding to the 10 bits of TF32 moves each of two factors by at most 2^-11
/// of itself; where an instruction drops the other bits, one of them by at most
/// 2^-10.
double GpuTraits::getProductRounding(const Problem &problem,
                                     const TargetInfo &target) const {
  constexpr double kRounded = 0x1p-11, kTruncated = 0x1p-10;
  bool isTiled = problem.op == OpKind::Conv || problem.op == OpKind::MatMul ||
                 hasProducer(problem);
  bool isTf32 = target.gpu->allowsTf32 && isTiled &&
                problem.operands[0].dtype == DType::F32;
  return isTf32 ? kRounded + kTruncated : 0;
}

const TargetTraits &tarpon::getGpuTraits() {
  static const GpuTraits traits;
  return traits;
}
