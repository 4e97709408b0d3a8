//===- Engine.h - Tiled products on GPUs ---------------------- -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The base of the solvers for convolutions and matrix products: everything
// except the mapping of a problem to a geometry.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_ENGINE_H
#define TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_ENGINE_H

#include "Packing.h"

namespace tarpon::gpuigemm {

/// A problem as a product.
struct Product {
  Geometry geometry;
  FilterStack filters;
  /// The strides of a batch, if there is one.
  std::optional<igemm::Batch> batch;

  /// True if the kernel reads the input in place; otherwise the input is packed
  /// to `images` times `packed`.
  bool readsInput;
  InputStrides inputStrides;
  Geometry packed;
  int64_t images;

  /// The producer that makes the input on its way to LDS, if any: a problem
  /// whose operands are numbered from behind the product's own.
  std::optional<Problem> producer = std::nullopt;

  /// The rows of D in all blocks, that is, the pixels to compute.
  int64_t pixels() const { return geometry.batch * geometry.outPixels(); }
};

/// Checks that the engine computes this.
Applicability isSupported(const Problem &problem, const TargetInfo &target,
                          const Product &product);

/// Returns true if windows may lie outside of the input.
bool hasPadding(const Geometry &geometry);

/// Returns true if the GPU can copy elements to LDS asynchronously, since its
/// instructions multiply them as they are.
bool canBeCopied(const GpuTarget &gpu, DType dtype);
/// Returns true if that holds for the product's input, whose padding, if there
/// is some, is zeros. What a producer makes is not copied.
bool canBeCopied(const GpuTarget &gpu, const TensorDesc &input,
                 const Product &product);
/// Returns true if that input is copied to the stages of a tile.
bool areStagesCopied(const GpuTarget &gpu, const TensorDesc &input,
                     const Product &product, const Tile &tile);

/// Returns the tile of a config, or the reason if it is none for this product.
std::optional<Tile> getTile(const Problem &problem, const TargetInfo &target,
                            const Product &product, const PerfConfig &config,
                            std::string *reason = nullptr);

/// Configs.cpp
std::vector<PerfConfig> getConfigs(const Problem &problem,
                                   const TargetInfo &target,
                                   const Product &product);
PerfConfig getDefaultConfig(const Problem &problem, const TargetInfo &target,
                            const Product &product);
/// The tiles from which getConfigs chooses, best guess first; some are invalid.
std::vector<TileFields> proposeTiles(const Problem &problem,
                                     const TargetInfo &target,
                                     const Product &product);
/// The fraction of the peak, by the estimate that ranks the tiles.
double estimateFraction(const Problem &problem, const TargetInfo &target,
                        const Product &product);

/// How workgroups share the product's steps, with such a tile.
StepShares getShares(const GpuTarget &gpu, const Product &product,
                     const Tile &tile);
/// The number of splits of k whose sums fit the workspace.
int64_t getMaxSplits(const Product &product);
int64_t getWorkspaceSize(const Problem &problem, const TargetInfo &target,
                         const Product &product);
SolutionPlan planProduct(const Problem &problem, const TargetInfo &target,
                         const Product &product, const Tile &tile);

class EngineSolver : public Solver {
public:
  bool knowsSlices() const final { return true; }

  int64_t workspaceSize(const Problem &problem,
                        const TargetInfo &target) const final {
    return getWorkspaceSize(problem, target, getProduct(problem, target));
  }
  PerfConfig defaultConfig(const Problem &problem,
                           const TargetInfo &target) const final {
    return getDefaultConfig(problem, target, getProduct(problem, target));
  }
  std::vector<PerfConfig> configs(const Problem &problem,
                                  const TargetInfo &target) const final {
    return getConfigs(problem, target, getProduct(problem, target));
  }
  bool isValidConfig(const Problem &problem, const TargetInfo &target,
                     const PerfConfig &config) const final {
    return getTile(problem, target, getProduct(problem, target), config)
        .has_value();
  }
  std::string explainConfig(const Problem &problem, const TargetInfo &target,
                            const PerfConfig &config) const final {
    std::string reason;
    getTile(problem, target, getProduct(problem, target), config, &reason);
    return reason;
  }
  double expectedFraction(const Problem &problem,
                          const TargetInfo &target) const final {
    return estimateFraction(problem, target, getProduct(problem, target));
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const final {
    Product product = getProduct(problem, target);
    return planProduct(problem, target, product,
                       *getTile(problem, target, product, config));
  }

protected:
  virtual Product getProduct(const Problem &problem,
                             const TargetInfo &target) const = 0;
};

} // namespace tarpon::gpuigemm

#endif // TARPON_LIB_KERNELS_GPU_IMPLICITGEMM_ENGINE_H
