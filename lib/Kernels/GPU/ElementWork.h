//===- ElementWork.h - A vector of elements per lane ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Distributes the elements of a tensor in memory order: neighbouring lanes take
// neighbouring vectors, of 16 bytes where the narrowest tensor and the size of
// a row allow it.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_ELEMENTWORK_H
#define TARPON_LIB_KERNELS_GPU_ELEMENTWORK_H

#include "Common/VectorAccess.h"
#include "MagicDivision.h"

namespace tarpon {

/// Refuses problems with an operand or result that is empty, or so large that
/// its indices, or those that a few workgroups compute behind its end, exceed
/// 31 bits.
Applicability checkIndexable(const Problem &problem);

/// The largest vector, a power of two of elements, that divides `row` (any size
/// if it is 0) and that is no wider than 16 bytes in the narrowest of the
/// problem's result and its operands with as many elements.
int64_t chooseGpuVector(const Problem &problem, int64_t row);

/// The vector for rows of `size` elements that lanes read from their starts.
/// The elements behind the last whole vector are read one by one; but where
/// accesses must be aligned, the vector divides the rows.
int64_t chooseRowVector(const Problem &problem, int64_t size,
                        const TargetInfo &target);

/// Divides a tensor into rows: pixels of channels, planes of pixels, or the
/// whole tensor, depending on how operands follow its channels.
class GpuElementWork {
public:
  /// `needsChannels`: the body uses the channel of a place, or accesses slices.
  /// Not possible for blocked layouts.
  GpuElementWork(LaunchBuilder &launch, const Problem &problem,
                 bool needsChannels, int64_t workgroup);

  int64_t tasks() const { return numTasks; }
  /// "flat8", "nchw4", "nhwc8": names the vector, but not the workgroup.
  std::string symbolPart() const;
  /// Runs `body` for the places of this lane, without masks.
  void emit(KernelBuilder &b,
            llvm::function_ref<void(const VectorPlace &)> body) const;

private:
  VectorPlace getPlace(KernelBuilder &b, mlir::Value offset,
                       int64_t lanes) const;

  enum class Order : uint8_t { Flat, Planes, Pixels };
  static Order chooseOrder(const TensorDesc &desc, bool needsChannels);
  static int64_t getRow(const TensorDesc &desc, Order order);

  Order order;
  int64_t vector, workgroup;
  int64_t vectors, places; ///< parameters: whole vectors; those and single ones
  MagicDivisor row, channels;
  int64_t numTasks;
};

/// Names the lanes of a workgroup in symbols, where they are not 256: "wg512".
std::string getWorkgroupPart(int64_t workgroup);

/// The workgroups that are worth measuring for kernels without LDS, the default
/// first.
std::vector<int64_t> getWorkgroups(const GpuTarget &gpu);

/// Completes a launch for a GPU.
void finishGpuLaunch(SolutionPlan &plan, LaunchBuilder &launch,
                     std::string symbol,
                     std::function<void(KernelBuilder &)> emit, int64_t tasks,
                     int64_t workgroup, int64_t ldsBytes = 0);

} // namespace tarpon

#endif // TARPON_LIB_KERNELS_GPU_ELEMENTWORK_H
