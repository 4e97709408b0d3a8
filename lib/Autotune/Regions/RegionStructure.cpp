//===- RegionStructure.cpp - The values between regions -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Regions/RegionStructure.h"

#include "Choice/ModelCompiler.h"
#include "tarpon/IR/ConstantData.h"
#include "tarpon/IR/FusedProblem.h"
#include "tarpon/IR/Locations.h"
#include "tarpon/Passes/Passes.h"

#include "mlir/Pass/PassManager.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using runtime::Precision;
using runtime::Result;

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {

/// A value, and whether it is read through a reshape.
struct ReadValue {
  Value source;
  bool isReshaped = false;
};

class StructureReader {
public:
  explicit StructureReader(func::FuncOp function) : function(function) {}

  RegionStructure read();

private:
  void addReads(size_t region, FusedOp op);
  RegionValue *getValue(Value value);

  func::FuncOp function;
  llvm::DenseMap<Operation *, size_t> regions;
  llvm::DenseMap<Value, size_t> values;
  RegionStructure structure;
};

} // namespace

static ReadValue findSource(Value value) {
  ReadValue read = {value};
  while (auto reshape = read.source.getDefiningOp<ReshapeOp>())
    read = {reshape.getInput(), true};
  return read;
}

/// Returns null for constants, for values that are no floats, and for what
/// regions that no choice is made for give.
RegionValue *StructureReader::getValue(Value value) {
  auto type = dyn_cast<RankedTensorType>(value.getType());
  if (!type || !type.getElementType().isF32() || getConstantValue(value))
    return nullptr;
  auto [place, isNew] = values.try_emplace(value, structure.values.size());
  if (isNew) {
    RegionValue added;
    if (Operation *producer = value.getDefiningOp()) {
      auto region = regions.find(producer);
      if (region == regions.end()) {
        values.erase(value);
        return nullptr;
      }
      added.producer = region->second;
    }
    structure.values.push_back(std::move(added));
    structure.types.push_back(type);
  }
  return &structure.values[place->second];
}

void StructureReader::addReads(size_t region, FusedOp op) {
  for (Value input : op.getInputs()) {
    ReadValue read = findSource(input);
    if (RegionValue *value = getValue(read.source))
      value->readers.push_back({region, read.isReshaped});
  }
}

RegionStructure StructureReader::read() {
  auto chosen = getChosenRegions(function);
  for (auto [index, op] : llvm::enumerate(chosen)) {
    regions[op] = index;
    structure.names.push_back(getLocationName(op.getRoot()->getLoc()).str());
  }
  for (auto [index, op] : llvm::enumerate(chosen))
    addReads(index, op);
  for (Value result : function.getBody().front().getTerminator()->getOperands())
    if (RegionValue *value = getValue(findSource(result).source))
      value->isReturned = true;
  return std::move(structure);
}

RegionStructure tarpon::describeRegions(func::FuncOp function) {
  return StructureReader(function).read();
}

//===----------------------------------------------------------------------===//
// Conversions
//===----------------------------------------------------------------------===//

static Type getStorage(MLIRContext *context, Precision precision) {
  switch (precision) {
  case Precision::F32:
    return Float32Type::get(context);
  case Precision::F16:
    return Float16Type::get(context);
  case Precision::BF16:
    return BFloat16Type::get(context);
  case Precision::I8:
    // Which scale it is costs the same.
    return quant::UniformQuantizedType::get(
        /*flags=*/0, IntegerType::get(context, 8), Float32Type::get(context),
        /*scale=*/0.125, /*zeroPoint=*/128, /*storageTypeMin=*/0,
        /*storageTypeMax=*/255);
  }
  llvm_unreachable("unknown precision");
}

static RankedTensorType getStored(RankedTensorType type,
                                  const RegionChoice &choice) {
  MLIRContext *context = type.getContext();
  auto stored =
      RankedTensorType::get(type.getShape(), getStorage(context, choice.dtype));
  if (type.getRank() < 3)
    return stored;
  return withLayout(stored,
                    LayoutAttr::parseName(context, choice.layout.name()));
}

Result<Problem> tarpon::poseConversion(RankedTensorType type,
                                       const RegionChoice &from,
                                       const RegionChoice &to) {
  MLIRContext *context = type.getContext();
  ErrorCapture errors(context);
  Location location = UnknownLoc::get(context);
  RankedTensorType operand = getStored(type, from),
                   result = getStored(type, to);
  OwningOpRef<func::FuncOp> function = func::FuncOp::create(
      location, "convert", FunctionType::get(context, {operand}, {result}));
  auto builder = OpBuilder::atBlockBegin(function->addEntryBlock());
  Value converted =
      ConvertOp::create(builder, location, result, function->getArgument(0));
  func::ReturnOp::create(builder, location, converted);
  PassManager passes(context, func::FuncOp::getOperationName());
  passes.addPass(createFusePass(Fusion::Off));
  if (failed(passes.run(*function)))
    return errors.getError("a conversion cannot be fused");
  ProblemAttr problem = poseProblem(*function->getOps<FusedOp>().begin());
  if (!problem)
    return errors.getError("a conversion cannot be posed");
  return problem.getValue();
}
