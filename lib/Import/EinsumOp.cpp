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

//===----------------------------------------------------------------------===//
// The equation
//===----------------------------------------------------------------------===//

static constexpr StringLiteral kEllipsis = "...";

/// Returns true if the text is of letters, with one ellipsis at most.
static bool isTerm(StringRef text) {
  auto [front, back] = text.split(kEllipsis);
  auto areLetters = [](StringRef part) {
    return llvm::all_of(part, [](char c) { return llvm::isAlpha(c); });
  };
  return areLetters(front) && areLetters(back);
}

/// The labels of that many dimensions that an ellipsis stands for; as these are
/// broadcast, the last one always has the same label. Letters are those of the
/// equation.
static Labels labelEllipsis(int64_t count) {
  Labels labels;
  while (count > 0)
    labels += static_cast<char>('0' + --count);
  return labels;
}

/// Replaces the ellipsis, if there is one, so that the term has `rank` labels;
/// emits an error if it cannot.
static Labels expandEllipsis(OnnxNode &node, StringRef term, int64_t rank) {
  if (!term.contains(kEllipsis))
    return term.str();
  int64_t count = rank - static_cast<int64_t>(term.size() - kEllipsis.size());
  // There are as many digits.
  if (count < 0 || count > 10) {
    node.emitError() << "the term '" << term
                     << "' does not fit an input of rank " << rank;
    return "";
  }
  auto [front, back] = term.split(kEllipsis);
  return front.str() + labelEllipsis(count) + back.str();
}

/// The result of an equation without one: the dimensions of the ellipsis, and
/// every letter that occurs once, in alphabetical order.
static Labels getImplicitResult(StringRef terms, const Labels &ellipsis) {
  Labels letters, result = ellipsis;
  for (char c : terms)
    if (llvm::isAlpha(c))
      letters += c;
  llvm::sort(letters);
  for (char label : letters)
    if (llvm::count(letters, label) == 1)
      result += label;
  return result;
}

/// Reads "ab,bc->ac".
static std::optional<Equation> parseEquation(OnnxNode &node) {
  std::string text = node.getString("equation", "");
  llvm::erase(text, ' ');
  auto [left, right] = StringRef(text).split("->");
  SmallVector<StringRef> parts;
  left.split(parts, ',');
  if (!llvm::all_of(parts, isTerm) || !isTerm(right))
    node.emitError() << "the equation '" << text
                     << "' is not of terms of letters";
  else if (parts.size() != node.getNumInputs())
    node.emitError() << "the equation '" << text << "' has " << parts.size()
                     << " terms for " << node.getNumInputs() << " inputs";
  if (node.hasFailed())
    return std::nullopt;
  Equation equation;
  size_t ellipsis = 0;
  for (auto [index, part] : llvm::enumerate(parts)) {
    int64_t rank =
        static_cast<int64_t>(getShape(node.getInput(unsigned(index))).size());
    equation.terms.push_back(expandEllipsis(node, part, rank));
    if (part.contains(kEllipsis))
      ellipsis = std::max(ellipsis, equation.terms.back().size() -
                                        (part.size() - kEllipsis.size()));
  }
  if (node.hasFailed())
    return std::nullopt;
  Labels broadcast = labelEllipsis(static_cast<int64_t>(ellipsis));
  auto [front, back] = right.split(kEllipsis);
  bool hasEllipsis = right.contains(kEllipsis);
  equation.result =
      hasEllipsis ? front.str() + broadcast + back.str() : right.str();
  if (!StringRef(text).contains("->"))
    equation.result = getImplicitResult(left, broadcast);
  else if (!hasEllipsis && ellipsis > 0) {
    node.emitError() << "the result of the equation '" << text
                     << "' lacks the ellipsis";
    return std::nullopt;
  }
  return equation;
}

//===----------------------------------------------------------------------===//
// The terms
//===----------------------------------------------------------------------===//

/// Replaces two dimensions with one label by their diagonal.
static Term takeDiagonal(OnnxNode &node, const Term &term, size_t first,
                         size_t second) {
  ArrayRef<int64_t> shape = getShape(term.value);
  int64_t size = shape[first];
  SmallVector<int64_t> order = {static_cast<int64_t>(first),
                                static_cast<int64_t>(second)};
  SmallVector<int64_t> joined = {size * size};
  Labels labels(1, term.labels[first]);
  for (auto [dim, label] : llvm::enumerate(term.labels))
    if (dim != first && dim != second) {
      order.push_back(static_cast<int64_t>(dim));
      joined.push_back(shape[dim]);
      labels += label;
    }
  SmallVector<int64_t> places;
  for (int64_t i = 0; i < size; ++i)
    places.push_back(i * (size + 1));
  Value rows = node.reshape(node.transpose(term.value, order), joined);
  return {node.create<GatherOp>(rows, node.createInts(places),
                                node.getBuilder().getI64IntegerAttr(0)),
          labels};
}

/// Takes diagonals until each label of a term stands once; null after an error.
static Term takeDiagonals(OnnxNode &node, Term term) {
  for (size_t first = 0; term.value && first < term.labels.size(); ++first) {
    size_t second = term.labels.find(term.labels[first], first + 1);
    if (second == Labels::npos)
      continue;
    ArrayRef<int64_t> shape = getShape(term.value);
    if (shape[first] != shape[second] || shape[first] == 0) {
      node.emitError() << "the label '" << std::string(1, term.labels[first])
                       << "' has the sizes " << shape[first] << " and "
                       << shape[second];
      return {};
    }
    term = takeDiagonal(node, term, first, second);
    // The labels have moved.
    first = Labels::npos;
  }
  return term;
}

/// Removes dimensions of the ellipsis of size 1 where others are larger.
static Term dropBroadcast(OnnxNode &node, const Term &term,
                          const llvm::SmallDenseMap<char, int64_t> &sizes) {
  Term result{term.value, ""};
  SmallVector<int64_t> shape;
  for (auto [label, size] :
       llvm::zip_equal(term.labels, getShape(term.value))) {
    if (llvm::isDigit(label) && size == 1 && sizes.lookup(label) != 1)
      continue;
    shape.push_back(size);
    result.labels += label;
  }
  result.value = node.reshape(term.value, shape);
  return result;
}

/// Makes terms in which each label stands once and has one size in all; none
/// after an error.
static std::optional<std::vector<Term>> makeTerms(OnnxNode &node,
                                                  const Equation &equation) {
  std::vector<Term> terms;
  llvm::SmallDenseMap<char, int64_t> sizes;
  for (auto [index, labels] : llvm::enumerate(equation.terms)) {
    Value value = node.getInput(static_cast<unsigned>(index));
    if (getShape(value).size() != labels.size()) {
      node.emitError() << "the term '" << labels
                       << "' does not fit an input of rank "
                       << getShape(value).size();
      return std::nullopt;
    }
    terms.push_back(takeDiagonals(node, {value, labels}));
    if (!terms.back().value)
      return std::nullopt;
    for (auto [label, size] :
         llvm::zip_equal(terms.back().labels, getShape(terms.back().value)))
      if (int64_t &known = sizes.try_emplace(label, size).first->second;
          known == 1 && llvm::isDigit(label))
        known = size;
  }
  for (Term &term : terms) {
    term = dropBroadcast(node, term, sizes);
    for (auto [label, size] :
         llvm::zip_equal(term.labels, getShape(term.value)))
      if (sizes.lookup(label) != size) {
        node.emitError() << "the label '" << std::string(1, label)
                         << "' has the sizes " << sizes.lookup(label) << " and "
                         << size;
        return std::nullopt;
      }
  }
  for (char label : equation.result)
    if (!sizes.contains(label) || llvm::count(equation.result, label) > 1) {
      node.emitError() << "the result '" << equation.result
                       << "' has a label twice, or one of no term";
      return std::nullopt;
    }
  return terms;
}

//===----------------------------------------------------------------------===//
// Products
//===----------------------------------------------------------------------===//

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
  std::optional<std::vector<Term>> made = makeTerms(node, *equation);
  if (!made)
    return;
  ArrayRef<Term> terms = *made;
  Term whole = terms.front();
  for (size_t i = 1; i < terms.size() && whole.value; ++i) {
    Labels later = equation->result;
    for (const Term &term : terms.drop_front(i + 1))
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
