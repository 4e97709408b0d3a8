//===- EinsumOp.cpp - Import of Einsum ------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Two terms at a time become one by a batch of matrix products: labels of both
// that are still needed count the batch, and the other labels of both are
// summed.
//
//===----------------------------------------------------------------------===//

#include "OnnxNode.h"
#include "OpTable.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;

namespace tarpon {

/// The labels of dimensions, one character each.
using Labels = std::string;

namespace {

struct Term {
  Value value;
  Labels labels;

  int64_t getSize(char label) const {
    return getShape(value)[labels.find(label)];
  }
};

struct Equation {
  std::vector<Labels> terms;
  Labels result;
};

} // namespace

static bool has(const Labels &labels, char label) {
  return labels.find(label) != Labels::npos;
}

/// Reads "ab,bc->ac". Without a result, that is every label that occurs once,
/// in alphabetical order.
static std::optional<Equation> parseEquation(OnnxNode &node) {
  std::string text = node.getString("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  Equation equation;
  for (StringRef part : parts)
    equation.terms.push_back(part.str());
  equation.result = right.str();
  bool isPlain = llvm::all_of(text, [](char c) {
    return llvm::isAlpha(c) || c == ',' || c == '-' || c == '>';
  });
  if (!isPlain)
    node.emitError() << "the equation '" << text
                     << "' has an ellipsis or other marks, which are not "
                        "supported";
  else if (parts.size() != node.getNumInputs())
    node.emitError() << "the equation '" << text << "' has " << parts.size()
                     << " terms for " << node.getNumInputs() << " inputs";
  if (node.hasFailed())
    return std::nullopt;
  if (!StringRef(text).contains("->")) {
    Labels all = left.str();
    llvm::erase(all, ',');
    llvm::sort(all);
    for (char label : all)
      if (llvm::count(all, label) == 1)
        equation.result += label;
  }
  return equation;
}

/// Checks that each label has one size, and stands once in a term.
static bool checkTerms(OnnxNode &node, ArrayRef<Term> terms,
                       const Labels &result) {
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (const Term &term : terms) {
    ArrayRef<int64_t> shape = getShape(term.value);
    if (shape.size() != term.labels.size()) {
      node.emitError() << "the term '" << term.labels
                       << "' does not fit an input of rank " << shape.size();
      return false;
    }
    for (auto [label, size] : llvm::zip_equal(term.labels, shape))
      if (llvm::count(term.labels, label) > 1 ||
          sizes.try_emplace(label, size).first->second != size) {
        node.emitError() << "the label '" << std::string(1, label)
                         << "' stands twice in a term or has two sizes, which "
                            "is not supported";
        return false;
      }
  }
  for (char label : result)
    if (!sizes.contains(label) || llvm::count(result, label) > 1) {
      node.emitError() << "the result '" << result
                       << "' has a label twice, or one of no term";
      return false;
    }
  return true;
}

/// Sums over the dimensions whose labels are not needed.
static Term sumOut(OnnxNode &node, const Term &term, const Labels &needed) {
  SmallVector<int64_t> axes;
  Labels kept;
  for (auto [axis, label] : llvm::enumerate(term.labels))
    if (has(needed, label))
      kept += label;
    else
      axes.push_back(static_cast<int64_t>(axis));
  if (axes.empty())
    return term;
  OpBuilder &builder = node.getBuilder();
  return {node.create<ReduceSumOp>(term.value,
                                   builder.getDenseI64ArrayAttr(axes),
                                   builder.getBoolAttr(false)),
          kept};
}

static Value permute(OnnxNode &node, const Term &term, const Labels &order) {
  SmallVector<int64_t> permutation;
  for (char label : order)
    permutation.push_back(static_cast<int64_t>(term.labels.find(label)));
  return node.create<TransposeOp>(
      term.value, node.getBuilder().getDenseI64ArrayAttr(permutation));
}

static int64_t countElements(const Term &term, const Labels &labels) {
  int64_t count = 1;
  for (char label : labels)
    count *= term.getSize(label);
  return count;
}

/// Multiplies two terms, and sums over common labels that are not needed.
static Term multiply(OnnxNode &node, const Term &lhs, const Term &rhs,
                     const Labels &needed) {
  Labels batch, summed, left, right;
  for (char label : lhs.labels)
    (!has(rhs.labels, label) ? left
     : has(needed, label)    ? batch
                             : summed) += label;
  for (char label : rhs.labels)
    if (!has(lhs.labels, label))
      right += label;
  int64_t images = countElements(lhs, batch), rows = countElements(lhs, left),
          depth = countElements(lhs, summed),
          columns = countElements(rhs, right);
  Type elementType = getTensorType(lhs.value).getElementType();
  OpBuilder &builder = node.getBuilder();
  Value product = node.create<MatMulOp>(
      node.reshape(permute(node, lhs, batch + left + summed),
                   {images, rows, depth}),
      node.reshape(permute(node, rhs, batch + summed + right),
                   {images, depth, columns}),
      builder.getBoolAttr(false), builder.getBoolAttr(false));
  SmallVector<int64_t> shape;
  for (char label : batch + left)
    shape.push_back(lhs.getSize(label));
  for (char label : right)
    shape.push_back(rhs.getSize(label));
  return {node.convert(node.reshape(product, shape), elementType),
          batch + left + right};
}

void importEinsum(OnnxNode &node) {
  std::optional<Equation> equation = parseEquation(node);
  if (!equation)
    return;
  std::vector<Term> terms;
  for (auto [index, labels] : llvm::enumerate(equation->terms))
    terms.push_back({node.getInput(static_cast<unsigned>(index)), labels});
  if (!checkTerms(node, terms, equation->result))
    return;
  Term whole = terms.front();
  for (size_t i = 1; i < terms.size() && whole.value; ++i) {
    Labels later = equation->result;
    for (const Term &term : ArrayRef(terms).drop_front(i + 1))
      later += term.labels;
    Term next = sumOut(node, terms[i], later + whole.labels);
    whole = sumOut(node, whole, later + next.labels);
    if (whole.value && next.value)
      whole = multiply(node, whole, next, later);
  }
  if (!whole.value)
    return;
  whole = sumOut(node, whole, equation->result);
  node.setOutput(0, permute(node, whole, equation->result));
}

} // namespace tarpon
