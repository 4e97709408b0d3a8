//===- ShapeOps.cpp - Constants and data movement ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantFolding.h"
#include "ConstantView.h"
#include "Inference.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/ElementTypes.h"
#include "tarpon/IR/TarponOps.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

//===----------------------------------------------------------------------===//
// ConstantOp
//===----------------------------------------------------------------------===//

static LogicalResult checkQuantizedType(const Reporter &report, Type type,
                                        RankedTensorType valueType) {
  auto tensor = dyn_cast<RankedTensorType>(type);
  auto quantized = tensor
                       ? dyn_cast<quant::QuantizedType>(tensor.getElementType())
                       : quant::QuantizedType();
  if (!quantized || tensor.getEncoding() ||
      tensor.getShape() != valueType.getShape() ||
      quantized.getStorageType() != valueType.getElementType())
    return report("expects quantized_type to be a row-major tensor of the "
                  "value's shape and storage type, ",
                  valueType, ", got ", type);
  return success();
}

LogicalResult ConstantOp::inferReturnTypes(MLIRContext *,
                                           std::optional<Location> location,
                                           Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  ElementsAttr value = adaptor.getValue();
  // C1
  auto valueType = dyn_cast<RankedTensorType>(value.getShapedType());
  if (!isa<DenseElementsAttr, DenseResourceElementsAttr>(value) || !valueType ||
      valueType.getEncoding() || !valueType.hasStaticShape())
    return report("expects a dense row-major tensor of a static shape, got ",
                  value.getShapedType());
  // C2
  const ScalarAccess *access = getScalarAccess(valueType.getElementType());
  if (!access)
    return report("expects elements of type i1, i2, i4, i8, i16, i32, i64, ",
                  listFloatTypes(" or "), ", got ", valueType.getElementType());
  // C3
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(value)) {
    int64_t expected = valueType.getNumElements() * access->bytes;
    int64_t actual = resource.getData().size();
    if (actual != expected)
      return report("expects a resource of ", expected, " bytes, got ", actual);
  }
  // C4
  Type resultType = valueType;
  if (std::optional<Type> quantizedType = adaptor.getQuantizedType()) {
    resultType = *quantizedType;
    if (failed(checkQuantizedType(report, resultType, valueType)))
      return failure();
  }
  types.push_back(resultType);
  return success();
}

OpFoldResult ConstantOp::fold(FoldAdaptor) { return getValueAttr(); }

//===----------------------------------------------------------------------===//
// ConcatOp
//===----------------------------------------------------------------------===//

/// Returns true if no block of channels spans two operands.
static bool keepsBlocksWhole(ValueRange inputs, int64_t axis,
                             LayoutAttr layout) {
  return layout.getKind() != LayoutKind::Blocked || axis != 1 ||
         llvm::all_of(inputs, [&](Value input) {
           return getTensorType(input).getDimSize(1) % layout.getBlock() == 0;
         });
}

LogicalResult ConcatOp::inferReturnTypes(MLIRContext *,
                                         std::optional<Location> location,
                                         Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  // C1
  ValueRange inputs = adaptor.getInputs();
  if (inputs.empty())
    return report("expects at least one operand");
  // C2
  RankedTensorType first = getTensorType(inputs.front());
  int64_t axis = adaptor.getAxis();
  if (axis < 0 || axis >= first.getRank())
    return report("expects an axis from 0 to below the rank ", first.getRank(),
                  ", got ", axis);
  // C3
  SmallVector<int64_t> shape(first.getShape());
  for (Value input : inputs.drop_front()) {
    RankedTensorType type = getTensorType(input);
    if (type.getElementType() != first.getElementType() ||
        type.getEncoding() != first.getEncoding() ||
        !concatShape(shape, type.getShape(), axis))
      return report("expects operands that differ along axis ", axis,
                    " only, got ", first, " and ", type);
  }
  // C4
  LayoutAttr layout = getLayout(first);
  if (!keepsBlocksWhole(inputs, axis, layout))
    return report("expects channels to be multiples of the block ",
                  layout.getBlock(), ", got operands of types ",
                  inputs.getTypes());

  types.push_back(first.clone(shape));
  return success();
}

bool ConcatOp::supportsLayout(LayoutAttr layout) {
  return keepsBlocksWhole(getInputs(), getAxis(), layout);
}

bool ConcatOp::prefersLayout() { return false; }

OpFoldResult ConcatOp::fold(FoldAdaptor adaptor) {
  if (getInputs().size() == 1)
    return getInputs().front();
  return foldConcat(adaptor.getInputs(), getAxis(), getType());
}

//===----------------------------------------------------------------------===//
// JoinOp
//===----------------------------------------------------------------------===//

/// C2
static LogicalResult verifyJoinedShapes(JoinOp op) {
  RankedTensorType result = op.getType();
  if (result.getRank() < 3)
    return op.emitOpError("expects a result of rank 3 or more, got ") << result;
  if (isa<quant::UniformQuantizedPerAxisType>(result.getElementType()))
    return op.emitOpError("expects elements that are not quantised per "
                          "channel, got ")
           << result.getElementType();
  int64_t channels = 0;
  for (Value input : op.getInputs()) {
    RankedTensorType type = getTensorType(input);
    if (type.getRank() != result.getRank() ||
        type.getElementType() != result.getElementType())
      return op.emitOpError("expects operands of the result's rank and element "
                            "type, got ")
             << type << " and " << result;
    for (int64_t dim = 0; dim < result.getRank(); ++dim)
      if (dim != 1 && type.getDimSize(dim) != result.getDimSize(dim))
        return op.emitOpError("expects operands that differ from the result "
                              "in their channels only, got ")
               << type << " and " << result;
    channels += type.getDimSize(1);
  }
  if (channels != result.getDimSize(1))
    return op.emitOpError("expects as many channels in the result as in the "
                          "operands, got ")
           << result.getDimSize(1) << " and " << channels;
  return success();
}

/// C3
static LogicalResult verifyJoinedLayouts(JoinOp op) {
  RankedTensorType result = op.getType();
  LayoutAttr layout = getLayout(result), expected = layout;
  if (layout.getKind() == LayoutKind::NHWC && layout.getPitch() == 0 &&
      op.getInputs().size() > 1)
    expected = layout.withPitch(result.getDimSize(1));
  for (Value input : op.getInputs())
    if (getLayout(getTensorType(input)) != expected)
      return op.emitOpError("expects operands in the layout ")
             << expected << ", got " << getTensorType(input);
  if (layout.getKind() == LayoutKind::NHWC)
    return success();
  if (result.getDimSize(0) != 1)
    return op.emitOpError("expects one image in the layout ")
           << layout.getName() << ", got " << result.getDimSize(0);
  if (!keepsBlocksWhole(op.getInputs(), /*axis=*/1, layout))
    return op.emitOpError("expects channels to be multiples of the block ")
           << layout.getBlock();
  return success();
}

LogicalResult JoinOp::verify() {
  // C1
  if (getInputs().empty())
    return emitOpError("expects at least one operand");
  if (failed(verifyJoinedShapes(*this)) || failed(verifyJoinedLayouts(*this)))
    return failure();
  // C4
  for (Value input : getInputs()) {
    Operation *producer = input.getDefiningOp();
    if (!producer || isa<BitcastOp, ConstantOp, ReshapeOp, SliceOp>(producer))
      return emitOpError("expects operands that have memory of their own, got ")
             << (producer ? producer->getName().getStringRef()
                          : StringRef("an argument"));
    auto isJoin = [](OpOperand &use) { return isa<JoinOp>(use.getOwner()); };
    if (llvm::count_if(input.getUses(), isJoin) != 1)
      return emitOpError("expects operands that are joined once");
  }
  return success();
}

//===----------------------------------------------------------------------===//
// SliceOp
//===----------------------------------------------------------------------===//

/// C3
static LogicalResult verifySlicedLayout(SliceOp op) {
  RankedTensorType input = op.getInput().getType(), result = op.getType();
  LayoutAttr layout = getLayout(input), expected = layout;
  if (layout.getKind() == LayoutKind::NHWC && layout.getPitch() == 0)
    expected = layout.withPitch(input.getDimSize(1));
  if (getLayout(result) != expected)
    return op.emitOpError("expects a result in the layout ")
           << expected << ", got " << result;
  if (layout.getKind() == LayoutKind::NHWC)
    return success();
  if (result.getDimSize(0) != 1)
    return op.emitOpError("expects one image in the layout ")
           << layout.getName() << ", got " << result.getDimSize(0);
  int64_t block = layout.getBlock();
  if (op.getOffset() % block != 0 || result.getDimSize(1) % block != 0)
    return op.emitOpError("expects offset and channels to be multiples of the "
                          "block ")
           << block;
  return success();
}

LogicalResult SliceOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  // C1
  if (result.getRank() < 3)
    return emitOpError("expects a result of rank 3 or more, got ") << result;
  if (isa<quant::UniformQuantizedPerAxisType>(result.getElementType()))
    return emitOpError("expects elements that are not quantised per channel, "
                       "got ")
           << result.getElementType();
  if (input.getRank() != result.getRank() ||
      input.getElementType() != result.getElementType())
    return emitOpError("expects a result of the input's rank and element type, "
                       "got ")
           << result << " and " << input;
  for (int64_t dim = 0; dim < result.getRank(); ++dim)
    if (dim != 1 && input.getDimSize(dim) != result.getDimSize(dim))
      return emitOpError("expects a result that differs from the input in its "
                         "channels only, got ")
             << result << " and " << input;
  // C2
  int64_t offset = getOffset(), channels = result.getDimSize(1);
  if (offset < 0 || offset + channels > input.getDimSize(1))
    return emitOpError("expects channels of the input, got ")
           << channels << " from " << offset << " on, of "
           << input.getDimSize(1);
  return verifySlicedLayout(*this);
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

/// Returns true if nothing lies between the elements.
static bool isDense(RankedTensorType type) {
  LayoutAttr layout = getLayout(type);
  return layout.getKind() != LayoutKind::Blocked && layout.getPitch() == 0;
}

LogicalResult ReshapeOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  // C1
  if (input.getElementType() != result.getElementType())
    return emitOpError(
               "expects input and result of the same element type, got ")
           << input.getElementType() << " and " << result.getElementType();
  if (input.getNumElements() != result.getNumElements())
    return emitOpError("expects as many elements in the result as in the "
                       "input, got ")
           << result.getNumElements() << " and " << input.getNumElements();
  // C2
  for (RankedTensorType type : {input, result})
    if (!isDense(type))
      return emitOpError("expects tensors without blocks or a pitch, got ")
             << type;
  return success();
}

OpFoldResult ReshapeOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto producer = getInput().getDefiningOp<ReshapeOp>()) {
    setOperand(producer.getInput());
    return getResult();
  }
  // Constants are written in the order of their logical shape.
  if (getInput().getType().getEncoding() || getType().getEncoding())
    return {};
  return foldReshape(adaptor.getInput(), getType());
}

//===----------------------------------------------------------------------===//
// BitcastOp
//===----------------------------------------------------------------------===//

/// Returns true if the elements' bits lie in memory as they are, with zeros
/// above those of less than 8 bits.
static bool hasPlainBits(Type elementType) {
  if (!isElementType(elementType) || isa<quant::QuantizedType>(elementType) ||
      elementType.isInteger(1))
    return false;
  return !elementType.isSignlessInteger() ||
         elementType.getIntOrFloatBitWidth() >= 8;
}

LogicalResult BitcastOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  // C1
  if (input.getShape() != result.getShape() || input.getEncoding() ||
      result.getEncoding())
    return emitOpError("expects row-major input and result of the same shape, "
                       "got ")
           << input << " and " << result;
  // C2
  for (RankedTensorType type : {input, result})
    if (!hasPlainBits(type.getElementType()))
      return emitOpError("expects elements that are floats, unsigned integers "
                         "or integers of 8 bits or more, got ")
             << type.getElementType();
  // C3
  if (input.getElementTypeBitWidth() != result.getElementTypeBitWidth())
    return emitOpError("expects elements of as many bits in the result as in "
                       "the input, got ")
           << result.getElementType() << " and " << input.getElementType();
  return success();
}

OpFoldResult BitcastOp::fold(FoldAdaptor adaptor) {
  if (getInput().getType() == getType())
    return getInput();
  if (auto producer = getInput().getDefiningOp<BitcastOp>()) {
    setOperand(producer.getInput());
    return getResult();
  }
  std::optional<ConstantView> view = ConstantView::get(adaptor.getInput());
  if (!view)
    return {};
  if (view->isSplat())
    return makeSplatAttr(getType(), view->getStored());
  return makeConstantAttr(getType(), view->getStored().vec());
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

/// Permutes a per-channel type along with its dimension.
static Type permuteElementType(Type elementType,
                               ArrayRef<int64_t> permutation) {
  auto perAxis = dyn_cast<quant::UniformQuantizedPerAxisType>(elementType);
  if (!perAxis)
    return elementType;
  const int64_t *axis =
      llvm::find(permutation, perAxis.getQuantizedDimension());
  return quant::UniformQuantizedPerAxisType::get(
      perAxis.getFlags(), perAxis.getStorageType(), perAxis.getExpressedType(),
      perAxis.getScales(), perAxis.getZeroPoints(), axis - permutation.begin(),
      perAxis.getStorageTypeMin(), perAxis.getStorageTypeMax());
}

LogicalResult TransposeOp::inferReturnTypes(MLIRContext *,
                                            std::optional<Location> location,
                                            Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  ArrayRef<int64_t> permutation = adaptor.getPermutation();
  std::optional<Shape> shape = permuteShape(input.getShape(), permutation);
  if (!shape)
    return report("expects a permutation of rank ", input.getRank(), ", got [",
                  permutation, "]");
  // C2
  if (failed(checkRowMajor(report, "input", input)))
    return failure();

  types.push_back(RankedTensorType::get(
      *shape, permuteElementType(input.getElementType(), permutation)));
  return success();
}

OpFoldResult TransposeOp::fold(FoldAdaptor adaptor) {
  if (llvm::is_sorted(getPermutation()))
    return getInput();
  return foldTranspose(adaptor.getInput(), getPermutation(), getType());
}

//===----------------------------------------------------------------------===//
// ShuffleChannelsOp
//===----------------------------------------------------------------------===//

LogicalResult
ShuffleChannelsOp::inferReturnTypes(MLIRContext *,
                                    std::optional<Location> location,
                                    Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  // C1
  if (input.getRank() < 2)
    return report("expects an input of rank 2 or more, got rank ",
                  input.getRank());
  // C2
  int64_t group = adaptor.getGroup();
  if (!isGroupOf(group, input.getDimSize(1), input.getDimSize(1)))
    return report("expects a group that divides ", input.getDimSize(1),
                  " channels, got ", group);
  // C3
  if (isa<quant::UniformQuantizedPerAxisType>(input.getElementType()))
    return report("expects elements that are not quantised per channel, got ",
                  input.getElementType());
  types.push_back(input);
  return success();
}

bool ShuffleChannelsOp::prefersLayout() { return false; }

bool ShuffleChannelsOp::supportsLayout(LayoutAttr layout) {
  return layout.getKind() != LayoutKind::Blocked;
}

//===----------------------------------------------------------------------===//
// PadOp
//===----------------------------------------------------------------------===//

/// Checks that the mode can provide that many cells beside a dimension.
static LogicalResult checkPad(const Reporter &report, PadMode mode, int64_t pad,
                              int64_t size) {
  // C3
  if (mode == PadMode::Reflect && !canReflect(size, pad))
    return report("expects pads smaller than the dimension in reflect mode, "
                  "got ",
                  pad, " and ", size);
  // C5
  if ((mode == PadMode::Edge || mode == PadMode::Wrap) && pad > 0 && size == 0)
    return report("expects no pads of an empty dimension in ",
                  stringifyPadMode(mode), " mode, got ", pad);
  return success();
}

bool PadOp::prefersLayout() { return false; }

bool PadOp::supportsLayout(LayoutAttr layout) {
  ArrayRef<int64_t> pads = getPads();
  bool padsChannels =
      pads.size() >= 4 && (pads[1] != 0 || pads[pads.size() / 2 + 1] != 0);
  return layout.getKind() != LayoutKind::Blocked || !padsChannels;
}

LogicalResult PadOp::inferReturnTypes(MLIRContext *,
                                      std::optional<Location> location,
                                      Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  ArrayRef<int64_t> pads = adaptor.getPads();
  // C1
  size_t rank = input.getRank();
  if (pads.size() != 2 * rank)
    return report("expects ", 2 * rank, " entries in pads, got ", pads.size());
  Shape shape = padShape(input.getShape(), pads);
  for (size_t dim = 0; dim < rank; ++dim) {
    for (int64_t pad : {pads[dim], pads[rank + dim]})
      if (failed(
              checkPad(report, adaptor.getMode(), pad, input.getDimSize(dim))))
        return failure();
    // C2
    if (shape[dim] < 1)
      return report("expects positive result dimensions, got ", shape[dim],
                    " in dimension ", dim);
  }
  // C4
  if (getLayout(input).getKind() == LayoutKind::Blocked &&
      (pads[1] != 0 || pads[rank + 1] != 0))
    return report("expects no pads of channels in a blocked layout, got ",
                  pads[1], " and ", pads[rank + 1]);

  types.push_back(input.clone(shape));
  return success();
}

OpFoldResult PadOp::fold(FoldAdaptor adaptor) {
  if (getMode() != PadMode::Constant)
    return nullptr;
  return foldPad(adaptor.getInput(), getPads(), getValue().convertToDouble(),
                 getType());
}

//===----------------------------------------------------------------------===//
// ConvertOp
//===----------------------------------------------------------------------===//

LogicalResult ConvertOp::verify() {
  RankedTensorType input = getInput().getType(), result = getType();
  // C1
  if (input.getShape() != result.getShape())
    return emitOpError("expects input and result of the same shape, got ")
           << input << " and " << result;
  // C2
  for (RankedTensorType type : {input, result})
    if (!isa<FloatType, IntegerType, quant::QuantizedType>(
            type.getElementType()))
      return emitOpError("expects float, integer or quantised elements, got ")
             << type.getElementType();
  // C3
  for (RankedTensorType type : {input, result})
    if (failed(checkSymmetric({getLoc(), getOperationName()},
                              type.getElementType())))
      return failure();
  return success();
}

OpFoldResult ConvertOp::fold(FoldAdaptor adaptor) {
  RankedTensorType input = getInput().getType();
  if (input == getType())
    return getInput();
  // The stored integers of a quantised constant are not its values.
  if (auto type = dyn_cast<quant::QuantizedType>(input.getElementType()))
    return foldDequantize(adaptor.getInput(), type, getType());
  return foldConvert(adaptor.getInput(), getType());
}
