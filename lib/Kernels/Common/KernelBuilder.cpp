//===- KernelBuilder.cpp - Emits the body of one host kernel --------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Kernels/Common/SmallFloats.h"

#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "mlir/IR/BuiltinOps.h"

#include "llvm/Support/ErrorHandling.h"

using namespace mlir;
using namespace tarpon;
using tarpon::runtime::DType;

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

void KernelBuilder::registerDialects(DialectRegistry &registry) {
  registry.insert<arith::ArithDialect, func::FuncDialect, LLVM::LLVMDialect,
                  math::MathDialect, scf::SCFDialect, vector::VectorDialect>();
}

KernelBuilder::KernelBuilder(MLIRContext *context, const TargetInfo &target)
    : ImplicitLocOpBuilder(UnknownLoc::get(context), context), target(target) {}

KernelBuilder::KernelBuilder(ModuleOp module, StringRef symbol,
                             const TargetInfo &target)
    : KernelBuilder(module.getContext(), target) {
  setInsertionPointToEnd(module.getBody());
  Type pointer = ptr(), index = getI64Type();
  auto function = func::FuncOp::create(
      *this, symbol,
      getFunctionType({pointer, pointer, index, index, pointer}, {}));
  Block *entry = function.addEntryBlock();
  buffers = entry->getArgument(0);
  params = entry->getArgument(1);
  begin = entry->getArgument(2);
  end = entry->getArgument(3);
  scratch = entry->getArgument(4);
  setInsertionPointToStart(entry);
}

void KernelBuilder::finish() { func::ReturnOp::create(*this); }

Value KernelBuilder::getBuffer(int64_t index) {
  return load(offset(buffers, index * 8), ptr());
}

Value KernelBuilder::getParam(int64_t index) {
  return load(offset(params, index * 8), getI64Type());
}

Value KernelBuilder::getFloatParam(int64_t index) {
  return load(offset(params, index * 8), getF32Type());
}

void KernelBuilder::forTasks(function_ref<void(Value)> body) {
  forLoop(begin, end, cst(1), body);
}

//===----------------------------------------------------------------------===//
// Types and constants
//===----------------------------------------------------------------------===//

Type KernelBuilder::ptr() { return LLVM::LLVMPointerType::get(getContext()); }

VectorType KernelBuilder::vec(Type element, int64_t lanes) {
  return VectorType::get({lanes}, element);
}

Type KernelBuilder::storageType(DType dtype) {
  if (dtype == DType::F32)
    return getF32Type();
  if (dtype == DType::F16)
    return getF16Type();
  if (dtype == DType::F64)
    return getF64Type();
  return getIntegerType(8 * runtime::dtypeBytes(dtype));
}

Value KernelBuilder::cst(int64_t value) {
  return arith::ConstantOp::create(*this, getI64IntegerAttr(value));
}

Value KernelBuilder::cstF(double value) {
  return arith::ConstantOp::create(*this, getF32FloatAttr(value));
}

Value KernelBuilder::cstLike(Type type, double value) {
  Type element = getElementTypeOrSelf(type);
  TypedAttr scalar;
  if (isa<FloatType>(element))
    scalar = getFloatAttr(element, value);
  else
    scalar = getIntegerAttr(element, static_cast<int64_t>(value));
  if (auto vector = dyn_cast<VectorType>(type))
    scalar = DenseElementsAttr::get(vector, scalar);
  return arith::ConstantOp::create(*this, scalar);
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value KernelBuilder::add(Value a, Value b) {
  return createOrFold<arith::AddIOp>(a, b);
}
Value KernelBuilder::sub(Value a, Value b) {
  return createOrFold<arith::SubIOp>(a, b);
}
Value KernelBuilder::mul(Value a, Value b) {
  return createOrFold<arith::MulIOp>(a, b);
}
Value KernelBuilder::div(Value a, Value b) {
  return createOrFold<arith::DivUIOp>(a, b);
}
Value KernelBuilder::rem(Value a, Value b) {
  return createOrFold<arith::RemUIOp>(a, b);
}
Value KernelBuilder::ceilDiv(Value a, Value b) {
  return div(add(a, sub(b, cst(1))), b);
}
Value KernelBuilder::minS(Value a, Value b) {
  return createOrFold<arith::MinSIOp>(a, b);
}
Value KernelBuilder::maxS(Value a, Value b) {
  return createOrFold<arith::MaxSIOp>(a, b);
}
Value KernelBuilder::cmp(Pred predicate, Value a, Value b) {
  return createOrFold<arith::CmpIOp>(predicate, a, b);
}
Value KernelBuilder::andI(Value a, Value b) {
  return createOrFold<arith::AndIOp>(a, b);
}
Value KernelBuilder::orI(Value a, Value b) {
  return createOrFold<arith::OrIOp>(a, b);
}
Value KernelBuilder::select(Value condition, Value a, Value b) {
  return createOrFold<arith::SelectOp>(condition, a, b);
}
Value KernelBuilder::addF(Value a, Value b) {
  return arith::AddFOp::create(*this, a, b);
}
Value KernelBuilder::subF(Value a, Value b) {
  return arith::SubFOp::create(*this, a, b);
}
Value KernelBuilder::mulF(Value a, Value b) {
  return arith::MulFOp::create(*this, a, b);
}
Value KernelBuilder::divF(Value a, Value b) {
  return arith::DivFOp::create(*this, a, b);
}

Value KernelBuilder::fma(Value a, Value b, Value c) {
  // Without FMA hardware math.fma would become a call into libm.
  if (!target.hasFma)
    return addF(mulF(a, b), c);
  return math::FmaOp::create(*this, a, b, c);
}

Value KernelBuilder::maxF(Value a, Value b) {
  Value greater = arith::CmpFOp::create(*this, arith::CmpFPredicate::OGT, a, b);
  return arith::SelectOp::create(*this, greater, a, b);
}

Value KernelBuilder::minF(Value a, Value b) {
  Value less = arith::CmpFOp::create(*this, arith::CmpFPredicate::OLT, a, b);
  return arith::SelectOp::create(*this, less, a, b);
}

Value KernelBuilder::maxOrNaN(Value a, Value b) {
  Value isNaN = arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, a, a);
  return arith::SelectOp::create(*this, isNaN, a, maxF(a, b));
}

Value KernelBuilder::minOrNaN(Value a, Value b) {
  Value isNaN = arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, a, a);
  return arith::SelectOp::create(*this, isNaN, a, minF(a, b));
}

//===----------------------------------------------------------------------===//
// Control flow
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelBuilder::forLoop(
    Value lower, Value upper, Value step, ValueRange carried,
    function_ref<SmallVector<Value>(Value, ValueRange)> body) {
  auto loop = scf::ForOp::create(
      *this, lower, upper, step, carried,
      [&](OpBuilder &nested, Location, Value i, ValueRange values) {
        InsertionGuard guard(*this);
        restoreInsertionPoint(nested.saveInsertionPoint());
        scf::YieldOp::create(*this, body(i, values));
      });
  return SmallVector<Value>(loop.getResults());
}

void KernelBuilder::forLoop(Value lower, Value upper, Value step,
                            function_ref<void(Value)> body) {
  forLoop(lower, upper, step, ValueRange(), [&](Value i, ValueRange) {
    body(i);
    return SmallVector<Value>();
  });
}

SmallVector<Value>
KernelBuilder::ifThenElse(Value condition, TypeRange results,
                          function_ref<SmallVector<Value>()> thenBody,
                          function_ref<SmallVector<Value>()> elseBody) {
  auto branch = scf::IfOp::create(*this, results, condition,
                                  /*addThenBlock=*/true,
                                  /*addElseBlock=*/true);
  InsertionGuard guard(*this);
  setInsertionPointToEnd(&branch.getThenRegion().front());
  scf::YieldOp::create(*this, thenBody());
  setInsertionPointToEnd(&branch.getElseRegion().front());
  scf::YieldOp::create(*this, elseBody());
  return SmallVector<Value>(branch.getResults());
}

void KernelBuilder::ifThenElse(Value condition, function_ref<void()> thenBody,
                               function_ref<void()> elseBody) {
  auto none = [](function_ref<void()> body) {
    body();
    return SmallVector<Value>();
  };
  ifThenElse(
      condition, TypeRange(), [&] { return none(thenBody); },
      [&] { return none(elseBody); });
}

void KernelBuilder::ifThen(Value condition, function_ref<void()> body) {
  ifThenElse(condition, body, [] {});
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

Value KernelBuilder::offset(Value pointer, Value bytes) {
  return LLVM::GEPOp::create(*this, pointer.getType(), getI8Type(), pointer,
                             ArrayRef<LLVM::GEPArg>{bytes});
}

Value KernelBuilder::offset(Value pointer, int64_t bytes) {
  if (bytes == 0)
    return pointer;
  return offset(pointer, cst(bytes));
}

Value KernelBuilder::load(Value pointer, Type type) {
  return LLVM::LoadOp::create(*this, type, pointer, getAlignment(type));
}

void KernelBuilder::store(Value value, Value pointer) {
  LLVM::StoreOp::create(*this, value, pointer, getAlignment(value.getType()));
}

Value KernelBuilder::maskedLoad(Value pointer, Value mask, VectorType type) {
  Value zero = cstLike(type, 0);
  return LLVM::MaskedLoadOp::create(*this, type, pointer, mask, zero,
                                    getAlignment(type));
}

void KernelBuilder::maskedStore(Value value, Value pointer, Value mask) {
  LLVM::MaskedStoreOp::create(*this, value, pointer, mask,
                              getAlignment(value.getType()));
}

void KernelBuilder::fence(MutableArrayRef<Value> vectors,
                          ArrayRef<Value> kept) {
  // Empty assembly that is declared to change the vectors and memory.
  SmallVector<Value> operands(vectors);
  SmallVector<Type> types;
  std::string results, inputs;
  for (auto [i, vector] : llvm::enumerate(vectors)) {
    types.push_back(vector.getType());
    results += "=v,";
    inputs += std::to_string(i) + ",";
  }
  for (Value other : kept) {
    operands.push_back(other);
    inputs += "v,";
  }
  SmallVector<Type, 1> type;
  if (types.size() == 1)
    type = {types[0]};
  else if (!types.empty())
    type = {LLVM::LLVMStructType::getLiteral(getContext(), types)};
  auto assembly = LLVM::InlineAsmOp::create(
      *this, type, operands, /*asm_string=*/"", results + inputs + "~{memory}",
      /*has_side_effects=*/true, /*is_align_stack=*/false,
      LLVM::tailcallkind::TailCallKind::None, /*asm_dialect=*/nullptr,
      /*operand_attrs=*/nullptr);
  if (types.size() == 1)
    vectors[0] = assembly.getRes();
  else
    for (auto [i, vector] : llvm::enumerate(vectors))
      vector = LLVM::ExtractValueOp::create(*this, assembly.getRes(), i);
}

Value KernelBuilder::firstLanes(Value count, int64_t lanes) {
  SmallVector<int32_t> numbers;
  for (int64_t i = 0; i < lanes; ++i)
    numbers.push_back(static_cast<int32_t>(i));
  Value lane = arith::ConstantOp::create(
      *this, DenseElementsAttr::get(vec(getI32Type(), lanes),
                                    ArrayRef<int32_t>(numbers)));
  Value bounded = maxS(minS(count, cst(lanes)), cst(0));
  Value narrowed = createOrFold<arith::TruncIOp>(Type(getI32Type()), bounded);
  return cmp(Pred::slt, lane, broadcast(narrowed, lanes));
}

Type KernelBuilder::computeType(DType dtype) {
  bool isWide = runtime::dtypeBytes(dtype) >= 4 || dtype == DType::Bool;
  if (dtype == DType::F64)
    return getF64Type();
  return isWide && !runtime::isFloat(dtype) ? Type(getI64Type())
                                            : Type(getF32Type());
}

/// The format of floats that are computed in another type.
static std::optional<runtime::FloatFormat> getSmallFloat(DType dtype) {
  auto format = runtime::getFloatFormat(dtype);
  return format && format->bits() < 32 ? format : std::nullopt;
}

Value KernelBuilder::widen(DType dtype, Value stored) {
  if (auto format = getSmallFloat(dtype))
    return emitDecodeFloat(*this, *format, stored);
  Type type = withLanesOf(stored.getType(), computeType(dtype));
  if (type == stored.getType())
    return stored;
  bool isSigned = runtime::isSignedInteger(dtype);
  // 8- and 16-bit integers go through i32, from which vectors convert in one
  // instruction.
  bool isSmall = getElementTypeOrSelf(type).isF32();
  Type wide = isSmall ? withLanesOf(type, getI32Type()) : type;
  Value extended = isSigned
                       ? Value(arith::ExtSIOp::create(*this, wide, stored))
                       : Value(arith::ExtUIOp::create(*this, wide, stored));
  return isSmall ? Value(arith::SIToFPOp::create(*this, type, extended))
                 : extended;
}

Value KernelBuilder::narrow(DType dtype, Value value) {
  if (auto format = getSmallFloat(dtype))
    return emitEncodeFloat(*this, *format, value);
  Type type = value.getType(), storage = withLanesOf(type, storageType(dtype));
  if (type == storage)
    return value;
  if (!getElementTypeOrSelf(type).isF32())
    return arith::TruncIOp::create(*this, storage, value);
  auto bits = static_cast<unsigned>(runtime::dtypeBits(dtype));
  bool isSigned = runtime::isSignedInteger(dtype);
  double low = isSigned ? -double(1ll << (bits - 1)) : 0;
  double high =
      isSigned ? double((1ll << (bits - 1)) - 1) : double((1ll << bits) - 1);
  Value clamped = minF(maxF(value, cstLike(type, low)), cstLike(type, high));
  if (isSigned) {
    // NaN has become the lower bound, which is 0 only if unsigned.
    Value isNan =
        arith::CmpFOp::create(*this, arith::CmpFPredicate::UNO, value, value);
    clamped = select(isNan, cstLike(type, 0), clamped);
  }
  // Rounds to nearest even in one instruction (cvtps2dq).
  Type wide = withLanesOf(type, getI32Type());
  Value integer = LLVM::LrintOp::create(*this, wide, clamped);
  return arith::TruncIOp::create(*this, storage, integer);
}

/// The type of loads and stores of a dtype: small floats are accessed as
/// integers, since not every CPU has masked moves of them.
static Type getMemoryType(KernelBuilder &b, DType dtype) {
  if (auto format = getSmallFloat(dtype))
    return b.getIntegerType(8 * format->bytes());
  return b.storageType(dtype);
}

Value KernelBuilder::loadConverted(DType dtype, Value pointer, int64_t lanes,
                                   Value mask) {
  assert((lanes > 1 || !mask) && "scalars have no mask");
  Type storage = getMemoryType(*this, dtype);
  if (lanes == 1)
    return widen(dtype, load(pointer, storage));
  VectorType type = vec(storage, lanes);
  return widen(dtype,
               mask ? maskedLoad(pointer, mask, type) : load(pointer, type));
}

void KernelBuilder::storeConverted(DType dtype, Value value, Value pointer,
                                   Value mask) {
  Value stored = narrow(dtype, value);
  if (mask)
    maskedStore(stored, pointer, mask);
  else
    store(stored, pointer);
}

//===----------------------------------------------------------------------===//
// Vectors
//===----------------------------------------------------------------------===//

Value KernelBuilder::broadcast(Value scalar, int64_t lanes) {
  if (lanes == 1)
    return scalar;
  return vector::BroadcastOp::create(*this, vec(scalar.getType(), lanes),
                                     scalar);
}

Value KernelBuilder::bitcast(Value value, Type type) {
  if (value.getType() == type)
    return value;
  if (isa<VectorType>(type) && isa<VectorType>(value.getType()))
    return vector::BitCastOp::create(*this, cast<VectorType>(type), value);
  return LLVM::BitcastOp::create(*this, type, value);
}

Value KernelBuilder::shuffle(Value a, Value b, ArrayRef<int64_t> lanes) {
  return vector::ShuffleOp::create(*this, a, b, lanes);
}

SmallVector<Value> KernelBuilder::transpose(ArrayRef<Value> rows) {
  // Exchanges blocks of 1, 2, 4, ... lanes between rows at the same distance.
  SmallVector<Value> current(rows);
  int64_t n = static_cast<int64_t>(rows.size());
  for (int64_t width = 1; width < n; width *= 2) {
    SmallVector<int64_t> low, high;
    for (int64_t lane = 0; lane < n; ++lane) {
      bool fromSecond = lane & width;
      low.push_back(fromSecond ? n + lane - width : lane);
      high.push_back(fromSecond ? n + lane : lane + width);
    }
    for (int64_t row = 0; row < n; ++row) {
      if (row & width)
        continue;
      Value a = current[row], b = current[row + width];
      current[row] = shuffle(a, b, low);
      current[row + width] = shuffle(a, b, high);
    }
  }
  return current;
}

/// Halves `vector` until one lane is left.
static Value reduceByHalves(KernelBuilder &b, Value vector,
                            function_ref<Value(Value, Value)> combine) {
  int64_t lanes = cast<VectorType>(vector.getType()).getNumElements();
  while (lanes > 1) {
    lanes /= 2;
    SmallVector<int64_t> low, high;
    for (int64_t i = 0; i < lanes; ++i) {
      low.push_back(i);
      high.push_back(lanes + i);
    }
    vector = combine(b.shuffle(vector, vector, low),
                     b.shuffle(vector, vector, high));
  }
  return vector::ExtractOp::create(b, vector, ArrayRef<int64_t>{0});
}

Value KernelBuilder::reduceAdd(Value vector) {
  return reduceByHalves(*this, vector,
                        [&](Value x, Value y) { return addF(x, y); });
}

Value KernelBuilder::reduceMax(Value vector) {
  return reduceByHalves(*this, vector,
                        [&](Value x, Value y) { return maxF(x, y); });
}
