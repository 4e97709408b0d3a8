//===- OpTable.h - Which importer takes which operator ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_IMPORT_OPTABLE_H
#define TARPON_LIB_IMPORT_OPTABLE_H

#include "llvm/ADT/StringRef.h"

#include <limits>

namespace tarpon {

class OnnxNode;

/// Imports one node. Before it runs, the node was checked against its row, so
/// that the inputs that are not optional are there.
using OpImporter = void (*)(OnnxNode &node);

/// How an operator treats tensors that hold quantised values.
enum class Quantized { Refuses, Takes };

/// OpRow::maxInputs of an operator that takes any number, of which none may be
/// left out.
constexpr unsigned anyNumber = std::numeric_limits<unsigned>::max();

struct OpRow {
  llvm::StringRef name;
  int64_t minOpset;
  int64_t maxOpset;
  unsigned minInputs;
  unsigned maxInputs;
  OpImporter import;
  Quantized quantized;
  /// All attributes of the operator, parted by blanks.
  llvm::StringRef attributes;
};

/// The row of an operator of the default domain, or null.
const OpRow *findOp(llvm::StringRef name);

// ConvOps.cpp
void importConv(OnnxNode &node);
void importConvTranspose(OnnxNode &node);
// PoolOps.cpp
void importMaxPool(OnnxNode &node);
void importMaxUnpool(OnnxNode &node);
void importAveragePool(OnnxNode &node);
void importGlobalAveragePool(OnnxNode &node);
void importGlobalMaxPool(OnnxNode &node);
// ElementwiseOps.cpp
void importAbs(OnnxNode &node);
void importAdd(OnnxNode &node);
void importCeil(OnnxNode &node);
void importCelu(OnnxNode &node);
void importClip(OnnxNode &node);
void importCos(OnnxNode &node);
void importDiv(OnnxNode &node);
void importElu(OnnxNode &node);
void importErf(OnnxNode &node);
void importExp(OnnxNode &node);
void importFloor(OnnxNode &node);
void importGelu(OnnxNode &node);
void importHardSigmoid(OnnxNode &node);
void importHardSwish(OnnxNode &node);
void importLeakyRelu(OnnxNode &node);
void importLog(OnnxNode &node);
void importMax(OnnxNode &node);
void importMean(OnnxNode &node);
void importMin(OnnxNode &node);
void importMish(OnnxNode &node);
void importMul(OnnxNode &node);
void importNeg(OnnxNode &node);
void importPRelu(OnnxNode &node);
void importPow(OnnxNode &node);
void importReciprocal(OnnxNode &node);
void importRelu(OnnxNode &node);
void importRound(OnnxNode &node);
void importSelu(OnnxNode &node);
void importSigmoid(OnnxNode &node);
void importSign(OnnxNode &node);
void importSin(OnnxNode &node);
void importSoftplus(OnnxNode &node);
void importSoftsign(OnnxNode &node);
void importSqrt(OnnxNode &node);
void importSub(OnnxNode &node);
void importSum(OnnxNode &node);
void importSwish(OnnxNode &node);
void importTanh(OnnxNode &node);
void importThresholdedRelu(OnnxNode &node);
// MatMulOps.cpp
void importGemm(OnnxNode &node);
void importMatMul(OnnxNode &node);
void importMatMulInteger(OnnxNode &node);
// RecurrentOps.cpp
void importGru(OnnxNode &node);
void importLstm(OnnxNode &node);
void importRnn(OnnxNode &node);
// ReduceOps.cpp
void importArgMax(OnnxNode &node);
void importArgMin(OnnxNode &node);
void importReduceL1(OnnxNode &node);
void importReduceL2(OnnxNode &node);
void importReduceLogSum(OnnxNode &node);
void importReduceLogSumExp(OnnxNode &node);
void importReduceMax(OnnxNode &node);
void importReduceMean(OnnxNode &node);
void importReduceMin(OnnxNode &node);
void importReduceProd(OnnxNode &node);
void importReduceSum(OnnxNode &node);
void importReduceSumSquare(OnnxNode &node);
// StatisticOps.cpp
void importGroupNormalization(OnnxNode &node);
void importInstanceNormalization(OnnxNode &node);
void importLayerNormalization(OnnxNode &node);
void importLogSoftmax(OnnxNode &node);
void importMeanVarianceNormalization(OnnxNode &node);
// NormOps.cpp
void importBatchNormalization(OnnxNode &node);
void importDropout(OnnxNode &node);
void importLrn(OnnxNode &node);
void importSoftmax(OnnxNode &node);
// ResizeOps.cpp
void importResize(OnnxNode &node);
void importUpsample(OnnxNode &node);
// ShapeOps.cpp
void importDepthToSpace(OnnxNode &node);
void importSpaceToDepth(OnnxNode &node);
void importFlatten(OnnxNode &node);
void importIdentity(OnnxNode &node);
void importReshape(OnnxNode &node);
void importShape(OnnxNode &node);
void importSize(OnnxNode &node);
void importSqueeze(OnnxNode &node);
void importTranspose(OnnxNode &node);
void importUnsqueeze(OnnxNode &node);
// IndexOps.cpp
void importConcat(OnnxNode &node);
void importGather(OnnxNode &node);
void importPad(OnnxNode &node);
void importSlice(OnnxNode &node);
void importSplit(OnnxNode &node);
// ConstantOps.cpp
void importCast(OnnxNode &node);
void importConstant(OnnxNode &node);
void importConstantOfShape(OnnxNode &node);
void importRange(OnnxNode &node);
// QuantOps.cpp
void importDequantizeLinear(OnnxNode &node);
void importQLinearMatMul(OnnxNode &node);
void importQuantizeLinear(OnnxNode &node);

} // namespace tarpon

#endif // TARPON_LIB_IMPORT_OPTABLE_H
