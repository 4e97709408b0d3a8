//===- VectorOps.cpp - Vectors, component by component --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The components of a vector are registers in row-major order, so that most ops
// only copy registers.
//
//===----------------------------------------------------------------------===//

#include "ElementFunctions.h"
#include "Elementwise.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <numeric>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

/// A component of an operand.
using Source = std::pair<Reg, uint32_t>;

/// Defines the op's result from components of its operands.
static LogicalResult emitPermutation(Translator &translator, Operation *op,
                                     ArrayRef<Source> sources) {
  Reg dst = translator.define(op->getResult(0));
  SmallVector<std::pair<Reg, Reg>> moves;
  for (auto [index, source] : llvm::enumerate(sources))
    moves.emplace_back(translator.component(dst, index),
                       translator.component(source.first, source.second));
  translator.emitMoves(op, moves);
  return success();
}

static SmallVector<Source> allOf(Reg reg) {
  SmallVector<Source> sources;
  for (uint32_t i = 0; i < reg.components; ++i)
    sources.emplace_back(reg, i);
  return sources;
}

static ArrayRef<int64_t> shapeOf(Type type) {
  auto vector = dyn_cast<VectorType>(type);
  return vector ? vector.getShape() : ArrayRef<int64_t>();
}

/// The row-major index of `position` in `shape`, which may have more
/// dimensions.
static int64_t linearize(ArrayRef<int64_t> position, ArrayRef<int64_t> shape) {
  int64_t index = 0;
  for (size_t i = 0; i < shape.size(); ++i)
    index = index * shape[i] + (i < position.size() ? position[i] : 0);
  return index;
}

static SmallVector<int64_t> delinearize(int64_t index,
                                        ArrayRef<int64_t> shape) {
  SmallVector<int64_t> position(shape.size());
  for (size_t i = shape.size(); i-- > 0;) {
    position[i] = index % shape[i];
    index /= shape[i];
  }
  return position;
}

//===----------------------------------------------------------------------===//
// Permutations known at translation
//===----------------------------------------------------------------------===//

static LogicalResult translateBroadcast(Translator &translator, Operation *op) {
  Reg source = translator.use(op->getOperand(0));
  ArrayRef<int64_t> from = shapeOf(op->getOperand(0).getType());
  ArrayRef<int64_t> to = shapeOf(op->getResult(0).getType());
  SmallVector<Source> sources;
  for (int64_t i = 0,
               count = translator.getRegisterType(op->getResult(0).getType())
                           ->components;
       i < count; ++i) {
    SmallVector<int64_t> position = delinearize(i, to);
    ArrayRef<int64_t> inner = ArrayRef(position).take_back(from.size());
    SmallVector<int64_t> clamped(inner);
    for (size_t j = 0; j < from.size(); ++j)
      clamped[j] = from[j] == 1 ? 0 : clamped[j];
    sources.emplace_back(source, linearize(clamped, from));
  }
  return emitPermutation(translator, op, sources);
}

static LogicalResult translateShuffle(Translator &translator, Operation *op) {
  auto shuffle = cast<vector::ShuffleOp>(op);
  Reg a = translator.use(shuffle.getV1()), b = translator.use(shuffle.getV2());
  int64_t rows = shuffle.getV1VectorType().getRank() == 0
                     ? 1
                     : shuffle.getV1VectorType().getShape()[0];
  uint32_t inner = a.components / rows;
  SmallVector<Source> sources;
  for (int64_t row : shuffle.getMask())
    for (uint32_t i = 0; i < inner; ++i) {
      bool isFirst = row < rows; // poison, -1, is whatever is there
      int64_t begin = row < 0 ? 0 : (isFirst ? row : row - rows) * inner;
      sources.emplace_back(isFirst ? a : b, begin + i);
    }
  return emitPermutation(translator, op, sources);
}

static LogicalResult translateFromElements(Translator &translator,
                                           Operation *op) {
  SmallVector<Source> sources;
  for (Value operand : op->getOperands())
    sources.emplace_back(translator.use(operand), 0);
  return emitPermutation(translator, op, sources);
}

static LogicalResult translateToElements(Translator &translator,
                                         Operation *op) {
  Reg source = translator.use(op->getOperand(0));
  SmallVector<std::pair<Reg, Reg>> moves;
  for (auto [index, result] : llvm::enumerate(op->getResults()))
    moves.emplace_back(translator.define(result),
                       translator.component(source, index));
  translator.emitMoves(op, moves);
  return success();
}

static LogicalResult translateShapeCast(Translator &translator, Operation *op) {
  return emitPermutation(translator, op,
                         allOf(translator.use(op->getOperand(0))));
}

static LogicalResult translateExtractSlice(Translator &translator,
                                           Operation *op) {
  auto slice = cast<vector::ExtractStridedSliceOp>(op);
  Reg source = translator.use(slice.getSource());
  ArrayRef<int64_t> from = slice.getSourceVectorType().getShape();
  ArrayRef<int64_t> to = shapeOf(op->getResult(0).getType());
  SmallVector<Source> sources;
  for (int64_t i = 0, count = std::accumulate(to.begin(), to.end(), int64_t(1),
                                              std::multiplies<>());
       i < count; ++i) {
    SmallVector<int64_t> position = delinearize(i, to);
    for (auto [index, offset, stride] :
         llvm::zip(position, slice.getOffsets().getAsValueRange<IntegerAttr>(),
                   slice.getStrides().getAsValueRange<IntegerAttr>()))
      index = index * stride.getSExtValue() + offset.getSExtValue();
    sources.emplace_back(source, linearize(position, from));
  }
  return emitPermutation(translator, op, sources);
}

static LogicalResult translateInsertSlice(Translator &translator,
                                          Operation *op) {
  auto slice = cast<vector::InsertStridedSliceOp>(op);
  Reg source = translator.use(slice.getValueToStore());
  ArrayRef<int64_t> from = slice.getSourceVectorType().getShape();
  ArrayRef<int64_t> to = slice.getDestVectorType().getShape();
  SmallVector<Source> sources = allOf(translator.use(slice.getDest()));
  size_t outer = to.size() - from.size();
  for (uint32_t i = 0; i < source.components; ++i) {
    SmallVector<int64_t> inner = delinearize(i, from);
    SmallVector<int64_t> position(outer, 0);
    position.append(inner);
    for (auto [index, offset] :
         llvm::enumerate(slice.getOffsets().getAsValueRange<IntegerAttr>()))
      position[index] += offset.getSExtValue();
    sources[linearize(position, to)] = {source, i};
  }
  for (const APInt &stride : slice.getStrides().getAsValueRange<IntegerAttr>())
    if (!stride.isOne())
      return translator.refuse(op, "has strides");
  return emitPermutation(translator, op, sources);
}

//===----------------------------------------------------------------------===//
// Positions known at run time
//===----------------------------------------------------------------------===//

/// Copies the component of a whose index is in each lane of b; there are `aux`
/// components.
template <typename T>
static void runExtract(Wave &wave, const Instr &instr) {
  T *dst = wave.at<T>(instr.dst);
  const T *source = wave.at<T>(instr.a);
  const int64_t *index = wave.at<int64_t>(instr.b);
  forActiveLanes(wave, [&](unsigned lane) {
    if (uint64_t(index[lane]) < instr.aux)
      dst[lane] = source[index[lane] * wave.lanes + lane];
    else
      wave.fail(instr, lane,
                "has position " + std::to_string(index[lane]) +
                    " of a vector "
                    "of " +
                    std::to_string(instr.aux));
  });
}

/// Copies a into the component of dst whose index is in each lane of b.
template <typename T>
static void runInsert(Wave &wave, const Instr &instr) {
  T *dst = wave.at<T>(instr.dst);
  const T *source = wave.at<T>(instr.a);
  const int64_t *index = wave.at<int64_t>(instr.b);
  forActiveLanes(wave, [&](unsigned lane) {
    if (uint64_t(index[lane]) < instr.aux)
      dst[index[lane] * wave.lanes + lane] = source[lane];
    else
      wave.fail(instr, lane,
                "has position " + std::to_string(index[lane]) +
                    " of a vector "
                    "of " +
                    std::to_string(instr.aux));
  });
}

static LogicalResult refuseDynamic(Translator &translator, Operation *op) {
  return translator.refuse(op, "has a dynamic position in more than one "
                               "dimension");
}

/// A member of a structure.
static LogicalResult translateExtractValue(Translator &translator,
                                           Operation *op) {
  auto extract = cast<LLVM::ExtractValueOp>(op);
  if (extract.getPosition().size() != 1)
    return translator.refuse(op, "is of a structure within a structure");
  Reg source = translator.use(extract.getContainer());
  Reg type = *translator.getRegisterType(op->getResult(0).getType());
  SmallVector<Source> sources;
  for (uint32_t i = 0; i < type.components; ++i)
    sources.emplace_back(source,
                         extract.getPosition()[0] * type.components + i);
  return emitPermutation(translator, op, sources);
}

static LogicalResult translateExtract(Translator &translator, Operation *op) {
  auto extract = cast<vector::ExtractOp>(op);
  Reg source = translator.use(extract.getSource());
  Reg type = *translator.getRegisterType(op->getResult(0).getType());
  if (!extract.hasDynamicPosition()) {
    int64_t begin = linearize(extract.getStaticPosition(),
                              extract.getSourceVectorType().getShape());
    SmallVector<Source> sources;
    for (uint32_t i = 0; i < type.components; ++i)
      sources.emplace_back(source, std::max<int64_t>(begin, 0) + i);
    return emitPermutation(translator, op, sources);
  }
  if (extract.getSourceVectorType().getRank() != 1)
    return refuseDynamic(translator, op);
  constexpr Handler handlers[] = {runExtract<uint8_t>, runExtract<uint16_t>,
                                  runExtract<uint32_t>, runExtract<uint64_t>};
  Reg index = translator.use(extract.getDynamicPosition()[0]);
  Reg dst = translator.define(op->getResult(0));
  translator
      .emit(op, handlers[std::countr_zero(elemBytes(dst.elem))], dst, source,
            index)
      .aux = source.components;
  return success();
}

static LogicalResult translateInsert(Translator &translator, Operation *op) {
  auto insert = cast<vector::InsertOp>(op);
  Reg source = translator.use(insert.getValueToStore());
  Reg dest = translator.use(insert.getDest());
  SmallVector<Source> sources = allOf(dest);
  if (!insert.hasDynamicPosition()) {
    int64_t begin = linearize(insert.getStaticPosition(),
                              insert.getDestVectorType().getShape());
    for (uint32_t i = 0; i < source.components; ++i)
      sources[std::max<int64_t>(begin, 0) + i] = {source, i};
    return emitPermutation(translator, op, sources);
  }
  if (insert.getDestVectorType().getRank() != 1)
    return refuseDynamic(translator, op);
  constexpr Handler handlers[] = {runInsert<uint8_t>, runInsert<uint16_t>,
                                  runInsert<uint32_t>, runInsert<uint64_t>};
  Reg index = translator.use(insert.getDynamicPosition()[0]);
  if (failed(emitPermutation(translator, op, sources)))
    return failure();
  translator
      .emit(op, handlers[std::countr_zero(elemBytes(dest.elem))],
            translator.use(op->getResult(0)), source, index)
      .aux = dest.components;
  return success();
}

//===----------------------------------------------------------------------===//
// Bitcasts and reductions
//===----------------------------------------------------------------------===//

/// Copies bits, little endian, in pieces of T, the narrower element. `aux` and
/// `imm` are the bytes of an element of a and of dst.
template <typename T>
static void runBitcast(Wave &wave, const Instr &instr) {
  uint32_t from = instr.aux / sizeof(T), to = instr.imm / sizeof(T);
  unsigned lanes = wave.lanes;
  uint32_t pieces = instr.count / lanes * to;
  const T *source = wave.at<T>(instr.a);
  T *dst = wave.at<T>(instr.dst);
  for (uint32_t i = 0; i < pieces; ++i) {
    const T *read = source + i / from * from * lanes + i % from;
    T *write = dst + i / to * to * lanes + i % to;
    for (unsigned lane = 0; lane < lanes; ++lane)
      write[lane * to] = read[lane * from];
  }
}

static LogicalResult translateBitcast(Translator &translator, Operation *op) {
  Reg source = translator.use(op->getOperand(0));
  Reg dst = translator.define(op->getResult(0));
  uint32_t from = elemBytes(source.elem), to = elemBytes(dst.elem);
  if (source.elem == Elem::I1 || dst.elem == Elem::I1 ||
      from * source.components != to * dst.components)
    return translator.refuse(op, "is of i1, or of pointers to buffers");
  constexpr Handler handlers[] = {runBitcast<uint8_t>, runBitcast<uint16_t>,
                                  runBitcast<uint32_t>, runBitcast<uint64_t>};
  Instr &instr = translator.emit(
      op, handlers[std::countr_zero(std::min(from, to))], dst, source);
  instr.aux = from;
  instr.imm = to;
  return success();
}

static Handler pickCombination(vector::CombiningKind kind, Elem elem) {
  using K = vector::CombiningKind;
  bool isFloat = elem >= Elem::F16;
  switch (kind) {
  case K::ADD:
    return isFloat ? pickFloat<Binary<Add>::Run>(elem)
                   : pickInteger<Binary<Add>::Run>(elem);
  case K::MUL:
    return isFloat ? pickFloat<Binary<Mul>::Run>(elem)
                   : pickInteger<Binary<Mul>::Run>(elem);
  case K::MINUI:
    return pickInteger<Binary<Min>::Run>(elem);
  case K::MAXUI:
    return pickInteger<Binary<Max>::Run>(elem);
  case K::MINSI:
    return pickInteger<Binary<Min>::Run, true>(elem);
  case K::MAXSI:
    return pickInteger<Binary<Max>::Run, true>(elem);
  case K::MINNUMF:
    return pickFloat<Binary<MinNum>::Run>(elem);
  case K::MAXNUMF:
    return pickFloat<Binary<MaxNum>::Run>(elem);
  case K::MINIMUMF:
    return pickFloat<Binary<Minimum>::Run>(elem);
  case K::MAXIMUMF:
    return pickFloat<Binary<Maximum>::Run>(elem);
  case K::AND:
    return elem == Elem::I1 ? runBinary<And, uint8_t>
                            : pickInteger<Binary<And>::Run>(elem);
  case K::OR:
    return elem == Elem::I1 ? runBinary<Or, uint8_t>
                            : pickInteger<Binary<Or>::Run>(elem);
  case K::XOR:
    return elem == Elem::I1 ? runBinary<Xor, uint8_t>
                            : pickInteger<Binary<Xor>::Run>(elem);
  }
  return nullptr;
}

/// Reduces from the accumulator, if there is one, over the components in their
/// order.
static LogicalResult translateReduction(Translator &translator, Operation *op) {
  auto reduction = cast<vector::ReductionOp>(op);
  Reg vector = translator.use(reduction.getVector());
  Handler handler = pickCombination(reduction.getKind(), vector.elem);
  if (!handler)
    return translator.refuse(op, "has an element type that the emulator does "
                                 "not know for it");
  SmallVector<Reg> terms;
  if (Value start = reduction.getAcc())
    terms.push_back(translator.use(start));
  for (uint32_t i = 0; i < vector.components; ++i)
    terms.push_back(translator.component(vector, i));
  Reg dst = translator.define(op->getResult(0));
  if (terms.size() == 1) {
    translator.emitMoves(op, {{dst, terms[0]}});
    return success();
  }
  Reg partial[] = {translator.allocate(dst), translator.allocate(dst)};
  Reg sum = terms[0];
  for (size_t i = 1; i < terms.size(); ++i) {
    Reg next = i + 1 == terms.size() ? dst : partial[i % 2];
    translator.emit(op, handler, next, sum, terms[i]);
    sum = next;
  }
  translator.free(partial[0]);
  translator.free(partial[1]);
  return success();
}

void emulator::addVectorOps(OpTable &table) {
  table["vector.broadcast"] = translateBroadcast;
  table["vector.shuffle"] = translateShuffle;
  table["vector.from_elements"] = translateFromElements;
  table["vector.to_elements"] = translateToElements;
  table["vector.shape_cast"] = translateShapeCast;
  table["vector.extract_strided_slice"] = translateExtractSlice;
  table["vector.insert_strided_slice"] = translateInsertSlice;
  table["vector.extract"] = translateExtract;
  table["vector.insert"] = translateInsert;
  table["vector.bitcast"] = translateBitcast;
  table["llvm.bitcast"] = translateBitcast;
  table["llvm.extractvalue"] = translateExtractValue;
  table["vector.reduction"] = translateReduction;
}
