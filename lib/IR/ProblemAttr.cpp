//===- ProblemAttr.cpp - Problems as attributes -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TarponDialect.h"

#include "mlir/IR/DialectImplementation.h"

#include "llvm/Support/FormatVariadic.h"

#include <cmath>

using namespace mlir;
using namespace tarpon;

/// The tensors whose scales follow the key, in order.
template <typename ProblemT>
static auto getQuantized(ProblemT &problem) {
  SmallVector<decltype(&problem.result)> tensors;
  auto add = [&](auto &desc) {
    if (desc.quantized)
      tensors.push_back(&desc);
  };
  llvm::for_each(problem.operands, add);
  add(problem.result);
  llvm::for_each(problem.moreResults, add);
  return tensors;
}

//===----------------------------------------------------------------------===//
// Constraints
//===----------------------------------------------------------------------===//

/// C2
static std::string findScaleFault(const TensorDesc &desc) {
  bool isAlong = desc.quantAxis != -1;
  if (isAlong && (desc.quantAxis < 0 || desc.quantAxis >= desc.rank()))
    return llvm::formatv("scales along dimension {0} of a tensor of rank {1}",
                         desc.quantAxis, desc.rank());
  int64_t expected = isAlong ? desc.shape[desc.quantAxis] : 1;
  if (static_cast<int64_t>(desc.scales.size()) != expected)
    return llvm::formatv("a tensor has {0} scales, expected {1}",
                         desc.scales.size(), expected);
  for (float scale : desc.scales)
    if (!std::isfinite(scale) || scale <= 0)
      return "a scale is not a positive number";
  return "";
}

/// C3
static std::string findZeroPointFault(const TensorDesc &desc) {
  bool isSigned = desc.dtype == DType::I8;
  int64_t least = isSigned ? -128 : 0, most = isSigned ? 127 : 255;
  if (desc.zeroPoint >= least && desc.zeroPoint <= most)
    return "";
  return llvm::formatv("a zero point is {0}, expected {1} to {2}",
                       desc.zeroPoint, least, most);
}

LogicalResult ProblemAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                  Problem problem) {
  std::string fault = findFault(problem); // C1
  for (const TensorDesc *desc : getQuantized(problem)) {
    if (fault.empty())
      fault = findScaleFault(*desc);
    if (fault.empty())
      fault = findZeroPointFault(*desc);
  }
  if (fault.empty())
    return success();
  return emitError() << "expects a problem that a graph can pose: " << fault;
}

//===----------------------------------------------------------------------===//
// Syntax
//===----------------------------------------------------------------------===//

static ParseResult parseScale(AsmParser &parser, TensorDesc &desc) {
  APFloat scale(0.0f);
  if (parser.parseFloat(APFloat::IEEEsingle(), scale))
    return failure();
  desc.scales.push_back(scale.convertToFloat());
  return success();
}

/// Parses `, 0.5 : 128` or `, {0.5, 0.25} along 0`.
static ParseResult parseScales(AsmParser &parser, TensorDesc &desc) {
  desc.scales.clear();
  if (parser.parseComma() ||
      parser.parseCommaSeparatedList(AsmParser::Delimiter::OptionalBraces,
                                     [&] { return parseScale(parser, desc); }))
    return failure();
  if (!desc.scales.empty())
    return failure(parser.parseKeyword("along") ||
                   parser.parseInteger(desc.quantAxis));
  if (parseScale(parser, desc))
    return failure();
  return failure(succeeded(parser.parseOptionalColon()) &&
                 parser.parseInteger(desc.zeroPoint));
}

Attribute ProblemAttr::parse(AsmParser &parser, Type) {
  std::string key, fault;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseLess() || parser.parseString(&key))
    return nullptr;
  FailureOr<Problem> problem = parseProblem(key, &fault);
  if (failed(problem)) {
    parser.emitError(location)
        << "'" << key << "' is not a problem key: " << fault;
    return nullptr;
  }
  for (TensorDesc *desc : getQuantized(*problem))
    if (parseScales(parser, *desc))
      return nullptr;
  if (parser.parseGreater())
    return nullptr;
  return getChecked([&] { return parser.emitError(location); },
                    parser.getContext(), *problem);
}

void ProblemAttr::print(AsmPrinter &printer) const {
  printer << "<";
  printer.printString(getValue().key());
  for (const TensorDesc *desc : getQuantized(getValue())) {
    printer << ", ";
    if (desc->quantAxis < 0) {
      printer.printFloat(APFloat(desc->scales.front()));
      if (desc->zeroPoint != 0)
        printer << " : " << desc->zeroPoint;
      continue;
    }
    printer << "{";
    llvm::interleaveComma(desc->scales, printer, [&](float scale) {
      printer.printFloat(APFloat(scale));
    });
    printer << "} along " << desc->quantAxis;
  }
  printer << ">";
}
