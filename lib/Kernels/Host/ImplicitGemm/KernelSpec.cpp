//===- KernelSpec.cpp - The properties of an implicit GEMM kernel ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ImplicitGemm.h"

#include "Common/VectorAccess.h"
#include "tarpon/Runtime/KernelABI.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::igemm;

int64_t igemm::elementsPerUnit(Arith arith) {
  switch (arith) {
  case Arith::F32:
    return 1;
  case Arith::BF16Dot:
  case Arith::I16Dot:
    return 2;
  case Arith::I8Dot:
    return 4;
  }
  llvm_unreachable("unknown arithmetic");
}

Arith igemm::chooseArith(const TensorDesc &input, const TargetInfo &target) {
  if (input.quantized)
    return Arith::I8Dot;
  if (input.dtype == DType::BF16 && target.hasBf16)
    return Arith::BF16Dot;
  return Arith::F32;
}

bool igemm::hasAmx(const TargetInfo &target, Arith arith) {
  switch (arith) {
  case Arith::F32:
  case Arith::I16Dot:
    return false;
  case Arith::BF16Dot:
    return target.hasAmxBf16;
  case Arith::I8Dot:
    return target.hasAmxInt8;
  }
  llvm_unreachable("unknown arithmetic");
}

/// The dimension of the result that counts channels: a matmul's columns.
static int64_t channelDim(const Problem &problem) {
  bool isProduct =
      problem.op == OpKind::MatMul || problem.op == OpKind::BlockMatMul;
  return isProduct ? problem.result.rank() - 1 : 1;
}

std::optional<AccessKind> igemm::getAccess(const Problem &problem,
                                           const TensorDesc &operand,
                                           bool batched) {
  const TensorDesc &result = problem.result;
  if (operand.numElements() == 1)
    return AccessKind::Scalar;
  if (operand.shape == result.shape && operand.layout == result.layout &&
      operand.pitch == result.pitch)
    return AccessKind::Tensor;
  // The channels of a single pixel lie side by side in every layout.
  int64_t missing = result.rank() - operand.rank(), dim = channelDim(problem);
  bool perChannel = true;
  for (int64_t i = 0; i < operand.rank(); ++i)
    perChannel &=
        operand.shape[i] == (missing + i == dim ? result.shape[dim] : 1);
  if (perChannel)
    return AccessKind::PerChannel;
  if (!batched || operand.shape == result.shape)
    return std::nullopt;
  return operand.shape.back() == result.shape[dim] ? AccessKind::Rows
                                                   : AccessKind::Pixels;
}

KernelSpec::KernelSpec(const Problem &problem, const TargetInfo &target,
                       const PerfConfig &config, const Geometry &geometry,
                       Layout inputLayout)
    : arith(chooseArith(problem.operands[0], target)),
      inputDtype(problem.operands[0].dtype),
      filterDtype(problem.operands[1].dtype), resultDtype(problem.result.dtype),
      resultQuantized(problem.result.quantized), inputLayout(inputLayout),
      resultLayout(problem.result.layout), tileM(config.get("tile_m")),
      tileN(config.get("tile_n")), amx(config.has("amx")),
      hasDepth(geometry.hasDepth()), batched(geometry.batched),
      epilogue(problem,
               NumParams + 2 * (static_cast<int64_t>(problem.operands.size()) -
                                problem.rootOperands)) {
  // A matmul's rows are pixels, and its columns are channels, which are
  // innermost.
  if (problem.op == OpKind::MatMul)
    resultLayout = {Layout::NHWC, 1};
  for (size_t i = problem.rootOperands; i < problem.operands.size(); ++i) {
    const TensorDesc &operand = problem.operands[i];
    operands.push_back({static_cast<int>(i),
                        *getAccess(problem, operand, batched), operand.dtype,
                        operand.quantized});
  }
  int64_t lineElements = kLineUnits * elementsPerUnit(arith);
  mergedRows = geometry.channels < lineElements && geometry.kernelW > 1 &&
               geometry.dilationW == 1 && geometry.groups == 1 &&
               inputLayout.kind == Layout::NHWC;
}

int64_t KernelSpec::pieceElements() const {
  int64_t line = kLineUnits * elementsPerUnit(arith);
  return inputLayout.kind == Layout::Blocked ? std::min(line, inputLayout.block)
                                             : line;
}

int64_t KernelSpec::pieceUnits() const {
  return pieceElements() / elementsPerUnit(arith);
}

int64_t KernelSpec::tableColumns() const {
  int64_t columns = 2;
  for (const OperandAccess &access : operands)
    if (isInTable(access.kind))
      columns += 2;
  return columns;
}

int64_t KernelSpec::filterUnitBytes() const {
  return arith == Arith::F32 ? runtime::dtypeBytes(filterDtype) : kUnitBytes;
}

static const char *arithName(Arith arith) {
  switch (arith) {
  case Arith::F32:
    return "f32";
  case Arith::BF16Dot:
    return "bf16dot";
  case Arith::I8Dot:
    return "i8dot";
  case Arith::I16Dot:
    return "i16dot";
  }
  llvm_unreachable("unknown arithmetic");
}

static const char *accessName(AccessKind kind) {
  switch (kind) {
  case AccessKind::Scalar:
    return "s";
  case AccessKind::PerChannel:
    return "c";
  case AccessKind::Tensor:
    return "t";
  case AccessKind::Rows:
    return "r";
  case AccessKind::Pixels:
    return "p";
  }
  llvm_unreachable("unknown access");
}

static std::string storedName(DType dtype, bool quantized) {
  return std::string(runtime::dtypeName(dtype)) + (quantized ? "q" : "");
}

std::string KernelSpec::commonSymbol() const {
  std::string text = std::string(arithName(arith)) + "_" +
                     storedName(inputDtype, arith == Arith::I8Dot) + "_" +
                     storedName(filterDtype, false) + "_to_" +
                     storedName(resultDtype, resultQuantized) + "_" +
                     resultLayout.name();
  text += "_m" + std::to_string(tileM) + "n" + std::to_string(tileN);
  text += epilogue.symbolPart();
  for (const OperandAccess &access : operands) {
    const char *kind = accessName(access.kind);
    text +=
        std::string("_") + kind + storedName(access.dtype, access.quantized);
  }
  return text;
}

std::string KernelSpec::symbol() const {
  return "igemm_" + inputLayout.name() + (hasDepth ? "_3d" : "") +
         (batched ? "_batch" : "") + (skipsTaps ? "_taps" : "") +
         (mergedRows ? "_rows" : "") + (amx ? "_amx_" : "_") + commonSymbol();
}

//===----------------------------------------------------------------------===//
// Applicability
//===----------------------------------------------------------------------===//

static bool isPerTensorByte(const TensorDesc &desc) {
  return desc.quantized && desc.quantAxis < 0 &&
         (desc.dtype == DType::U8 || desc.dtype == DType::I8);
}

static Applicability checkDtypes(const Problem &problem) {
  const TensorDesc &input = problem.operands[0], &filter = problem.operands[1];
  if (input.quantized != filter.quantized)
    return Applicability::no(
        "needs input and filter both quantised or neither");
  if (input.quantized) {
    if (!isPerTensorByte(input) || filter.dtype != DType::I8)
      return Applicability::no(
          "needs an 8-bit input quantised per tensor and an i8 filter");
    if (filter.zeroPoint != 0)
      return Applicability::no("needs a symmetric filter");
  } else if (!fitsF32(input.dtype) || input.dtype != filter.dtype) {
    return Applicability::no("needs " + listFloats() + " input and filter");
  }
  const TensorDesc &result = problem.result;
  if (result.quantized ? !isPerTensorByte(result) : !fitsF32(result.dtype))
    return Applicability::no("cannot store the result's dtype");
  return Applicability::yes();
}

static Applicability checkEpilogue(const Problem &problem, bool batched) {
  for (size_t i = problem.rootOperands; i < problem.operands.size(); ++i) {
    const TensorDesc &operand = problem.operands[i];
    if (!getAccess(problem, operand, batched))
      return Applicability::no("an epilogue operand broadcasts otherwise than "
                               "per channel");
    if (operand.quantized ? !isPerTensorByte(operand) : !fitsF32(operand.dtype))
      return Applicability::no("cannot read an epilogue operand's dtype");
  }
  return Applicability::yes();
}

/// A vector of channels must lie within one block, in input and result.
static Applicability checkBlocks(const Layout &layout, int64_t channels,
                                 const Geometry &geometry, int64_t lanes) {
  if (layout.kind != Layout::Blocked)
    return Applicability::yes();
  if (layout.block % lanes != 0)
    return Applicability::no("needs channel blocks of whole vectors");
  if (geometry.groups > 1 && channels % layout.block != 0)
    return Applicability::no("needs groups of whole channel blocks");
  return Applicability::yes();
}

/// This many products of u8 and i8 fit into an i32, whatever their values are.
static constexpr int64_t kMaxBytesSummed = (int64_t(1) << 31) / (255 * 128);

Applicability igemm::isSupported(const Problem &problem,
                                 const TargetInfo &target,
                                 const Geometry &geometry, bool packsFilters) {
  if (!packsFilters && !problem.operands[1].constant)
    return Applicability::no("needs a constant filter");
  if (Applicability dtypes = checkDtypes(problem); !dtypes)
    return dtypes;
  if (Applicability epilogue = checkEpilogue(problem, geometry.batched);
      !epilogue)
    return epilogue;
  if (problem.operands[0].quantized &&
      geometry.channels * geometry.taps() > kMaxBytesSummed)
    return Applicability::no("sums of this many products of bytes may exceed "
                             "32 bits");
  const Layout &layout = problem.operands[0].layout;
  if (Applicability input =
          checkBlocks(layout, geometry.channels, geometry, /*lanes=*/1);
      !input)
    return input;
  // A block must not be longer than a line of the panel.
  Arith arith = chooseArith(problem.operands[0], target);
  if (layout.block > kLineUnits * elementsPerUnit(arith))
    return Applicability::no("needs input channel blocks of at most 64 bytes");
  return checkBlocks(problem.result.layout, geometry.outChannels, geometry,
                     target.lanes());
}
