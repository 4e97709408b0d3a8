//===- WarpgroupOps.cpp - wgmma -------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// PTX ISA, "Asynchronous Warpgroup Level Matrix Instructions": D (64 x N) of a
// warpgroup, whose wave w has rows 16 w to 16 w + 15. Element i of lane l is in
// row 16 w + l / 4 + 8 (i / 2 % 2), column 8 (i / 4) + 2 (l % 4) + i % 2. Rows
// of A, and of the transpose of B, lie 128 bytes apart in LDS, in groups of
// eight at the stride of the descriptor; bits 4 to 6 of an address are
// exchanged by bits 7 to 9.
//
// Each wave computes its rows when it starts the product, but until it has
// waited for the product LDS must not change, and nothing but products may use
// the sums. wgmma.fence has to order the products with other accesses to their
// sums, and fence.proxy.async with writes to LDS.
//
//===----------------------------------------------------------------------===//

#include "NvidiaOps.h"

#include "GPU/Emulator/Lanes.h"
#include "GPU/Emulator/MemoryAccess.h"

#include "mlir/Dialect/LLVMIR/NVVMDialect.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

static constexpr unsigned kRows = 16, kWaves = 4, kLineBytes = 32, kLanes = 32;

/// The 32 bytes of a line of a matrix, from both of their chunks.
static bool readLine(Wave &wave, const Instr &instr, MemoryAccess &memory,
                     uint64_t descriptor, unsigned line, uint8_t *bytes) {
  constexpr uint64_t kSwizzled128 = 1;
  if (descriptor >> 62 != kSwizzled128) {
    wave.fail(instr, -1, "has matrices that are not of 128 swizzled bytes");
    return false;
  }
  uint64_t start = (descriptor & 0x3fff) << 4;
  uint64_t stride = (descriptor >> 32 & 0x3fff) << 4;
  for (unsigned chunk = 0; chunk < kLineBytes; chunk += 16) {
    uint64_t at = start + line / 8 * stride + line % 8 * 128 + chunk;
    at ^= (at >> 7 & 7) << 4;
    constexpr unsigned kLds = 1;
    const uint8_t *data =
        memory.read(0, makePointer(kLds, static_cast<int64_t>(at)));
    if (!data)
      return false;
    if (!memory.holdRead(0))
      return false;
    std::memcpy(bytes + chunk, data, 16);
  }
  return true;
}

/// a and b are the descriptors and c the sums; `imm` is N.
template <typename A, typename B, typename Number>
static void runWgmma(Wave &wave, const Instr &instr) {
  ++wave.matrixInstructions;
  if (!areAllActive(wave, instr))
    return;
  const uint64_t *left = wave.at<uint64_t>(instr.a);
  const uint64_t *right = wave.at<uint64_t>(instr.b);
  for (unsigned lane = 1; lane < kLanes; ++lane)
    if (left[lane] != left[0] || right[lane] != right[0])
      return wave.fail(instr, lane, "has another descriptor than lane 0");
  MemoryAccess memory(wave, instr,
                      wave.group->machine.program.accesses[instr.aux]);
  constexpr unsigned kK = kLineBytes / sizeof(A);
  unsigned columns = static_cast<unsigned>(instr.imm);
  Number a[kRows][kK];
  A line[kK];
  for (unsigned row = 0; row < kRows; ++row) {
    if (!readLine(wave, instr, memory, left[0],
                  wave.index % kWaves * kRows + row,
                  reinterpret_cast<uint8_t *>(line)))
      return;
    for (unsigned k = 0; k < kK; ++k)
      // NOLINTNEXTLINE(bugprone-signed-char-misuse): an int8_t is a number.
      a[row][k] = widen(line[k]);
  }
  const Number *sums = wave.at<Number>(instr.c);
  auto *dst = wave.at<Number>(instr.dst);
  for (unsigned column = 0; column < columns; ++column) {
    B bytes[kK];
    if (!readLine(wave, instr, memory, right[0], column,
                  reinterpret_cast<uint8_t *>(bytes)))
      return;
    for (unsigned row = 0; row < kRows; ++row) {
      unsigned element = column / 8 * 4 + row / 8 * 2 + column % 2;
      unsigned place = element * kLanes + row % 8 * 4 + column % 8 / 2;
      Number sum = sums[place];
      for (unsigned k = 0; k < kK; ++k)
        sum += a[row][k] * static_cast<Number>(widen(bytes[k]));
      dst[place] = sum;
    }
  }
}

/// `imm` is the accumulator of the product that follows.
static void runBegin(Wave &wave, const Instr &instr) {
  auto accumulator = static_cast<uint32_t>(instr.imm);
  Accumulator &sums = wave.accumulators[accumulator];
  if (sums.lastAccess >= wave.registerFence)
    return wave.fail(instr, -1,
                     "adds to registers with no wgmma.fence behind their last "
                     "use by other instructions");
  ++sums.underWay;
  wave.held.accumulators.push_back(accumulator);
}

static void runFence(Wave &wave, const Instr &instr) {
  if (areAllActive(wave, instr))
    wave.registerFence = wave.steps;
}

static void runProxyFence(Wave &wave, const Instr &) { wave.fenceProxy(); }

namespace {
struct WgmmaForm {
  NVVM::WGMMATypes a, b;
  int k;
  Handler handler;
};
} // namespace

static constexpr WgmmaForm kForms[] = {
    {NVVM::WGMMATypes::f16, NVVM::WGMMATypes::f16, 16,
     runWgmma<Half, Half, float>},
    {NVVM::WGMMATypes::bf16, NVVM::WGMMATypes::bf16, 16,
     runWgmma<BFloat, BFloat, float>},
    {NVVM::WGMMATypes::s8, NVVM::WGMMATypes::s8, 32,
     runWgmma<int8_t, int8_t, uint32_t>},
    {NVVM::WGMMATypes::u8, NVVM::WGMMATypes::s8, 32,
     runWgmma<uint8_t, int8_t, uint32_t>},
    {NVVM::WGMMATypes::tf32, NVVM::WGMMATypes::tf32, 8,
     runWgmma<Tf32, Tf32, float>}};

static LogicalResult translateWgmma(Translator &translator, Operation *op) {
  auto mma = cast<NVVM::WgmmaMmaAsyncOp>(op);
  const WgmmaForm *form = nullptr;
  for (const WgmmaForm &known : kForms)
    if (mma.getTypeA() == known.a && mma.getTypeB() == known.b &&
        mma.getShape().getK() == known.k)
      form = &known;
  auto one = NVVM::WGMMAScaleIn::one;
  if (!form || translator.lanes() != kLanes || mma.getShape().getM() != 64 ||
      mma.getScaleD() != NVVM::WGMMAScaleOut::one || mma.getScaleA() != one ||
      mma.getScaleB() != one || mma.getLayoutA() != NVVM::MMALayout::row ||
      mma.getLayoutB() != NVVM::MMALayout::col || mma.getSatfinite())
    return translator.refuse(op, "is of a form that the emulator does not "
                                 "know");
  Access access;
  access.bytes = access.alignment = 16;
  access.lds = true;
  uint32_t index = translator.addAccess(access);
  Reg a = translator.use(mma.getDescriptorA());
  Reg b = translator.use(mma.getDescriptorB());
  Reg sums = translator.use(mma.getInouts());
  translator.emit(op, runBegin).imm =
      translator.getAccumulator(mma.getResults());
  Reg dst = translator.define(mma.getResults());
  Instr &instr = translator.emit(op, form->handler, dst, a, b, sums);
  instr.aux = index;
  instr.imm = mma.getShape().getN();
  return success();
}

static void runCommit(Wave &wave, const Instr &instr) {
  if (areAllActive(wave, instr))
    wave.commitHeld();
}

static LogicalResult translateCommit(Translator &translator, Operation *op) {
  translator.emit(op, runCommit);
  return success();
}

/// `imm` is how many of the latest groups may still run.
static void runWait(Wave &wave, const Instr &instr) {
  if (!areAllActive(wave, instr))
    return;
  if (const Cell *cell = wave.completeProducts(static_cast<size_t>(instr.imm)))
    wave.fail(
        instr, -1,
        "waits for products whose LDS was written in " +
            describeSite(wave.group->machine.program, cell->writeSite >> 8));
}

static LogicalResult translateWait(Translator &translator, Operation *op) {
  translator.emit(op, runWait).imm =
      static_cast<int64_t>(cast<NVVM::WgmmaWaitGroupSyncOp>(op).getGroup());
  return success();
}

static LogicalResult translateFence(Translator &translator, Operation *op) {
  translator.emit(op, runFence);
  return success();
}

static LogicalResult translateProxyFence(Translator &translator,
                                         Operation *op) {
  NVVM::ProxyKind kind = cast<NVVM::FenceProxyOp>(op).getKind();
  if (kind != NVVM::ProxyKind::async && kind != NVVM::ProxyKind::async_shared)
    return translator.refuse(op, "orders no asynchronous accesses to LDS");
  translator.emit(op, runProxyFence);
  return success();
}

ProductSums emulator::findWgmmaSums(gpu::GPUFuncOp kernel) {
  constexpr unsigned kInouts = 0;
  return findProductSums(kernel, NVVM::WgmmaMmaAsyncOp::getOperationName(),
                         kInouts);
}

void emulator::addWgmmaOps(OpTable &table) {
  table["nvvm.wgmma.mma_async"] = translateWgmma;
  table["nvvm.wgmma.commit.group.sync.aligned"] = translateCommit;
  table["nvvm.wgmma.wait.group.sync.aligned"] = translateWait;
  table["nvvm.wgmma.fence.aligned"] = translateFence;
  table["nvvm.fence.proxy"] = translateProxyFence;
}
