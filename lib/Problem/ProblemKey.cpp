//===- ProblemKey.cpp - The canonical text of a problem -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
//   problem := op "(" tensors [";" tensors] ")->" results [" {" attrs "}"]
//              {" | " step}
//   results := tensor | "(" tensor ", " tensors ")"
//   tensors := tensor {", " tensor}
//   tensor  := {size "x"} dtype ["q"] [":" layout ["/" pitch]] [":const"]
//   step    := op ["(" operand [",swapped"] ")"] ["{" attrs "}"]
//   attrs   := name "=" [number {"," number}] {" " name "=" ...}
//
// The root's operands stand before the semicolon, the epilogue's behind it.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Problem/Problem.h"

#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

#include <charconv>

using namespace mlir;
using namespace tarpon;

//===----------------------------------------------------------------------===//
// Printing
//===----------------------------------------------------------------------===//

/// Prints the shortest text that reads back as the same number.
static std::string printNumber(double number) {
  char text[32];
  auto [end, error] = std::to_chars(text, text + sizeof(text), number);
  return std::string(text, end);
}

static void printTensor(llvm::raw_ostream &os, const TensorDesc &desc) {
  for (int64_t size : desc.shape)
    os << size << 'x';
  os << runtime::dtypeName(desc.dtype);
  if (desc.quantized)
    os << 'q';
  if (desc.layout.kind != Layout::NCHW)
    os << ':' << desc.layout.name();
  if (desc.pitch)
    os << '/' << desc.pitch;
  if (desc.constant)
    os << ":const";
}

static void printResults(llvm::raw_ostream &os, const Problem &problem) {
  if (problem.moreResults.empty())
    return printTensor(os, problem.result);
  os << '(';
  printTensor(os, problem.result);
  for (const TensorDesc &desc : problem.moreResults) {
    os << ", ";
    printTensor(os, desc);
  }
  os << ')';
}

static void printAttrs(llvm::raw_ostream &os, const ProblemAttrs &attrs) {
  os << '{';
  llvm::interleave(
      attrs, os,
      [&](const auto &attr) {
        os << attr.first << '=';
        llvm::interleave(
            attr.second, os, [&](double value) { os << printNumber(value); },
            ",");
      },
      " ");
  os << '}';
}

static void printStep(llvm::raw_ostream &os, const EpilogueStep &step) {
  os << " | " << step.op;
  if (step.operand >= 0)
    os << '(' << step.operand << (step.swapped ? ",swapped" : "") << ')';
  if (!step.attrs.empty())
    printAttrs(os, step.attrs);
}

std::string Problem::key() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << op << '(';
  for (auto [index, operand] : llvm::enumerate(operands)) {
    if (index > 0)
      os << (static_cast<int>(index) == rootOperands ? "; " : ", ");
    printTensor(os, operand);
  }
  os << ")->";
  printResults(os, *this);
  if (!attrs.empty()) {
    os << ' ';
    printAttrs(os, attrs);
  }
  for (const EpilogueStep &step : epilogue)
    printStep(os, step);
  return text;
}

//===----------------------------------------------------------------------===//
// Parsing
//===----------------------------------------------------------------------===//

FailureOr<Layout> tarpon::parseLayout(StringRef text) {
  if (text == "nchw")
    return Layout();
  if (text == "nhwc")
    return Layout{Layout::NHWC, 1};
  int64_t block;
  if (text.consume_front("nchw") && text.consume_back("c") &&
      !text.getAsInteger(10, block) && block > 0)
    return Layout{Layout::Blocked, block};
  return failure();
}

static FailureOr<TensorDesc> parseTensor(StringRef text) {
  TensorDesc desc;
  auto [core, rest] = text.trim().split(':');
  while (!rest.empty()) {
    StringRef word;
    std::tie(word, rest) = rest.split(':');
    if (word == "const") {
      desc.constant = true;
      continue;
    }
    auto [name, pitch] = word.split('/');
    FailureOr<Layout> layout = parseLayout(name);
    // Keys do not name the default.
    if (failed(layout) || *layout == Layout() ||
        (name.size() != word.size() &&
         (pitch.getAsInteger(10, desc.pitch) || desc.pitch <= 0)))
      return failure();
    desc.layout = *layout;
  }
  int64_t size;
  while (!core.empty() && llvm::isDigit(core.front())) {
    if (core.consumeInteger(10, size) || !core.consume_front("x") || size < 0)
      return failure();
    desc.shape.push_back(size);
  }
  desc.quantized = core.consume_back("q");
  if (desc.quantized)
    desc.scales = {1.0f};
  std::optional<DType> dtype = runtime::parseDType(std::string_view(core));
  if (!dtype)
    return failure();
  desc.dtype = *dtype;
  return desc;
}

/// Appends the tensors of a comma-separated list.
static LogicalResult parseTensors(StringRef text,
                                  std::vector<TensorDesc> &tensors) {
  SmallVector<StringRef> parts;
  text.trim().split(parts, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    FailureOr<TensorDesc> tensor = parseTensor(part);
    if (failed(tensor))
      return failure();
    tensors.push_back(*tensor);
  }
  return success();
}

/// Sets the results: one tensor, or two and more in parentheses.
static LogicalResult parseResults(StringRef text, Problem &problem) {
  text = text.trim();
  std::vector<TensorDesc> results;
  bool isList = text.consume_front("(");
  if (isList != text.consume_back(")") || failed(parseTensors(text, results)) ||
      results.empty() || isList != (results.size() > 1))
    return failure();
  problem.result = results.front();
  problem.moreResults.assign(results.begin() + 1, results.end());
  return success();
}

static LogicalResult parseNumber(StringRef text, double &number) {
  auto [end, error] = std::from_chars(text.begin(), text.end(), number);
  return success(error == std::errc() && end == text.end());
}

static FailureOr<ProblemAttrs> parseAttrs(StringRef text) {
  ProblemAttrs attrs;
  SmallVector<StringRef> parts;
  text.split(parts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  for (StringRef part : parts) {
    auto [name, list] = part.split('=');
    std::vector<double> &values = attrs[name.str()];
    SmallVector<StringRef> numbers;
    list.split(numbers, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    for (StringRef number : numbers)
      if (failed(parseNumber(number, values.emplace_back())))
        return failure();
  }
  return attrs;
}

/// Removes a trailing "{...}" from `text` and parses it as attributes.
static FailureOr<ProblemAttrs> takeAttrs(StringRef &text) {
  size_t open = text.find('{');
  if (open == StringRef::npos)
    return ProblemAttrs();
  StringRef body = text.substr(open + 1).rtrim();
  if (!body.consume_back("}"))
    return failure();
  text = text.take_front(open).rtrim();
  return parseAttrs(body);
}

/// Reads the operation of that name. If there is none, returns another one and
/// sets `fault`, which is reported only for keys of the right form.
static OpKind readOp(StringRef name, StringRef who, std::string &fault) {
  std::optional<OpKind> op = parseOp(name);
  if (!op && fault.empty())
    fault = (who + " no operation '" + name + "'").str();
  return op.value_or(OpKind::Convert);
}

static FailureOr<EpilogueStep> parseStep(StringRef text, int64_t numOperands,
                                         std::string &fault) {
  EpilogueStep step;
  text = text.trim();
  FailureOr<ProblemAttrs> attrs = takeAttrs(text);
  if (failed(attrs))
    return failure();
  step.attrs = *attrs;
  auto [op, argument] = text.split('(');
  if (op.empty())
    return failure();
  step.op = readOp(op, "an epilogue has", fault);
  if (!argument.empty()) {
    if (!argument.consume_back(")"))
      return failure();
    step.swapped = argument.consume_back(",swapped");
    if (argument.getAsInteger(10, step.operand) || step.operand < 0 ||
        step.operand >= numOperands)
      return failure();
  }
  return step;
}

/// `fault` is set as by readOp.
static FailureOr<Problem> parseSyntax(StringRef key, std::string &fault) {
  Problem problem;
  SmallVector<StringRef> parts;
  key.split(parts, '|');
  StringRef head = parts.front().trim();
  FailureOr<ProblemAttrs> attrs = takeAttrs(head);
  if (failed(attrs))
    return failure();
  problem.attrs = *attrs;

  auto [op, signature] = head.split('(');
  auto [operands, results] = signature.split(")->");
  problem.op = readOp(op, "there is", fault);
  auto [root, others] = operands.split(';');
  if (op.empty() || failed(parseResults(results, problem)) ||
      failed(parseTensors(root, problem.operands)))
    return failure();
  problem.rootOperands = static_cast<int>(problem.operands.size());
  if (failed(parseTensors(others, problem.operands)))
    return failure();
  for (StringRef part : ArrayRef(parts).drop_front()) {
    FailureOr<EpilogueStep> step =
        parseStep(part, static_cast<int64_t>(problem.operands.size()), fault);
    if (failed(step))
      return failure();
    problem.epilogue.push_back(*step);
  }
  return problem;
}

FailureOr<Problem> tarpon::parseProblem(StringRef key, std::string *fault) {
  std::string found;
  FailureOr<Problem> problem = parseSyntax(key, found);
  if (failed(problem))
    found = "it does not have the form of one";
  else if (found.empty())
    found = findFault(*problem);
  if (found.empty())
    return problem;
  if (fault)
    *fault = std::move(found);
  return failure();
}
