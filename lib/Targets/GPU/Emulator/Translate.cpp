//===- Translate.cpp - Registers, blocks, and the table of ops ------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Translator.h"
#include "VendorInstructions.h"
#include "Wave.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "llvm/Support/raw_ostream.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

static std::optional<Elem> getElem(Type type) {
  if (type.isIndex())
    return Elem::I64;
  if (type.isF16())
    return Elem::F16;
  if (type.isBF16())
    return Elem::BF16;
  if (type.isF32())
    return Elem::F32;
  if (type.isF64())
    return Elem::F64;
  if (!type.isSignlessInteger())
    return std::nullopt;
  switch (type.getIntOrFloatBitWidth()) {
  case 1:
    return Elem::I1;
  case 8:
    return Elem::I8;
  case 16:
    return Elem::I16;
  case 32:
    return Elem::I32;
  case 64:
    return Elem::I64;
  default:
    return std::nullopt;
  }
}

std::optional<Reg> Translator::getRegisterType(Type type) const {
  Reg reg;
  if (auto pointer = dyn_cast<LLVM::LLVMPointerType>(type)) {
    unsigned space = pointer.getAddressSpace();
    const VendorInstructions *vendor = program.options.instructions;
    bool isCommon = space == 1 || space == 3;
    reg.elem = Elem::I64;
    reg.components = isCommon ? 1
                     : vendor ? vendor->countPointerRegisters(space)
                              : 0;
    return reg.components ? std::optional(reg) : std::nullopt;
  }
  // The members of a structure, which are of one type.
  if (auto structure = dyn_cast<LLVM::LLVMStructType>(type)) {
    if (structure.isOpaque() || !llvm::all_equal(structure.getBody()))
      return std::nullopt;
    reg.components = structure.getBody().size();
    type = reg.components ? structure.getBody().front() : type;
  }
  if (auto vector = dyn_cast<VectorType>(type)) {
    if (vector.isScalable())
      return std::nullopt;
    reg.components *= vector.getNumElements();
    type = vector.getElementType();
  }
  std::optional<Elem> elem = getElem(type);
  if (!elem || reg.components == 0)
    return std::nullopt;
  reg.elem = *elem;
  return reg;
}

//===----------------------------------------------------------------------===//
// Registers
//===----------------------------------------------------------------------===//

/// The size of a register in the frame; registers begin on cache lines.
static uint32_t frameSize(Reg reg, unsigned lanes) {
  return (reg.components * elemBytes(reg.elem) * lanes + 63) / 64 * 64;
}

Reg Translator::allocate(Reg reg) {
  uint32_t size = frameSize(reg, lanes());
  std::vector<uint32_t> &free = freeOffsets[size];
  if (!free.empty()) {
    reg.offset = free.back();
    free.pop_back();
    return reg;
  }
  reg.offset = program.frameBytes;
  program.frameBytes += size;
  return reg;
}

void Translator::free(Reg reg) {
  freeOffsets[frameSize(reg, lanes())].push_back(reg.offset);
}

Reg Translator::define(Value value) {
  Reg reg = allocate(*getRegisterType(value.getType()));
  registers[value] = reg;
  return reg;
}

Reg Translator::getConstant(Elem elem, ArrayRef<uint64_t> components) {
  std::pair key(elem, std::vector<uint64_t>(components));
  auto [found, isNew] = constants.try_emplace(key);
  if (!isNew)
    return found->second;
  Reg reg;
  reg.elem = elem;
  reg.components = components.size();
  // A freed register does not do: it must hold from the start of the kernel.
  reg.offset = program.frameBytes;
  program.frameBytes += frameSize(reg, lanes());
  constantOffsets.insert(reg.offset);
  for (uint32_t i = 0; i < reg.components; ++i)
    program.constants.push_back(
        {component(reg, i).offset, elemBytes(elem), components[i]});
  return found->second = reg;
}

Reg Translator::getConstant(Elem elem, uint64_t bits) {
  return getConstant(elem, ArrayRef<uint64_t>(bits));
}

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

uint32_t Translator::getSite(Operation *op) {
  auto [found, isNew] = sites.try_emplace(op, program.sites.size());
  if (isNew) {
    std::string location;
    if (auto place = op->getLoc()->findInstanceOf<FileLineColLoc>())
      location = place.getFilename().str() + ":" +
                 std::to_string(place.getLine()) + ":" +
                 std::to_string(place.getColumn());
    if (auto name = op->getLoc()->findInstanceOf<NameLoc>();
        name && location.empty())
      location = name.getName().str();
    program.sites.push_back({op->getName().getStringRef().str(), location});
  }
  return found->second;
}

Instr &Translator::emit(Operation *op, Handler handler, Reg dst, Reg a, Reg b,
                        Reg c) {
  Instr instr;
  instr.run = handler;
  instr.dst = dst.offset;
  instr.a = a.offset;
  instr.b = b.offset;
  instr.c = c.offset;
  instr.count = dst.components * lanes();
  instr.site = getSite(op);
  return program.code.emplace_back(instr);
}

static void runMoves(Wave &wave, const Instr &instr) {
  const Program &program = wave.group->machine.program;
  for (const Move &move : program.moveLists[instr.aux].moves)
    std::memcpy(wave.frame + move.dst, wave.frame + move.src, move.bytes);
}

template <typename T>
static void moveActive(const Wave &wave, T *dst, const T *src, uint32_t bytes) {
  for (uint32_t i = 0; i < bytes / sizeof(T); i += wave.lanes)
    forActiveLanes(wave, [&](unsigned lane) { dst[i + lane] = src[i + lane]; });
}

static void moveActive(const Wave &wave, const Move &move,
                       const uint8_t *source) {
  uint8_t *dst = wave.frame + move.dst;
  if (wave.exec == wave.fullMask()) {
    std::memcpy(dst, source, move.bytes);
    return;
  }
  auto moveAs = [&](auto type) {
    using T = decltype(type);
    moveActive(wave, reinterpret_cast<T *>(dst),
               reinterpret_cast<const T *>(source), move.bytes);
  };
  switch (move.elemBytes) {
  case 1:
    return moveAs(uint8_t());
  case 2:
    return moveAs(uint16_t());
  case 4:
    return moveAs(uint32_t());
  default:
    return moveAs(uint64_t());
  }
}

static void runMaskedMoves(Wave &wave, const Instr &instr) {
  const MoveList &list = wave.group->machine.program.moveLists[instr.aux];
  if (!list.staged) {
    for (const Move &move : list.moves)
      moveActive(wave, move, wave.frame + move.src);
    return;
  }
  std::vector<uint8_t> stage;
  for (const Move &move : list.moves)
    stage.insert(stage.end(), wave.frame + move.src,
                 wave.frame + move.src + move.bytes);
  const uint8_t *source = stage.data();
  for (const Move &move : list.moves) {
    moveActive(wave, move, source);
    source += move.bytes;
  }
}

void Translator::emitMoves(Operation *op, ArrayRef<std::pair<Reg, Reg>> moves) {
  MoveList list;
  for (auto [dst, src] : moves) {
    uint32_t size = elemBytes(dst.elem);
    uint32_t bytes = dst.components * size * lanes();
    if (!list.moves.empty()) {
      Move &last = list.moves.back();
      if (last.dst + last.bytes == dst.offset &&
          last.src + last.bytes == src.offset) {
        last.bytes += bytes;
        continue;
      }
    }
    list.moves.push_back({dst.offset, src.offset, bytes, size});
  }
  emit(op, runMoves).aux = program.moveLists.size();
  program.moveLists.push_back(std::move(list));
}

void Translator::emitMaskedMoves(Operation *op,
                                 ArrayRef<std::pair<Reg, Reg>> moves) {
  MoveList list;
  for (auto [dst, src] : moves)
    if (dst.offset != src.offset)
      list.moves.push_back({dst.offset, src.offset,
                            dst.components * elemBytes(dst.elem) * lanes(),
                            elemBytes(dst.elem)});
  if (list.moves.empty())
    return;
  for (const Move &read : list.moves)
    for (const Move &write : list.moves)
      list.staged |= read.src == write.dst;
  emit(op, runMaskedMoves).aux = program.moveLists.size();
  program.moveLists.push_back(std::move(list));
}

uint32_t Translator::addAccess(const Access &access) {
  uint32_t &granule = access.lds ? program.ldsGranule : program.globalGranule;
  uint32_t whole = access.bytes & -access.bytes;
  granule = std::min({granule, whole, access.alignment});
  program.accesses.push_back(access);
  return program.accesses.size() - 1;
}

//===----------------------------------------------------------------------===//
// The kernel
//===----------------------------------------------------------------------===//

LogicalResult Translator::refuse(Operation *op, const Twine &reason) {
  if (!error.empty())
    return failure();
  error = "kernel " + program.name + ": " + describeSite(program, getSite(op)) +
          " " + reason.str();
  return failure();
}

static std::string printType(Type type) {
  std::string text;
  llvm::raw_string_ostream(text) << type;
  return text;
}

void Translator::addOps() {
  for (auto add :
       {addIntegerOps, addFloatOps, addConversionOps, addMathOps, addVectorOps,
        addControlFlowOps, addMemoryOps, addGpuOps, addCrossLaneOps})
    add(ops);
  if (const VendorInstructions *vendor = program.options.instructions)
    vendor->addOps(ops);
}

LogicalResult Translator::translateOp(Operation *op) {
  auto entry = ops.find(op->getName().getStringRef());
  if (entry == ops.end())
    return refuse(op, "is not an op that the emulator knows");
  for (Value operand : op->getOperands())
    if (!getRegisterType(operand.getType()))
      return refuse(op, "has an operand of type " +
                            printType(operand.getType()) +
                            ", which the emulator does not know");
  for (Value result : op->getResults())
    if (!getRegisterType(result.getType()))
      return refuse(op, "has a result of type " + printType(result.getType()) +
                            ", which the emulator does not know");
  emitSumAccesses(op);
  return entry->second(*this, op);
}

static void runReadSums(Wave &wave, const Instr &instr) {
  Accumulator &sums = wave.accumulators[static_cast<size_t>(instr.imm)];
  if (sums.underWay)
    wave.fail(instr, -1, "uses sums of products that nothing has waited for");
  sums.lastAccess = wave.steps;
}

static void runWriteSums(Wave &wave, const Instr &instr) {
  wave.accumulators[static_cast<size_t>(instr.imm)].lastAccess = wave.steps;
}

void Translator::emitSumAccesses(Operation *op) {
  for (uint32_t accumulator : sums.reads.lookup(op))
    emit(op, runReadSums).imm = accumulator;
  for (uint32_t accumulator : sums.writes.lookup(op))
    emit(op, runWriteSums).imm = accumulator;
}

/// Returns, for each op of the block, the results of this block's ops that are
/// last used there.
static DenseMap<Operation *, SmallVector<Value>> findLastUses(Block &block) {
  DenseMap<Operation *, SmallVector<Value>> last;
  for (Operation &op : block)
    for (Value result : op.getResults()) {
      Operation *end = &op;
      for (Operation *user : result.getUsers()) {
        Operation *here = block.findAncestorOpInBlock(*user);
        if (here && end->isBeforeInBlock(here))
          end = here;
      }
      last[end].push_back(result);
    }
  return last;
}

LogicalResult Translator::translateBlock(Block &block) {
  DenseMap<Operation *, SmallVector<Value>> lastUses = findLastUses(block);
  // Constants are not freed, and neither are arguments, which belong to loops.
  for (Operation &op : block) {
    if (failed(translateOp(&op)))
      return failure();
    for (Value value : lastUses.lookup(&op))
      if (Reg reg = use(value); !constantOffsets.contains(reg.offset))
        free(reg);
  }
  return success();
}

LogicalResult Translator::addLds() {
  for (auto global :
       kernel->getParentOfType<gpu::GPUModuleOp>().getOps<LLVM::GlobalOp>()) {
    if (global.getAddrSpace() != 3)
      return refuse(global, "is not in LDS, and the emulator knows no other "
                            "global variables");
    auto array = dyn_cast<LLVM::LLVMArrayType>(global.getGlobalType());
    if (!array || !array.getElementType().isInteger(8))
      return refuse(global, "is not an array of i8");
    int64_t alignment =
        std::max<int64_t>(global.getAlignment().value_or(16), 16);
    int64_t offset = (program.ldsBytes + alignment - 1) / alignment * alignment;
    int64_t bytes = array.getNumElements();
    program.lds.push_back({global.getSymName().str(), offset, bytes});
    program.ldsBytes = offset + bytes;
    if (program.ldsBytes > program.options.ldsBytes)
      return refuse(global, "brings the LDS of a workgroup to " +
                                Twine(program.ldsBytes) +
                                " bytes, and there are " +
                                Twine(program.options.ldsBytes));
  }
  return success();
}

std::optional<uint64_t> Translator::getLdsPointer(StringRef name) const {
  for (size_t i = 0; i < program.lds.size(); ++i)
    if (program.lds[i].name == name)
      return makePointer(i + 1, 0);
  return std::nullopt;
}

LogicalResult Translator::addArguments() {
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = argument.getType();
    auto pointer = dyn_cast<LLVM::LLVMPointerType>(type);
    bool isGlobal = pointer && pointer.getAddressSpace() == 1;
    if (!isGlobal && !type.isInteger(32) && !type.isInteger(64) &&
        !type.isF32())
      return refuse(kernel, "has an argument of type " + printType(type) +
                                ", which is none of !llvm.ptr<1>, i32, i64 and "
                                "f32");
    program.arguments.push_back(define(argument));
    program.isPointer.push_back(isGlobal);
  }
  return success();
}

LogicalResult Translator::run() {
  addOps();
  program.name = kernel.getName().str();
  // The place that unset operands point to.
  program.frameBytes = 64;
  if (!kernel.isKernel())
    return refuse(kernel, "is not marked as a kernel");
  if (!llvm::hasSingleElement(kernel.getBody()))
    return refuse(kernel, "has several blocks: control flow must be scf");
  if (kernel.getNumWorkgroupAttributions() ||
      kernel.getNumPrivateAttributions())
    return refuse(kernel, "has attributions: LDS must be an llvm.mlir.global");
  if (auto block = kernel.getKnownBlockSize())
    std::copy_n(block->begin(), 3, program.knownBlock.begin());
  if (failed(addLds()) || failed(addArguments()))
    return failure();
  if (const VendorInstructions *vendor = program.options.instructions)
    sums = vendor->findSums(kernel);
  program.accumulators = sums.count;
  return translateBlock(kernel.getBody().front());
}
