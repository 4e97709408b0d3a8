//===- AttentionShapes.cpp - The sizes of attention -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "AttentionShapes.h"

#include "VectorAccess.h"
#include "tarpon/Problem/Shapes.h"

#include <functional>
#include <numeric>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::attention;

static int64_t fromBack(const TensorDesc &desc, int64_t index) {
  return desc.shape[desc.rank() - index];
}

Sizes::Sizes(const Problem &problem)
    : queries(fromBack(problem.operands[0], 2)),
      keys(fromBack(problem.operands[1], 2)),
      channels(fromBack(problem.operands[0], 1)),
      resultChannels(fromBack(problem.result, 1)) {
  ArrayRef<int64_t> batch = ArrayRef(problem.result.shape).drop_back(2);
  matrices = std::accumulate(batch.begin(), batch.end(), int64_t(1),
                             std::multiplies<>());
}

std::optional<MaskMatrices> MaskMatrices::get(ArrayRef<int64_t> mask,
                                              ArrayRef<int64_t> scores) {
  MaskMatrices matrices = {1, 1};
  size_t missing = scores.size() - mask.size();
  bool hasEnded = false;
  for (size_t dim = scores.size() - 2; dim-- > 0;) {
    int64_t size = dim < missing ? 1 : mask[dim - missing];
    if (size == scores[dim]) {
      if (hasEnded && size != 1)
        return std::nullopt;
      matrices.count *= size;
    } else if (matrices.count == 1) {
      matrices.inner *= scores[dim];
    } else {
      hasEnded = true;
    }
  }
  return matrices;
}

static Shape getScores(const Problem &problem) {
  return getScoresShape(problem.operands[0].shape, problem.operands[1].shape);
}

Mask::Mask(const Problem &problem) {
  if (!hasMask(problem))
    return;
  ArrayRef<int64_t> shape = problem.operands[3].shape;
  int64_t queries = Sizes(problem).queries;
  matrices = *MaskMatrices::get(shape, getScores(problem));
  if (shape.size() > 1 && shape[shape.size() - 2] == queries)
    rows = queries;
}

static Applicability checkMask(const Problem &problem) {
  if (!hasMask(problem))
    return Applicability::yes();
  ArrayRef<int64_t> mask = problem.operands[3].shape;
  Shape scores = getScores(problem);
  if (mask.size() < 1 || mask.back() != scores.back())
    return Applicability::no("the mask has no element for each key");
  if (!MaskMatrices::get(mask, scores))
    return Applicability::no("the mask is broadcast in dimensions between "
                             "others in which it is not");
  return Applicability::yes();
}

Applicability attention::checkProblem(const Problem &problem) {
  if (problem.op != OpKind::Attention)
    return Applicability::no("is not an attention");
  for (const TensorDesc &operand :
       ArrayRef(problem.operands).take_front(problem.rootOperands))
    if (!isVectorizable(operand) || operand.layout.kind != Layout::NCHW)
      return notVectorizable("an operand is not row-major, or");
  if (problem.result.layout.kind != Layout::NCHW)
    return Applicability::no("the result is not row-major");
  Sizes sizes(problem);
  if (problem.result.numElements() == 0 || sizes.keys == 0 ||
      sizes.channels == 0)
    return Applicability::no("there is nothing to compute");
  if (VectorOutput::followsChannels(problem))
    return Applicability::no("an operand of the epilogue follows channels");
  if (Applicability answer = checkMask(problem); !answer)
    return answer;
  return VectorOutput::check(problem);
}
