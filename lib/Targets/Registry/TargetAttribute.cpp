//===- TargetAttribute.cpp - Targets in the IR ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Registry/TargetAttribute.h"

#include "tarpon/IR/TargetCheck.h"

using namespace mlir;
using namespace tarpon;
using runtime::Result;

/// Reads options that the attribute's verifier has checked.
static TargetOptions readOptions(DictionaryAttr dictionary) {
  TargetOptions options;
  if (!dictionary)
    return options;
  if (auto threads = dictionary.getAs<IntegerAttr>("threads"))
    options.threads = threads.getInt();
  if (auto cpu = dictionary.getAs<StringAttr>("cpu"))
    options.cpu = cpu.str();
  if (auto device = dictionary.getAs<StringAttr>("device"))
    options.device = device.str();
  return options;
}

Result<std::shared_ptr<const Target>> tarpon::findTarget(TargetAttr attribute) {
  return findTarget(attribute.getName(), readOptions(attribute.getOptions()));
}

TargetAttr tarpon::getTargetAttr(Operation *op) {
  for (; op; op = op->getParentOp())
    if (auto attribute = op->getAttrOfType<TargetAttr>(kTargetAttrName))
      return attribute;
  return nullptr;
}

namespace {

class RegistryCheck final : public TargetCheck {
public:
  using TargetCheck::TargetCheck;

  std::string findFault(StringRef name, DictionaryAttr options) const override {
    Result<std::shared_ptr<const Target>> target =
        findTarget(name, readOptions(options));
    return target ? "" : target.message();
  }
};

} // namespace

void tarpon::registerTargetCheck(DialectRegistry &registry) {
  registry.addExtension(+[](MLIRContext *, TarponDialect *dialect) {
    dialect->addInterfaces<RegistryCheck>();
  });
}
