//===- Strassen.h - Matrix products by fewer multiplications ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Products with constant weights, of matrices or as convolutions of single
// pixels, by Strassen's scheme: rows, depth and columns are cut into two parts
// (four with two levels), and of the eight (64) products of blocks, seven (49)
// remain. What is added instead stays near the registers:
//
//   - the sums of blocks of the weights are packed at compile time,
//     [columns / tileN][product][depth][tileN];
//   - those of the input are made while it is packed, for a block of rows,
//     [product][rows / tileM][depth / 16][tileM][16];
//   - a product's register tile is added, with its signs, to the tiles of those
//     blocks of the result that it belongs to. They wait in the cache until
//     all products are done.
//
// No block of the matrices is written to memory, as in Huang et al.,
// "Strassen's Algorithm Reloaded", SC 2016.
//
// The error is larger than that of a plain product, by a factor of about three
// for each level, and a value that is no number reaches the rows that its row
// is added to.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_STRASSEN_STRASSEN_H
#define TARPON_LIB_KERNELS_HOST_STRASSEN_STRASSEN_H

#include "BilinearScheme.h"
#include "Host/ImplicitGemm/KernelEmitter.h"

namespace tarpon::strassen {

/// The sizes of a product: those of the matrices, and of the blocks that they
/// are cut into. Only whole blocks of the depth exist; the last rows and
/// columns may be missing.
struct Sizes {
  Sizes(const igemm::Geometry &geometry, int64_t parts, int64_t lanes);

  int64_t rows, depth, columns;
  int64_t blockRows, blockDepth, blockColumns;
};

/// The properties that the code of a kernel depends on.
struct KernelSpec {
  KernelSpec(const Problem &problem, const TargetInfo &target,
             const PerfConfig &config, const igemm::Geometry &geometry);

  int64_t levels;
  BilinearScheme scheme;
  /// The register tile, and how it is stored.
  igemm::KernelSpec tile;

  std::string symbol() const;
  int64_t sumBytes() const {
    return tile.tileM * tile.tileN * igemm::kUnitBytes;
  }
};

// NOLINTBEGIN(readability-identifier-naming): they are used as enumerators.
/// The kernel has the engine's parameters; these have another meaning.
/// PixelTiles and ChannelTiles are those of one block.
inline constexpr igemm::Param BlockRows =
                                  igemm::InputHeight, ///< rows of a block
    BlockColumns = igemm::InputWidth,                 ///< columns of a block
    BlockDepthBytes = igemm::RunElements,             ///< of a row of a block
    PointBytes = igemm::InputPieceBytes; ///< from a product's panels to the
                                         ///< next one's
// NOLINTEND(readability-identifier-naming)

/// Emits the kernel; StrassenEmitter.cpp.
void emitKernel(KernelBuilder &b, const KernelSpec &spec);

/// The table by which a kernel adds products to blocks of the result, of 64-bit
/// numbers: for each product the bytes from the table's start to its first
/// entry, and behind its last; an entry is a block and the bits of its sign as
/// an f32.
std::vector<int64_t> makeResultTable(const BilinearScheme &scheme);
inline constexpr int64_t kBoundsBytes = 16, kEntryBytes = 16;

/// Packs the sums of blocks of the weights; see above.
std::vector<char> packWeights(const KernelSpec &spec, const Sizes &sizes,
                              const igemm::FilterStrides &strides,
                              llvm::ArrayRef<char> weights);

} // namespace tarpon::strassen

#endif // TARPON_LIB_KERNELS_HOST_STRASSEN_STRASSEN_H
