//===- TarponAttrs.cpp - Attributes of the dialect --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/TargetAttr.h"
#include "tarpon/IR/TargetCheck.h"
#include "tarpon/IR/TarponDialect.h"

#include "mlir/IR/Builders.h"
#include "mlir/IR/DialectImplementation.h"

#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace tarpon;

#include "tarpon/IR/TarponEnums.cpp.inc"

#define GET_ATTRDEF_CLASSES
#include "tarpon/IR/TarponAttrs.cpp.inc"

void TarponDialect::registerAttributes() {
  addAttributes<
#define GET_ATTRDEF_LIST
#include "tarpon/IR/TarponAttrs.cpp.inc"
      >();
}

//===----------------------------------------------------------------------===//
// LayoutAttr
//===----------------------------------------------------------------------===//

static bool isBlockSize(int64_t block) {
  return llvm::is_contained({4, 8, 16, 32, 64}, block);
}

LogicalResult LayoutAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 LayoutKind kind, int64_t block,
                                 int64_t pitch) {
  // C1
  if (kind == LayoutKind::Blocked && !isBlockSize(block))
    return emitError() << "expects a block of 4, 8, 16, 32 or 64, got "
                       << block;
  if (kind != LayoutKind::Blocked && block != 1)
    return emitError() << "expects a block of 1 for a layout that is not "
                          "blocked, got "
                       << block;
  // C4
  if (pitch < 0)
    return emitError() << "expects a pitch that is not negative, got " << pitch;
  if (pitch != 0 && kind != LayoutKind::NHWC)
    return emitError() << "expects a pitch for nhwc only, got "
                       << stringifyLayoutKind(kind);
  return success();
}

LogicalResult
LayoutAttr::verifyEncoding(ArrayRef<int64_t> shape, Type,
                           function_ref<InFlightDiagnostic()> emitError) const {
  // C2
  if (shape.size() < 3)
    return emitError() << "expects a tensor of rank 3 or more for layout "
                       << getName() << ", got rank " << shape.size();
  // C3
  if (getKind() == LayoutKind::NCHW)
    return emitError() << "expects no encoding on a row-major tensor, got "
                       << getName();
  // C5
  if (getPitch() != 0 && getPitch() <= shape[1])
    return emitError() << "expects a pitch of more than the " << shape[1]
                       << " channels, got " << getPitch();
  return success();
}

std::string LayoutAttr::getName() const {
  if (getKind() == LayoutKind::Blocked)
    return "nchw" + std::to_string(getBlock()) + "c";
  return stringifyLayoutKind(getKind()).str();
}

LayoutAttr LayoutAttr::withPitch(int64_t pitch) const {
  return get(getContext(), getKind(), getBlock(), pitch);
}

LayoutAttr LayoutAttr::parseName(MLIRContext *context, StringRef name) {
  if (name == "nchw")
    return get(context, LayoutKind::NCHW);
  if (name == "nhwc")
    return get(context, LayoutKind::NHWC);
  int64_t block = 0;
  if (!name.consume_front("nchw") || !name.consume_back("c") ||
      name.starts_with("0") || name.getAsInteger(10, block) ||
      !isBlockSize(block))
    return nullptr;
  return get(context, LayoutKind::Blocked, block);
}

Attribute LayoutAttr::parse(AsmParser &parser, Type) {
  StringRef name;
  SMLoc location;
  int64_t pitch = 0;
  if (parser.parseLess() ||
      static_cast<bool>(parser.getCurrentLocation(&location)) ||
      parser.parseKeyword(&name))
    return nullptr;
  if (succeeded(parser.parseOptionalComma()) &&
      (parser.parseKeyword("pitch") || parser.parseEqual() ||
       parser.parseInteger(pitch)))
    return nullptr;
  if (parser.parseGreater())
    return nullptr;
  LayoutAttr layout = parseName(parser.getContext(), name);
  if (!layout) {
    parser.emitError(location)
        << "expects nchw, nhwc or nchwXc with X 4, 8, 16, 32 or 64, got "
        << name;
    return nullptr;
  }
  return getChecked([&] { return parser.emitError(location); },
                    parser.getContext(), layout.getKind(), layout.getBlock(),
                    pitch);
}

void LayoutAttr::print(AsmPrinter &printer) const {
  printer << "<" << getName();
  if (getPitch() != 0)
    printer << ", pitch = " << getPitch();
  printer << ">";
}

//===----------------------------------------------------------------------===//
// SolutionAttr
//===----------------------------------------------------------------------===//

static ParseResult parseConfig(AsmParser &parser, PerfConfig &config) {
  std::string text;
  SMLoc location = parser.getCurrentLocation();
  if (parser.parseString(&text))
    return failure();
  FailureOr<PerfConfig> parsed = PerfConfig::parse(text);
  if (failed(parsed))
    return parser.emitError(location)
           << "expects a perf config as in \"tile_m=14,tile_n=32\", got \""
           << text << "\"";
  config = std::move(*parsed);
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
  printer << "<" << getSolver() << ", ";
  printer.printString(getConfig().str());
  printer << ", " << getSource() << ">";
}

//===----------------------------------------------------------------------===//
// TargetAttr
//===----------------------------------------------------------------------===//

static bool isTargetOption(NamedAttribute option) {
  if (option.getName() == "threads") {
    auto threads = dyn_cast<IntegerAttr>(option.getValue());
    return threads && threads.getType().isSignlessInteger(64) &&
           threads.getInt() > 0;
  }
  return (option.getName() == "cpu" || option.getName() == "device") &&
         isa<StringAttr>(option.getValue());
}

LogicalResult TargetAttr::verify(function_ref<InFlightDiagnostic()> emitError,
                                 StringAttr name, DictionaryAttr options) {
  // C1
  for (NamedAttribute option :
       options ? options.getValue() : ArrayRef<NamedAttribute>())
    if (!isTargetOption(option))
      return emitError() << "expects positive threads, a cpu or a device as "
                            "options of a target, got "
                         << option.getName() << " = " << option.getValue();
  // C2
  auto *dialect = name.getContext()->getLoadedDialect<TarponDialect>();
  const auto *check =
      dialect ? dialect->getRegisteredInterface<TargetCheck>() : nullptr;
  std::string fault = check ? check->findFault(name, options) : "";
  return fault.empty() ? success() : LogicalResult(emitError() << fault);
}

//===----------------------------------------------------------------------===//
// Tensor types
//===----------------------------------------------------------------------===//

LayoutAttr tarpon::getLayout(RankedTensorType type) {
  if (auto layout = dyn_cast_or_null<LayoutAttr>(type.getEncoding()))
    return layout;
  return LayoutAttr::get(type.getContext(), LayoutKind::NCHW);
}

RankedTensorType tarpon::withLayout(RankedTensorType type, LayoutAttr layout) {
  Attribute encoding;
  if (layout && layout.getKind() != LayoutKind::NCHW)
    encoding = layout;
  return RankedTensorType::get(type.getShape(), type.getElementType(),
                               encoding);
}

RankedTensorType tarpon::withElementType(RankedTensorType type,
                                         Type elementType) {
  return RankedTensorType::get(type.getShape(), elementType,
                               type.getEncoding());
}
