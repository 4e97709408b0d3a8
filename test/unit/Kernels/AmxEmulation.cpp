//===- AmxEmulation.cpp - AMX kernels on CPUs without AMX -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The functions follow the pseudo-code of Intel's manual (volume 2: TILELOADD,
// TILESTORED, TDPBUSD, TDPBF16PS), for tiles of 16 rows of 64 bytes.
//
//===----------------------------------------------------------------------===//

#include "AmxEmulation.h"

#include "tarpon/Kernels/Common/KernelBuilder.h"
#include "tarpon/Solver/Solver.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/Interfaces/FunctionInterfaces.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringSwitch.h"

#include <atomic>
#include <cmath>
#include <cstring>

using namespace tarpon;
using namespace tarpon::test;
using runtime::Result;

//===----------------------------------------------------------------------===//
// Instructions
//===----------------------------------------------------------------------===//

static constexpr int kRows = 16, kColumns = 16, kRowBytes = 64;

static std::atomic<int64_t> products;

int64_t test::countEmulatedProducts() { return products; }

static void loadTile(char *tile, const char *from, int64_t stride) {
  for (int row = 0; row < kRows; ++row)
    std::memcpy(tile + row * kRowBytes, from + row * stride, kRowBytes);
}

static void storeTile(const char *tile, char *to, int64_t stride) {
  for (int row = 0; row < kRows; ++row)
    std::memcpy(to + row * stride, tile + row * kRowBytes, kRowBytes);
}

static void multiplyBytes(char *result, const char *sums, const char *a,
                          const char *b) {
  char next[kRows * kRowBytes];
  for (int m = 0; m < kRows; ++m)
    for (int n = 0; n < kColumns; ++n) {
      uint32_t sum;
      std::memcpy(&sum, sums + m * kRowBytes + n * 4, 4);
      for (int k = 0; k < kRowBytes; ++k) {
        auto unsignedByte = static_cast<uint8_t>(a[m * kRowBytes + k]);
        auto signedByte =
            static_cast<int8_t>(b[k / 4 * kRowBytes + n * 4 + k % 4]);
        sum += static_cast<uint32_t>(unsignedByte * signedByte);
      }
      std::memcpy(next + m * kRowBytes + n * 4, &sum, 4);
    }
  std::memcpy(result, next, sizeof(next));
  ++products;
}

/// Denormals are zeros to AMX.
static float flush(float value) {
  return std::fpclassify(value) == FP_SUBNORMAL ? std::copysign(0.0F, value)
                                                : value;
}

static float readBf16(const char *from) {
  uint16_t stored;
  std::memcpy(&stored, from, 2);
  uint32_t bits = uint32_t(stored) << 16;
  float value;
  std::memcpy(&value, &bits, 4);
  return flush(value);
}

static void multiplyBf16(char *result, const char *sums, const char *a,
                         const char *b) {
  char next[kRows * kRowBytes];
  for (int m = 0; m < kRows; ++m)
    for (int n = 0; n < kColumns; ++n) {
      float sum;
      std::memcpy(&sum, sums + m * kRowBytes + n * 4, 4);
      // Even and odd elements of K have a sum each.
      float parts[2] = {0, 0};
      for (int k = 0; k < kRowBytes / 2; ++k)
        parts[k % 2] = std::fma(
            readBf16(a + m * kRowBytes + k * 2),
            readBf16(b + k / 2 * kRowBytes + n * 4 + k % 2 * 2), parts[k % 2]);
      sum = flush(sum + (parts[0] + parts[1]));
      std::memcpy(next + m * kRowBytes + n * 4, &sum, 4);
    }
  std::memcpy(result, next, sizeof(next));
  ++products;
}

//===----------------------------------------------------------------------===//
// Kernels
//===----------------------------------------------------------------------===//

namespace {

/// Replaces the instructions of one kernel: a tile is the address of a block on
/// the stack, one for each instruction that makes a tile. An instruction that
/// is repeated overwrites its tile, as it would its register.
class Replacement {
public:
  explicit Replacement(KernelBuilder &b) : b(b) {}
  void run();

private:
  using Value = mlir::Value;

  void changeTypes(mlir::Operation *root);
  void replace(mlir::LLVM::CallIntrinsicOp op);
  Value makeBlock(mlir::Operation *op);
  void call(const void *function, mlir::ValueRange arguments);

  KernelBuilder &b;
};

} // namespace

void Replacement::changeTypes(mlir::Operation *root) {
  auto change = [&](Value value) {
    if (mlir::isa<mlir::LLVM::LLVMX86AMXType>(value.getType()))
      value.setType(b.ptr());
  };
  root->walk([&](mlir::Operation *op) {
    llvm::for_each(op->getResults(), change);
    for (mlir::Region &region : op->getRegions())
      for (mlir::Block &block : region)
        llvm::for_each(block.getArguments(), change);
  });
}

/// A block in the frame of the kernel, not one for each iteration.
mlir::Value Replacement::makeBlock(mlir::Operation *op) {
  mlir::OpBuilder::InsertionGuard guard(b);
  auto function = op->getParentOfType<mlir::FunctionOpInterface>();
  b.setInsertionPointToStart(&function.getFunctionBody().front());
  return mlir::LLVM::AllocaOp::create(b, b.ptr(), b.getI8Type(),
                                      b.cst(kRows * kRowBytes), 64);
}

void Replacement::call(const void *function, mlir::ValueRange arguments) {
  auto address = static_cast<int64_t>(reinterpret_cast<intptr_t>(function));
  llvm::SmallVector<Value> operands = {
      mlir::LLVM::IntToPtrOp::create(b, b.ptr(), b.cst(address))};
  llvm::append_range(operands, arguments);
  auto type = mlir::LLVM::LLVMFunctionType::get(
      mlir::LLVM::LLVMVoidType::get(b.getContext()),
      llvm::to_vector(arguments.getTypes()));
  mlir::LLVM::CallOp::create(b, type, operands);
}

/// The first operands are the shape.
void Replacement::replace(mlir::LLVM::CallIntrinsicOp op) {
  b.setInsertionPoint(op);
  mlir::OperandRange operands = op.getArgs();
  llvm::StringRef name = op.getIntrin();
  if (name == "llvm.x86.tilestored64.internal") {
    call(reinterpret_cast<const void *>(storeTile),
         {operands[4], operands[2], operands[3]});
  } else {
    const void *function =
        llvm::StringSwitch<const void *>(name)
            .Case("llvm.x86.tileloadd64.internal",
                  reinterpret_cast<const void *>(loadTile))
            .Case("llvm.x86.tdpbusd.internal",
                  reinterpret_cast<const void *>(multiplyBytes))
            .Case("llvm.x86.tdpbf16ps.internal",
                  reinterpret_cast<const void *>(multiplyBf16))
            .Default(nullptr);
    if (!function)
      return;
    size_t shape = name.contains("tileload") ? 2 : 3;
    llvm::SmallVector<Value> arguments = {makeBlock(op)};
    llvm::append_range(arguments, operands.drop_front(shape));
    call(function, arguments);
    op->getResult(0).replaceAllUsesWith(arguments.front());
  }
  op.erase();
}

void Replacement::run() {
  mlir::OpBuilder::InsertionGuard guard(b);
  mlir::Operation *function = b.getInsertionBlock()->getParentOp();
  changeTypes(function);
  llvm::SmallVector<mlir::LLVM::CallIntrinsicOp> calls;
  function->walk(
      [&](mlir::LLVM::CallIntrinsicOp call) { calls.push_back(call); });
  for (mlir::LLVM::CallIntrinsicOp call : calls)
    replace(call);
}

namespace {

class AmxEmulation final : public KernelBackend {
public:
  explicit AmxEmulation(std::unique_ptr<KernelBackend> inner)
      : inner(std::move(inner)) {}

  std::string describe() const override { return inner->describe(); }
  Result<std::vector<char>> compile(const KernelSource &kernel) const override {
    return inner->compile(emulate(kernel));
  }
  Result<LinkedKernels> link(const KernelObjects &objects) const override {
    return inner->link(objects);
  }
  std::string printMlir(const KernelSource &kernel) const override {
    return inner->printMlir(emulate(kernel));
  }
  Result<std::string> printAssembly(const KernelSource &kernel) const override {
    return inner->printAssembly(emulate(kernel));
  }

private:
  static KernelSource emulate(KernelSource kernel) {
    kernel.emit = [emit = kernel.emit](KernelBuilder &b) {
      emit(b);
      Replacement(b).run();
    };
    return kernel;
  }

  std::unique_ptr<KernelBackend> inner;
};

} // namespace

std::unique_ptr<KernelBackend>
test::makeAmxEmulation(std::unique_ptr<KernelBackend> inner) {
  return std::make_unique<AmxEmulation>(std::move(inner));
}
