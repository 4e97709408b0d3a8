//===- Winograd.h - Convolution by fewer multiplications --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base of the Winograd solvers. Transform.h has the algorithm, TileEngine.h
// the division of the work.
//
// With a dilation of d, the pixels of each residue modulo d are an image of
// their own, convolved without dilation. Along each dimension come the first
// tiles of all residues, then the second ones and so on: only the last ones may
// be missing, because those of the larger residues begin later in the image.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_WINOGRAD_H
#define TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_WINOGRAD_H

#include "TileEngine.h"
#include "Transform.h"
#include "tarpon/Solver/Solver.h"

namespace tarpon::winograd {

/// The properties that the code of a kernel depends on.
struct KernelSpec {
  KernelSpec(const Problem &problem, const TargetInfo &target,
             const PerfConfig &config, const Transform &transform);

  Transform transform;
  ChannelSource input;
  ProductSpec product;
  /// True if a dilation is larger than one.
  bool dilated;
  /// The spec of storing a part of a row of pixels by one vector of channels.
  /// Its parameters come first.
  igemm::KernelSpec output;

  std::string symbol() const;
  bool isInputNchw() const { return input.layout.kind == Layout::NCHW; }
  bool isResultNchw() const { return output.resultLayout.kind == Layout::NCHW; }
};

/// The layout of a thread's scratch after the engine's note: a line of zeros,
/// the transforms' results between two dimensions, and rows of pixels that
/// are being transposed.
struct ScratchLayout {
  explicit ScratchLayout(const Transform &transform)
      : betweenBytes(transform.points() * kLineBytes),
        stagingBytes(transform.inTile() * kRowPixels * kLineBytes) {}
  /// The bytes of a transform's results of the first pass, for the second.
  int64_t betweenBytes;
  int64_t stagingBytes;
  int64_t bytes() const { return kLineBytes + betweenBytes + stagingBytes; }
};

/// Returns true if a transform that holds `values` vectors between its two
/// dimensions keeps them in registers, beside a row and its temporaries.
inline bool holdsInRegisters(const TargetInfo &target,
                             const Transform &transform, int64_t values) {
  return values + transform.inTile() + 2 <= target.vectorRegisters;
}

/// Emits the kernel; KernelEmitter.cpp.
void emitKernel(KernelBuilder &b, const KernelSpec &spec);

/// The difference between the largest and the smallest byte.
inline constexpr int64_t kByteRange = 255;

/// The arithmetic in which an input's tiles are multiplied.
inline igemm::Arith chooseArith(const TensorDesc &input) {
  return input.quantized ? igemm::Arith::I16Dot : igemm::Arith::F32;
}

/// Packs a filter of i8 as the products of G that are integers, with a scale
/// for each channel of the result, or one for all; FilterPack.cpp.
std::vector<char> packIntegerFilter(const ProductSpec &spec,
                                    const igemm::Geometry &geometry,
                                    llvm::ArrayRef<char> filter,
                                    const Transform &transform,
                                    llvm::ArrayRef<float> scales);

/// The tiles of a problem; CostModel.cpp.
TileWork getTileWork(const Transform &transform, const Problem &problem);

/// Winograd convolutions of 3 x 3 filters, one solver per set of points.
class WinogradSolver : public Solver {
public:
  /// With up to `maxChannels` per group the relative L2 error is below 1e-5.
  /// `isInteger`: of bytes, by a transform of integers.
  WinogradSolver(Transform transform, int64_t maxChannels,
                 bool isInteger = false)
      : transform(std::move(transform)), maxChannels(maxChannels),
        isInteger(isInteger) {}

  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const final;
  bool knowsSlices() const final { return true; }
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const final;
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const final;
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const final;
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const final;
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const final;

private:
  Applicability checkInput(const Problem &problem,
                           const TargetInfo &target) const;
  igemm::Arith getArith() const {
    return isInteger ? igemm::Arith::I16Dot : igemm::Arith::F32;
  }

  Transform transform;
  int64_t maxChannels;
  bool isInteger;
};

} // namespace tarpon::winograd

#endif // TARPON_LIB_KERNELS_HOST_CONV_WINOGRAD_WINOGRAD_H
