//===- PtxReader.cpp - Reads the text of PTX ------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PtxInstruction.h"
#include "tarpon/Targets/NVIDIA/Model/PtxInstructions.h"

#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringMap.h"

#include <set>

using namespace tarpon;
using namespace tarpon::ptx;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;
using runtime::Status;

namespace {

/// Adds the statements of a kernel's body to its code.
class Reader {
public:
  void read(StringRef body);
  /// Call it behind `read`.
  Result<MachineCode> finish();

private:
  MachineCode code = MachineCode(MachineCode::Order::Operands);

  void addStatement(StringRef text);
  void findRegisters(StringRef operand, std::vector<unsigned> &registers);
  void followSum(const Statement &statement, MachineInstruction &instruction);

  llvm::StringMap<unsigned> numbers;
  /// The register with which the sum began that a register holds.
  llvm::DenseMap<unsigned, unsigned> sums;
  /// The names of sums whose last addition writes the register with which they
  /// began: LLVM's registers of a loop's sums.
  std::set<std::string> carried;
};

} // namespace

/// Returns the text without comments, which end with their line.
static std::string dropComments(StringRef text) {
  std::string kept;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  for (StringRef line : lines)
    kept += line.split("//").first.str() + "\n";
  return kept;
}

/// Returns what is between the braces behind the name of the first kernel.
static Result<StringRef> findBody(StringRef text) {
  size_t entry = text.find(".entry");
  size_t begin = entry == StringRef::npos ? entry : text.find('{', entry);
  if (begin == StringRef::npos)
    return Error{"not PTX: it has no kernel"};
  int64_t depth = 0;
  for (size_t at = begin; at < text.size(); ++at) {
    depth += text[at] == '{' ? 1 : text[at] == '}' ? -1 : 0;
    if (depth == 0)
      return text.slice(begin + 1, at);
  }
  return Error{"not PTX: its kernel does not end"};
}

/// Splits at commas outside of braces and brackets.
static void splitOperands(StringRef text, Statement &statement) {
  int64_t depth = 0;
  size_t begin = 0;
  for (size_t at = 0; at <= text.size(); ++at) {
    char c = at < text.size() ? text[at] : ',';
    depth += c == '{' || c == '[' ? 1 : c == '}' || c == ']' ? -1 : 0;
    if (c != ',' || (depth != 0 && at < text.size()))
      continue;
    if (StringRef operand = text.slice(begin, at).trim(); !operand.empty())
      statement.operands.push_back(operand);
    begin = at + 1;
  }
}

static Statement parseStatement(StringRef text) {
  Statement statement;
  auto takeWord = [&] {
    StringRef word = text.take_until(llvm::isSpace);
    text = text.drop_front(word.size()).ltrim();
    return word;
  };
  if (text.consume_front("@"))
    statement.predicate = takeWord();
  statement.mnemonic = takeWord();
  splitOperands(text, statement);
  return statement;
}

static bool isNameChar(char c) {
  return llvm::isAlnum(c) || c == '_' || c == '$';
}

void Reader::read(StringRef body) {
  while (!body.empty()) {
    body = body.ltrim(" \t\r\n;{}");
    StringRef name = body.take_while(isNameChar);
    StringRef rest = body.drop_front(name.size());
    if (!name.empty() && rest.consume_front(":")) {
      code.addLabel(name);
      body = rest;
      continue;
    }
    auto [text, behind] = body.split(';');
    if (!text.empty() && !text.starts_with("."))
      addStatement(text.trim());
    body = behind;
  }
}

/// Appends the numbers of the registers in "{%r1, %r2}", "[%rd1+16]" or
/// "%r1|%p1". Special registers have a dot in their name.
void Reader::findRegisters(StringRef operand,
                           std::vector<unsigned> &registers) {
  while (true) {
    operand = operand.drop_until([](char c) { return c == '%'; });
    if (operand.empty())
      return;
    operand = operand.drop_front();
    StringRef name = operand.take_while(isNameChar);
    operand = operand.drop_front(name.size());
    if (!operand.starts_with("."))
      registers.push_back(
          numbers.try_emplace(name, static_cast<unsigned>(numbers.size()))
              .first->second);
  }
}

/// Names the sum that the instruction adds to by the register with which it
/// began.
void Reader::followSum(const Statement &statement,
                       MachineInstruction &instruction) {
  int addend = getAddend(statement.mnemonic);
  std::vector<unsigned> added;
  if (instruction.flops > 0 && addend >= 0 &&
      static_cast<size_t>(addend) < statement.operands.size())
    findRegisters(statement.operands[addend], added);
  std::optional<unsigned> sum;
  if (!added.empty()) {
    auto known = sums.find(added.front());
    sum = known == sums.end() ? added.front() : known->second;
    instruction.accumulator = std::to_string(*sum);
  }
  for (unsigned written : instruction.writes)
    sums.erase(written);
  if (!sum || instruction.writes.empty())
    return;
  if (instruction.writes.front() == *sum)
    carried.insert(instruction.accumulator);
  sums[instruction.writes.front()] = *sum;
}

void Reader::addStatement(StringRef text) {
  Statement statement = parseStatement(text);
  MachineInstruction instruction = readInstruction(statement);
  bool writes = writesFirstOperand(statement.mnemonic);
  findRegisters(statement.predicate, instruction.reads);
  for (size_t i = 0; i < statement.operands.size(); ++i)
    findRegisters(statement.operands[i],
                  i == 0 && writes ? instruction.writes : instruction.reads);
  followSum(statement, instruction);
  code.add(std::move(instruction));
}

/// Additions to sums that no loop carries accumulate nothing.
Result<MachineCode> Reader::finish() {
  code.forEach([&](MachineInstruction &instruction) {
    if (!carried.count(instruction.accumulator))
      instruction.accumulator.clear();
  });
  if (Status status = code.finish(); !status)
    return status.error();
  return std::move(code);
}

Result<MachineCode> tarpon::parsePtx(StringRef ptx) {
  std::string text = dropComments(ptx);
  Result<StringRef> body = findBody(text);
  if (!body)
    return body.error();
  Reader reader;
  reader.read(*body);
  return reader.finish();
}

Result<KernelProfile> tarpon::profilePtx(StringRef ptx,
                                         const KernelResources &resources,
                                         const GpuTarget &gpu) {
  Result<MachineCode> code = parsePtx(ptx);
  if (!code)
    return Error{"kernel '" + resources.symbol + "': " + code.message()};
  return profileCode(*code, resources, gpu);
}
