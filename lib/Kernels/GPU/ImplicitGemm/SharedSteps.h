//===- SharedSteps.h - Workgroups that share the steps of k -----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Where blocks are no multiple of the workgroups that run at a time, some
// workgroups would be without work in the end. Instead, all get as many steps
// of k, wherever a block begins or ends (Stream-K: Osama et al., "Stream-K:
// Work-centric Parallel Decomposition for Dense Matrix-Matrix Multiplication on
// the GPU", PPoPP 2023). While there are two blocks for each workgroup and
// more, they take whole ones first (their "two-tile" hybrid).
//
// A workgroup that computes a part of a block's steps stores the sums, in an
// order of its own, and counts itself. The last one to arrive at a block adds
// up the sums of all in the order of the steps, so that results do not depend
// on who was last, and stores results. Workgroups may run in any order: nobody
// has to wait for another one. The one that has a block's first steps, which
// are its own last ones, does so for a while: if the others arrive, it need not
// store its sums. A lane needs the sums of the same lane of other workgroups
// only: lanes have counters of their own, and need no barrier.
//
// The counters are a constant of zeros. The last one to count sets a counter to
// zero again, so that the next launch finds them so. Launches that share an
// executor's constants therefore must not overlap.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_SHAREDSTEPS_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_SHAREDSTEPS_H

#include "GPU/MagicDivision.h"
#include "Tile.h"

namespace tarpon::gpuigemm {

/// Who computes what.
struct StepShares {
  /// The most workgroups are as many as run at a time.
  StepShares(int64_t blocks, int64_t steps, int64_t mostGroups);

  int64_t groups;
  int64_t turns;  ///< whole blocks that each workgroup computes first
  int64_t blocks; ///< whose steps are shared, behind those
  int64_t least;  ///< steps of such blocks for a workgroup; and
  int64_t longer; ///< how many workgroups, the first ones, have one more

  /// The workgroup that has a step of the shared blocks.
  int64_t getGroup(int64_t step) const;
  /// Returns true if some block has several workgroups.
  bool dividesBlocks() const { return blocks % groups != 0; }
};

/// Buffers and parameters of such a launch.
class SharedSteps {
public:
  /// `sums` is in the workspace, of getSumBytes; `counters` has
  /// getCounterBytes of zeros.
  SharedSteps(LaunchBuilder &launch, const StepShares &shares, int64_t steps,
              BufferSlot sums, BufferSlot counters);

  /// A workgroup may have parts of its first and of its last block.
  static int64_t getSumBytes(const StepShares &shares, const Tile &tile);
  static int64_t getCounterBytes(const StepShares &shares, const Tile &tile);

private:
  friend class ProductEmitter;

  int64_t sums, counters;
  int64_t groups, turns, least, longer;
  MagicDivisor stepsOfBlock, shortShare, longShare;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_SHAREDSTEPS_H
