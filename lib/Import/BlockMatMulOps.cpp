//===- BlockMatMulOps.cpp - Import of products with narrow weights --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// MatMulNBits of ONNX Runtime's domain, and MatMul and Gemm by a constant that
// DequantizeLinear scales in blocks. Both become tarpon.block_matmul, of which
// the weights stay in 4 or 8 bits.
//
//===----------------------------------------------------------------------===//

#include "BlockWeights.h"
#include "OnnxNode.h"
#include "OpTable.h"
#include "tarpon/IR/ConstantData.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

#include <cstring>

using namespace mlir;
using tarpon::runtime::DType;

namespace tarpon {

namespace {
/// The sizes of the weights, n x k.
struct BlockSizes {
  int64_t columns, depth, bits, blockSize;

  int64_t blocks() const { return llvm::divideCeil(depth, blockSize); }
  int64_t blockBytes() const { return blockSize * bits / 8; }
  /// The zero point of symmetric weights.
  int64_t middle() const { return int64_t(1) << (bits - 1); }
};
} // namespace

static Type getByteType(OnnxNode &node) {
  return getElementType(node.getBuilder().getContext(), DType::U8);
}

/// Creates a tensor of ui8, n x blocks; null, which stands for it, if all
/// elements are the zero point of symmetric weights.
static Value createZeroPoints(OnnxNode &node, const BlockSizes &sizes,
                              std::vector<char> bytes) {
  auto middle = static_cast<char>(sizes.middle());
  if (llvm::all_of(bytes, [&](char byte) { return byte == middle; }))
    return nullptr;
  auto type =
      RankedTensorType::get({sizes.columns, sizes.blocks()}, getByteType(node));
  return node.createConstant(type, std::move(bytes));
}

/// The product in the element type of `lhs`; `zeroPoints` may be null.
static Value createProduct(OnnxNode &node, const BlockSizes &sizes, Value lhs,
                           Value weights, Value scales, Value zeroPoints) {
  OpBuilder &builder = node.getBuilder();
  Type f32 = builder.getF32Type(),
       elementType = getTensorType(lhs).getElementType();
  SmallVector<Value, 1> optional;
  if (zeroPoints)
    optional.push_back(zeroPoints);
  Value product = node.create<BlockMatMulOp>(
      node.convert(lhs, f32), weights, node.convert(scales, f32),
      ValueRange(optional), builder.getI64IntegerAttr(sizes.bits),
      builder.getI64IntegerAttr(sizes.blockSize));
  return node.convert(product, elementType);
}

//===----------------------------------------------------------------------===//
// MatMulNBits
//===----------------------------------------------------------------------===//

static std::optional<BlockSizes> readSizes(OnnxNode &node) {
  BlockSizes sizes{node.getInt("N", 0), node.getInt("K", 0),
                   node.getInt("bits", 4), node.getInt("block_size", 0)};
  if (sizes.bits != 4 && sizes.bits != 8)
    node.emitError() << "attribute 'bits' is " << sizes.bits
                     << ", expected 4 or 8";
  else if (sizes.blockSize < 16 || sizes.blockSize > 256 ||
           !llvm::isPowerOf2_64(sizes.blockSize))
    node.emitError() << "attribute 'block_size' is " << sizes.blockSize
                     << ", expected a power of two from 16 to 256";
  else if (sizes.columns < 1 || sizes.depth < 1)
    node.emitError() << "attributes 'N' and 'K' are " << sizes.columns
                     << " and " << sizes.depth << ", expected positive ones";
  return node.hasFailed() ? std::nullopt : std::optional(sizes);
}

/// Returns input `index` in that shape; null, after an error, if it has another
/// number of elements.
static Value reshapeInput(OnnxNode &node, unsigned index, StringRef what,
                          ArrayRef<int64_t> shape) {
  Value value = node.getInput(index);
  if (multiply(getShape(value)) == multiply(shape))
    return node.reshape(value, shape);
  node.emitError() << what << " are " << value.getType() << ", expected "
                   << multiply(shape) << " elements";
  return nullptr;
}

/// Unpacks zero points, two of 4 bits in a byte; the rows start at whole bytes.
static std::optional<std::vector<char>>
readZeroPoints(OnnxNode &node, const BlockSizes &sizes) {
  constexpr unsigned kInput = 3;
  int64_t blocks = sizes.blocks(), perByte = 8 / sizes.bits,
          rowBytes = llvm::divideCeil(blocks, perByte);
  if (getTensorType(node.getInput(kInput)).getElementType() !=
      getByteType(node)) {
    node.emitError() << "the zero points are "
                     << node.getInput(kInput).getType()
                     << ", expected packed ones of ui8";
    return std::nullopt;
  }
  ElementsAttr attr = node.getConstantInput(kInput, "the zero points");
  if (!attr ||
      !reshapeInput(node, kInput, "the zero points", {sizes.columns, rowBytes}))
    return std::nullopt;
  std::vector<char> packed = getConstantBytes(attr), bytes;
  bytes.reserve(sizes.columns * blocks);
  for (int64_t column = 0; column < sizes.columns; ++column)
    for (int64_t block = 0; block < blocks; ++block) {
      auto byte =
          static_cast<uint8_t>(packed[column * rowBytes + block / perByte]);
      bytes.push_back(static_cast<char>(byte >> block % perByte * sizes.bits &
                                        ((1 << sizes.bits) - 1)));
    }
  return bytes;
}

/// The attribute accuracy_level, which allows to round activations to 8 bits,
/// is not made use of.
void importMatMulNBits(OnnxNode &node) {
  std::optional<BlockSizes> sizes = readSizes(node);
  if (!sizes)
    return;
  if (node.hasInput(4)) {
    node.emitError() << "weights in another order ('g_idx') are not supported";
    return;
  }
  Value lhs = node.getInput(0);
  if (!isa<FloatType>(getTensorType(lhs).getElementType()) ||
      getShape(lhs).empty() || getShape(lhs).back() != sizes->depth) {
    node.emitError() << "the input A is " << lhs.getType() << ", expected rows "
                     << "of " << sizes->depth << " floats";
    return;
  }
  int64_t columns = sizes->columns, blocks = sizes->blocks();
  Value weights = reshapeInput(node, 1, "the weights",
                               {columns, blocks, sizes->blockBytes()});
  Value scales = weights
                     ? reshapeInput(node, 2, "the scales", {columns, blocks})
                     : Value();
  Value zeroPoints;
  if (scales && node.hasInput(3))
    if (std::optional<std::vector<char>> bytes = readZeroPoints(node, *sizes))
      zeroPoints = createZeroPoints(node, *sizes, std::move(*bytes));
  if (!scales || node.hasFailed())
    return;
  Value result = createProduct(node, *sizes, lhs, weights, scales, zeroPoints);
  if (result && node.hasInput(5)) {
    if (getShape(node.getInput(5)) != ArrayRef(columns)) {
      node.emitError() << "the bias is " << node.getInput(5).getType()
                       << ", expected " << columns << " elements";
      return;
    }
    result = node.create<AddOp>(result, node.getInput(5));
  }
  node.setOutput(0, result);
}

//===----------------------------------------------------------------------===//
// Products by dequantised constants
//===----------------------------------------------------------------------===//

namespace {
/// The place of an element of the weights, or of a block's scale, in a matrix
/// of k x n or n x k.
struct ColumnOrder {
  int64_t columnStride, depthStride;

  ColumnOrder(int64_t columns, int64_t depth, bool isTransposed)
      : columnStride(isTransposed ? depth : 1),
        depthStride(isTransposed ? 1 : columns) {}
  int64_t find(int64_t column, int64_t index) const {
    return column * columnStride + index * depthStride;
  }
};
} // namespace

/// Packs the integers of all columns; the lowest becomes 0.
static std::vector<char> packWeights(const BlockSizes &sizes,
                                     ArrayRef<char> integers,
                                     const ColumnOrder &order, int64_t lowest) {
  int64_t columnBytes = sizes.blocks() * sizes.blockBytes(),
          perByte = 8 / sizes.bits;
  std::vector<char> packed(sizes.columns * columnBytes);
  for (int64_t column = 0; column < sizes.columns; ++column)
    for (int64_t k = 0; k < sizes.depth; ++k) {
      int64_t element = integers[order.find(column, k)] - lowest;
      packed[column * columnBytes + k / perByte] |= static_cast<char>(
          (element & ((1 << sizes.bits) - 1)) << k % perByte * sizes.bits);
    }
  return packed;
}

/// Multiplies by a matrix whose blocks run along the contracted dimension.
static Value multiplyColumns(OnnxNode &node, const BlockSizes &sizes,
                             const BlockWeights &source, Value lhs,
                             bool transposeRhs) {
  int64_t blocks = sizes.blocks(),
          lowest =
              runtime::isSignedInteger(source.storage) ? -sizes.middle() : 0;
  ColumnOrder order(sizes.columns, blocks, transposeRhs);
  std::vector<float> scales;
  std::vector<char> zeroPoints;
  for (int64_t column = 0; column < sizes.columns; ++column)
    for (int64_t block = 0; block < blocks; ++block) {
      int64_t param = order.find(column, block);
      scales.push_back(source.scales[param]);
      zeroPoints.push_back(
          static_cast<char>(source.zeroPoints[param] - lowest));
    }
  Value weights = node.createConstant(
      RankedTensorType::get({sizes.columns, blocks, sizes.blockBytes()},
                            getByteType(node)),
      packWeights(sizes, getConstantBytes(source.integers),
                  {sizes.columns, sizes.depth, transposeRhs}, lowest));
  OpBuilder &builder = node.getBuilder();
  Value scaleValue = createFloatConstant(
      builder, node.getLoc(),
      RankedTensorType::get({sizes.columns, blocks}, builder.getF32Type()),
      scales);
  return createProduct(node, sizes, lhs, weights, scaleValue,
                       createZeroPoints(node, sizes, std::move(zeroPoints)));
}

Value multiplyByBlocks(OnnxNode &node, Value lhs, Value rhs,
                       bool transposeRhs) {
  const BlockWeights *source = node.findBlockWeights(rhs);
  int64_t depthAxis = transposeRhs ? 1 : 0;
  ArrayRef<int64_t> shape = getShape(rhs);
  if (!source || shape.size() != 2 || source->axis != depthAxis ||
      source->blockSize % 8 != 0 || getShape(lhs).size() < 2 ||
      getShape(lhs).back() != shape[depthAxis])
    return nullptr;
  // A block that reaches beyond the matrix needs no bytes there.
  int64_t depth = shape[depthAxis],
          blockSize =
              std::min<int64_t>(source->blockSize, llvm::alignTo(depth, 8));
  BlockSizes sizes{shape[1 - depthAxis], depth,
                   runtime::dtypeBits(source->storage), blockSize};
  if (depth == 0 ||
      !node.mayCreate({sizes.columns, sizes.blocks(), sizes.blockBytes()}))
    return nullptr;
  return multiplyColumns(node, sizes, *source, lhs, transposeRhs);
}

} // namespace tarpon
