//===- ProblemAttr.cpp - Problems and perf configs in the IR ----*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TarponDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// ProblemAttr
//===----------------------------------------------------------------------===//

/// The tensors whose scales the key leaves out, in order.
template <typename ProblemT>
static auto getQuantized(ProblemT &problem) {
  SmallVector<decltype(&problem.operands.front())> tensors;
  for (auto &operand : problem.operands)
    tensors.push_back(&operand);
  tensors.push_back(&problem.result);
  for (auto &result : problem.moreResults)
    tensors.push_back(&result);
  llvm::erase_if(tensors,
                 [](const TensorDesc *desc) { return !desc->quantized; });
  return tensors;
}

static ParseResult parseScales(AsmParser &parser, TensorDesc &desc) {
  desc.scales.clear();
  auto parseScale = [&]() -> ParseResult {
    APFloat scale(0.0f);
    if (parser.parseFloat(APFloat::IEEEsingle(), scale))
      return failure();
    desc.scales.push_back(scale.convertToFloat());
    return success();
  };
  SMLoc location;
  if (parser.parseComma() || parser.getCurrentLocation(&location) ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::Braces, parseScale))
    return failure();
  if (succeeded(parser.parseOptionalColon()) &&
      parser.parseInteger(desc.zeroPoint))
    return failure();
  if (succeeded(parser.parseOptionalKeyword("along")) &&
      parser.parseInteger(desc.quantAxis))
    return failure();
  // C3
  bool isAxis = desc.quantAxis >= 0 && desc.quantAxis < desc.rank();
  if (!isAxis && desc.quantAxis != -1)
    return parser.emitError(location)
           << "expects scales along a dimension of rank " << desc.rank()
           << ", got " << desc.quantAxis;
  int64_t expected = isAxis ? desc.shape[desc.quantAxis] : 1;
  if (static_cast<int64_t>(desc.scales.size()) != expected)
    return parser.emitError(location)
           << "expects " << expected << " scales, got " << desc.scales.size();
  return success();
}

Attribute ProblemAttr::parse(AsmParser &parser, Type) {
  std::string key;
  SMLoc location;
  if (parser.parseLess() || parser.getCurrentLocation(&location) ||
      parser.parseString(&key))
    return nullptr;
  // C1
  std::string fault;
  FailureOr<Problem> problem = parseProblem(key, &fault);
  if (failed(problem)) {
    parser.emitError(location)
        << "'" << key << "' is not a problem key: " << fault;
    return nullptr;
  }
  // C2
  for (TensorDesc *desc : getQuantized(*problem))
    if (parseScales(parser, *desc))
      return nullptr;
  if (parser.parseGreater())
    return nullptr;
  return get(parser.getContext(), *problem);
}

void ProblemAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getValue().key());
  for (const TensorDesc *desc : getQuantized(getValue())) {
    printer << ", {";
    llvm::interleaveComma(desc->scales, printer, [&](float scale) {
      printer.printFloat(APFloat(scale));
    });
    printer << "}";
    if (desc->zeroPoint != 0)
      printer << " : " << desc->zeroPoint;
    if (desc->quantAxis >= 0)
      printer << " along " << desc->quantAxis;
  }
  printer << ">";
}

//===----------------------------------------------------------------------===//
// SolutionAttr
//===----------------------------------------------------------------------===//

static DictionaryAttr makeDictionary(MLIRContext *context,
                                     const PerfConfig &config) {
  Builder builder(context);
  SmallVector<NamedAttribute> fields;
  for (const auto &[name, value] : config.getFields())
    fields.push_back(
        builder.getNamedAttr(name, builder.getI64IntegerAttr(value)));
  return builder.getDictionaryAttr(fields);
}

DictionaryAttr SolutionAttr::getConfigDictionary() const {
  return makeDictionary(getContext(), getConfig());
}

static ParseResult parseConfig(AsmParser &parser, PerfConfig &config) {
  SMLoc location;
  DictionaryAttr fields;
  if (parser.getCurrentLocation(&location) || parser.parseAttribute(fields))
    return failure();
  for (NamedAttribute field : fields) {
    auto value = dyn_cast<IntegerAttr>(field.getValue());
    if (!value || !value.getType().isSignlessInteger(64))
      return parser.emitError(location)
             << "expects a perf config of 64-bit integers, got " << fields;
    config.set(field.getName(), value.getInt());
  }
  return success();
}

Attribute SolutionAttr::parse(AsmParser &parser, Type) {
  StringAttr solver, source;
  PerfConfig config;
  if (parser.parseLess() || parser.parseAttribute(solver) ||
      parser.parseComma() || parseConfig(parser, config) ||
      parser.parseComma() || parser.parseAttribute(source) ||
      parser.parseGreater())
    return nullptr;
  return get(parser.getContext(), solver, config, source);
}

void SolutionAttr::print(AsmPrinter &printer) const {
  printer << "<" << getSolver() << ", " << getConfigDictionary() << ", "
          << getSource() << ">";
}
