//===- BehaviourDigest.cpp - Digests the computation of IR ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "BehaviourDigest.h"

#include "Store/Digest.h"

#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "llvm/Support/raw_ostream.h"

using namespace mlir;
using tarpon::Digest;

namespace {

/// Numbers values by the operations that compute them. `state` stands for all
/// writes so far, in their order.
class Digester {
public:
  std::string add(Operation *op);

private:
  std::string addBlock(Block &block, unsigned number);
  std::string addRegions(Operation *op);
  static std::string printAttributes(Operation *op);

  DenseMap<Value, std::string> values;
  std::string state;
  unsigned depth = 0;
};

} // namespace

template <typename T>
static std::string print(const T &value) {
  std::string text;
  llvm::raw_string_ostream stream(text);
  value.print(stream);
  return text;
}

/// Attributes are printed without the contents of large constants, which are
/// digested here.
static std::string printAttribute(Attribute attribute) {
  std::string text = print(attribute);
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute))
    if (AsmResourceBlob *blob = resource.getRawHandle().getBlob())
      text = print(resource.getType()) + Digest().add(blob->getData()).hex();
  return text;
}

std::string Digester::printAttributes(Operation *op) {
  std::string text;
  for (NamedAttribute attribute : op->getAttrDictionary())
    if (attribute.getName() != SymbolTable::getSymbolAttrName())
      text += attribute.getName().str() + "=" +
              printAttribute(attribute.getValue()) + ";";
  return text;
}

std::string Digester::addBlock(Block &block, unsigned number) {
  for (BlockArgument argument : block.getArguments())
    values[argument] = "argument " + std::to_string(depth) + "." +
                       std::to_string(number) + "." +
                       std::to_string(argument.getArgNumber()) + ":" +
                       print(argument.getType());
  Digest digest;
  for (Operation &op : block) {
    std::string computed = add(&op);
    if (op.hasTrait<OpTrait::IsTerminator>())
      digest.add(computed);
  }
  return digest.add(state).hex();
}

std::string Digester::addRegions(Operation *op) {
  Digest digest;
  ++depth;
  for (Region &region : op->getRegions()) {
    // A graph without order, such as a module's, is digested in order too.
    unsigned number = 0;
    for (Block &block : region)
      digest.add(addBlock(block, number++));
    digest.add(llvm::StringRef("region"));
  }
  --depth;
  return digest.hex();
}

std::string Digester::add(Operation *op) {
  Digest digest;
  digest.add(op->getName().getStringRef());
  digest.add(printAttributes(op));
  for (Value operand : op->getOperands())
    digest.add(values[operand]);
  for (Type type : op->getResultTypes())
    digest.add(print(type));
  for (Block *successor : op->getSuccessors())
    digest.add(std::to_string(successor->computeBlockNumber()));
  bool isPure = isMemoryEffectFree(op);
  if (!isPure)
    digest.add(state);
  if (op->getNumRegions() != 0) {
    std::string before = state;
    if (isPure)
      state.clear();
    digest.add(addRegions(op));
    state = before;
  }
  std::string computed = digest.hex();
  for (OpResult result : op->getResults())
    values[result] = computed + "#" + std::to_string(result.getResultNumber());
  // A terminator belongs to its block.
  if (!isPure && !hasSingleEffect<MemoryEffects::Read>(op) &&
      !op->hasTrait<OpTrait::IsTerminator>())
    state = computed;
  return computed;
}

std::string tarpon::test::digestBehaviour(Operation *op) {
  return Digester().add(op);
}
