//===- ProductSums.cpp - Follows the sums of asynchronous products --------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProductSums.h"

#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/EquivalenceClasses.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::emulator;

namespace {

class SumFinder {
public:
  SumFinder(llvm::StringRef product, unsigned operand)
      : product(product), operand(operand) {}

  ProductSums run(gpu::GPUFuncOp kernel);

private:
  bool isProduct(Operation *op) const {
    return op->getName().getStringRef() == product;
  }
  bool passesOn(Operation *op) const {
    return isProduct(op) || isa<scf::ForOp, scf::IfOp, scf::YieldOp>(op);
  }
  void addPasses(Operation *op);
  void pass(Operation *op, ValueRange from, ValueRange to);
  std::optional<uint32_t> number(Value value);

  llvm::StringRef product;
  unsigned operand;
  llvm::EquivalenceClasses<void *> same;
  /// An op writes a value that is no sum to the registers of `to`.
  struct Write {
    Operation *op;
    Value to;
  };
  std::vector<Write> writes;
  llvm::DenseMap<void *, uint32_t> numbers;
  ProductSums sums;
};

} // namespace

/// Values that other ops than those of passesOn() compute are copied: they are
/// in registers of their own.
void SumFinder::pass(Operation *op, ValueRange from, ValueRange to) {
  for (auto [source, target] : llvm::zip_equal(from, to)) {
    Operation *maker = source.getDefiningOp();
    if (!maker || passesOn(maker))
      same.unionSets(source.getAsOpaquePointer(), target.getAsOpaquePointer());
    else
      // A product adds to the very registers of what was computed for it.
      writes.push_back({isProduct(op) ? maker : op, target});
  }
}

void SumFinder::addPasses(Operation *op) {
  if (isProduct(op))
    pass(op, op->getOperand(operand), op->getResults());
  else if (auto loop = dyn_cast<scf::ForOp>(op)) {
    pass(op, loop.getInitArgs(), loop.getRegionIterArgs());
    for (auto [argument, result] :
         llvm::zip_equal(loop.getRegionIterArgs(), loop.getResults()))
      same.unionSets(argument.getAsOpaquePointer(),
                     result.getAsOpaquePointer());
  } else if (auto yield = dyn_cast<scf::YieldOp>(op);
             yield && isa<scf::ForOp, scf::IfOp>(op->getParentOp()))
    pass(op, yield.getOperands(), op->getParentOp()->getResults());
}

/// None if the value is no sum.
std::optional<uint32_t> SumFinder::number(Value value) {
  auto leader = same.findLeader(value.getAsOpaquePointer());
  if (leader == same.member_end())
    return std::nullopt;
  auto known = numbers.find(*leader);
  return known == numbers.end() ? std::nullopt : std::optional(known->second);
}

ProductSums SumFinder::run(gpu::GPUFuncOp kernel) {
  kernel.walk([&](Operation *op) { addPasses(op); });
  kernel.walk([&](Operation *op) {
    if (!isProduct(op))
      return;
    void *result = op->getResult(0).getAsOpaquePointer();
    same.insert(result);
    auto [known, isNew] =
        numbers.try_emplace(*same.findLeader(result), sums.count);
    sums.count += isNew;
  });
  for (const Write &write : writes)
    if (auto accumulator = number(write.to))
      sums.writes[write.op].push_back(*accumulator);
  kernel.walk([&](Operation *op) {
    for (Value result : op->getResults())
      if (auto accumulator = number(result))
        sums.accumulators[result] = *accumulator;
    if (passesOn(op))
      return;
    for (Value value : op->getOperands())
      if (auto accumulator = number(value))
        sums.reads[op].push_back(*accumulator);
  });
  return std::move(sums);
}

ProductSums emulator::findProductSums(gpu::GPUFuncOp kernel, llvm::StringRef op,
                                      unsigned operand) {
  return SumFinder(op, operand).run(kernel);
}
