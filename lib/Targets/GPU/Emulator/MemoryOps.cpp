//===- MemoryOps.cpp - Pointers, loads, stores and atomics ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ElementFunctions.h"
#include "Elementwise.h"
#include "MemoryAccess.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Loads and stores
//===----------------------------------------------------------------------===//

static const Access &getAccess(const Wave &wave, const Instr &instr) {
  return wave.group->machine.program.accesses[instr.aux];
}

/// Loads dst from the pointers in a. T is an element.
template <typename T>
static void runLoad(Wave &wave, const Instr &instr) {
  const Access &access = getAccess(wave, instr);
  MemoryAccess memory(wave, instr, access);
  T *dst = wave.at<T>(instr.dst);
  const uint64_t *pointers = wave.at<uint64_t>(instr.a);
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    const uint8_t *data = memory.read(lane, pointers[lane]);
    if (!data)
      return;
    if (access.atomic)
      memory.meet(lane, /*changes=*/false);
    for (uint32_t i = 0; i < access.components; ++i)
      std::memcpy(dst + i * wave.lanes + lane, data + i * sizeof(T), sizeof(T));
  }
}

/// Stores b to the pointers in a.
template <typename T>
static void runStore(Wave &wave, const Instr &instr) {
  const Access &access = getAccess(wave, instr);
  MemoryAccess memory(wave, instr, access);
  const T *source = wave.at<T>(instr.b);
  const uint64_t *pointers = wave.at<uint64_t>(instr.a);
  // One access is 16 bytes in hardware; vectors of up to 128 are split.
  T value[128 / sizeof(T)];
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    for (uint32_t i = 0; i < access.components; ++i)
      value[i] = source[i * wave.lanes + lane];
    uint8_t *data = memory.write(lane, pointers[lane], value);
    if (!data)
      return;
    std::memcpy(data, value, access.bytes);
  }
}

/// Makes the access of an op to `type` in memory. The default alignment is that
/// of the type: its size, rounded up to a power of two.
static LogicalResult makeAccess(Translator &translator, Operation *op,
                                Type type, LLVM::LLVMPointerType pointer,
                                std::optional<uint64_t> alignment, bool atomic,
                                uint32_t &index) {
  Reg reg = *translator.getRegisterType(type);
  if (reg.elem == Elem::I1 || isa<LLVM::LLVMPointerType>(type))
    return translator.refuse(op, "is of i1 or of a pointer in memory");
  if (pointer.getAddressSpace() != 1 && pointer.getAddressSpace() != 3)
    return translator.refuse(op, "is of neither global memory nor LDS");
  Access access;
  access.elemBytes = elemBytes(reg.elem);
  access.components = reg.components;
  access.bytes = access.elemBytes * access.components;
  if (access.bytes > 128)
    return translator.refuse(op, "is of more than 128 bytes");
  access.alignment = alignment.value_or(llvm::PowerOf2Ceil(access.bytes));
  access.lds = pointer.getAddressSpace() == 3;
  access.atomic = atomic;
  index = translator.addAccess(access);
  return success();
}

constexpr Handler kLoads[] = {runLoad<uint8_t>, runLoad<uint16_t>,
                              runLoad<uint32_t>, runLoad<uint64_t>};
constexpr Handler kStores[] = {runStore<uint8_t>, runStore<uint16_t>,
                               runStore<uint32_t>, runStore<uint64_t>};

static LogicalResult translateLoad(Translator &translator, Operation *op) {
  auto load = cast<LLVM::LoadOp>(op);
  uint32_t access = 0;
  if (failed(makeAccess(translator, op, load.getType(),
                        load.getAddr().getType(), load.getAlignment(),
                        load.getOrdering() != LLVM::AtomicOrdering::not_atomic,
                        access)))
    return failure();
  Reg pointer = translator.use(load.getAddr());
  Reg dst = translator.define(load.getResult());
  Handler handler = kLoads[std::countr_zero(elemBytes(dst.elem))];
  translator.emit(op, handler, dst, pointer).aux = access;
  return success();
}

static LogicalResult translateStore(Translator &translator, Operation *op) {
  auto store = cast<LLVM::StoreOp>(op);
  uint32_t access = 0;
  if (failed(makeAccess(translator, op, store.getValue().getType(),
                        store.getAddr().getType(), store.getAlignment(),
                        store.getOrdering() != LLVM::AtomicOrdering::not_atomic,
                        access)))
    return failure();
  Reg value = translator.use(store.getValue());
  Handler handler = kStores[std::countr_zero(elemBytes(value.elem))];
  translator.emit(op, handler, {}, translator.use(store.getAddr()), value).aux =
      access;
  return success();
}

//===----------------------------------------------------------------------===//
// Atomics
//===----------------------------------------------------------------------===//

/// dst is the old value; lanes execute in their order.
template <typename Op, typename T>
static void runAtomic(Wave &wave, const Instr &instr) {
  MemoryAccess memory(wave, instr, getAccess(wave, instr));
  T *dst = wave.at<T>(instr.dst);
  const uint64_t *pointers = wave.at<uint64_t>(instr.a);
  const T *values = wave.at<T>(instr.b);
  for (uint64_t mask = wave.exec; mask != 0; mask &= mask - 1) {
    unsigned lane = std::countr_zero(mask);
    if (!memory.read(lane, pointers[lane]))
      return;
    uint8_t *data = memory.write(lane, pointers[lane], nullptr);
    if (!data)
      return;
    T old;
    std::memcpy(&old, data, sizeof(T));
    T result = narrow<T>(Op::apply(widen(old), widen(values[lane])));
    std::memcpy(data, &result, sizeof(T));
    dst[lane] = old;
    memory.meet(lane, /*changes=*/true);
  }
}

template <typename Op>
struct Atomic {
  template <typename T>
  struct Run {
    static constexpr Handler handler = runAtomic<Op, T>;
  };
};

static Handler pickAtomic(LLVM::AtomicBinOp operation, Elem elem) {
  if (elem != Elem::I32 && elem != Elem::I64 && elem != Elem::F32 &&
      elem != Elem::F64)
    return nullptr;
  switch (operation) {
  case LLVM::AtomicBinOp::add:
    return pickInteger<Atomic<Add>::Run>(elem);
  case LLVM::AtomicBinOp::max:
    return pickInteger<Atomic<Max>::Run, true>(elem);
  case LLVM::AtomicBinOp::min:
    return pickInteger<Atomic<Min>::Run, true>(elem);
  case LLVM::AtomicBinOp::umax:
    return pickInteger<Atomic<Max>::Run>(elem);
  case LLVM::AtomicBinOp::umin:
    return pickInteger<Atomic<Min>::Run>(elem);
  case LLVM::AtomicBinOp::_or:
    return pickInteger<Atomic<Or>::Run>(elem);
  case LLVM::AtomicBinOp::_and:
    return pickInteger<Atomic<And>::Run>(elem);
  case LLVM::AtomicBinOp::uinc_wrap:
    return pickInteger<Atomic<CountUpTo>::Run>(elem);
  case LLVM::AtomicBinOp::fadd:
    return pickFloat<Atomic<Add>::Run>(elem);
  case LLVM::AtomicBinOp::fmax:
    return pickFloat<Atomic<MaxNum>::Run>(elem);
  case LLVM::AtomicBinOp::fmin:
    return pickFloat<Atomic<MinNum>::Run>(elem);
  default:
    return nullptr;
  }
}

static LogicalResult translateAtomic(Translator &translator, Operation *op) {
  auto atomic = cast<LLVM::AtomicRMWOp>(op);
  Reg value = translator.use(atomic.getVal());
  Handler handler = value.components == 1
                        ? pickAtomic(atomic.getBinOp(), value.elem)
                        : nullptr;
  if (!handler)
    return translator.refuse(op, "is of an operation and a type that the "
                                 "emulator does not know together");
  uint32_t access = 0;
  if (failed(makeAccess(translator, op, atomic.getVal().getType(),
                        atomic.getPtr().getType(), atomic.getAlignment(), true,
                        access)))
    return failure();
  Reg pointer = translator.use(atomic.getPtr());
  Reg dst = translator.define(atomic.getRes());
  translator.emit(op, handler, dst, pointer, value).aux = access;
  return success();
}

static void runFence(Wave &wave, const Instr & /*instr*/) {
  wave.fenceDevice();
}

/// A fence of a smaller scope than all workgroups, or of one direction, orders
/// nothing here.
static LogicalResult translateFence(Translator &translator, Operation *op) {
  auto fence = cast<LLVM::FenceOp>(op);
  bool isWhole = fence.getOrdering() == LLVM::AtomicOrdering::acq_rel ||
                 fence.getOrdering() == LLVM::AtomicOrdering::seq_cst;
  StringRef scope = fence.getSyncscope().value_or("");
  if (isWhole && (scope.empty() || scope == "agent" || scope == "device"))
    translator.emit(op, runFence);
  return success();
}

//===----------------------------------------------------------------------===//
// Pointers
//===----------------------------------------------------------------------===//

/// dst = a + imm.
static void runOffset(Wave &wave, const Instr &instr) {
  uint64_t *dst = wave.at<uint64_t>(instr.dst);
  const uint64_t *base = wave.at<uint64_t>(instr.a);
  for (unsigned lane = 0, lanes = wave.lanes & ~31u; lane < lanes; ++lane)
    dst[lane] = base[lane] + instr.imm;
}

/// dst = a + b * imm; b is signed.
template <typename T>
static void runScaledOffset(Wave &wave, const Instr &instr) {
  uint64_t *dst = wave.at<uint64_t>(instr.dst);
  const uint64_t *base = wave.at<uint64_t>(instr.a);
  const T *index = wave.at<T>(instr.b);
  for (unsigned lane = 0, lanes = wave.lanes & ~31u; lane < lanes; ++lane)
    dst[lane] = base[lane] + uint64_t(int64_t(index[lane])) * instr.imm;
}

/// The bytes from one element of an array of `type` to the next.
static std::optional<int64_t> getStride(const Translator &translator,
                                        Type type) {
  if (auto array = dyn_cast<LLVM::LLVMArrayType>(type)) {
    std::optional<int64_t> element =
        getStride(translator, array.getElementType());
    return element ? std::optional(*element * array.getNumElements())
                   : std::nullopt;
  }
  std::optional<Reg> reg = translator.getRegisterType(type);
  if (!reg || isa<LLVM::LLVMPointerType>(type) || reg->elem == Elem::I1)
    return std::nullopt;
  return llvm::PowerOf2Ceil(reg->components * elemBytes(reg->elem));
}

static LogicalResult translateGep(Translator &translator, Operation *op) {
  auto gep = cast<LLVM::GEPOp>(op);
  Reg base = translator.use(gep.getBase());
  if (base.components != 1)
    return translator.refuse(op, "is on a buffer resource");
  Reg dst = translator.define(gep.getRes());
  Type type = gep.getElemType();
  int64_t fixed = 0;
  for (auto [level, index] : llvm::enumerate(gep.getIndices())) {
    if (level > 0) {
      auto array = dyn_cast<LLVM::LLVMArrayType>(type);
      if (!array)
        return translator.refuse(op, "has an index into something that is not "
                                     "an array");
      type = array.getElementType();
    }
    std::optional<int64_t> stride = getStride(translator, type);
    if (!stride)
      return translator.refuse(op, "has an element type that the emulator does "
                                   "not know");
    if (auto constant = dyn_cast<IntegerAttr>(index)) {
      fixed += constant.getInt() * *stride;
      continue;
    }
    Reg offset = translator.use(cast<Value>(index));
    if (offset.elem != Elem::I32 && offset.elem != Elem::I64)
      return translator.refuse(op, "has an index that is not i32 or i64");
    Handler handler = offset.elem == Elem::I32 ? runScaledOffset<int32_t>
                                               : runScaledOffset<int64_t>;
    translator.emit(op, handler, dst, base, offset).imm = *stride;
    base = dst;
  }
  if (fixed != 0 || base.offset != dst.offset)
    translator.emit(op, runOffset, dst, base).imm = fixed;
  return success();
}

static LogicalResult translateAddressOf(Translator &translator, Operation *op) {
  StringRef name = cast<LLVM::AddressOfOp>(op).getGlobalName();
  std::optional<uint64_t> pointer = translator.getLdsPointer(name);
  if (!pointer)
    return translator.refuse(op, "is of @" + name +
                                     ", which is not in the kernel's module");
  translator.alias(op->getResult(0),
                   translator.getConstant(Elem::I64, *pointer));
  return success();
}

/// All bits are set, so that a use of the value shows.
static LogicalResult translatePoison(Translator &translator, Operation *op) {
  Reg type = *translator.getRegisterType(op->getResult(0).getType());
  uint64_t bits = type.elem == Elem::I1 ? 1 : ~uint64_t(0);
  translator.alias(
      op->getResult(0),
      translator.getConstant(type.elem,
                             SmallVector<uint64_t>(type.components, bits)));
  return success();
}

static LogicalResult translateZero(Translator &translator, Operation *op) {
  Reg type = *translator.getRegisterType(op->getResult(0).getType());
  translator.alias(op->getResult(0),
                   translator.getConstant(
                       type.elem, SmallVector<uint64_t>(type.components, 0)));
  return success();
}

void emulator::addMemoryOps(OpTable &table) {
  table["llvm.load"] = translateLoad;
  table["llvm.store"] = translateStore;
  table["llvm.atomicrmw"] = translateAtomic;
  table["llvm.fence"] = translateFence;
  table["llvm.getelementptr"] = translateGep;
  table["llvm.mlir.addressof"] = translateAddressOf;
  table["llvm.mlir.zero"] = translateZero;
  table["llvm.mlir.undef"] = translatePoison;
  table["llvm.mlir.poison"] = translatePoison;
  table["ub.poison"] = translatePoison;
}
