//===- PtxStores.cpp - Stores of the lowest bits of floats ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A store of fewer bits than its register has stores the lowest ones (PTX ISA,
// "Operand Size Exceeding Instruction-Type Size"), and that is what LLVM means
// by one. But if the register, though it is declared as bits, is the result of
// an instruction of floats, ptxas 13.0 converts the float's value to an
// unsigned integer of the store's size instead: a byte that is rounded by the
// sum with 1.5 * 2^23 became 255. It does so at every level of optimisation,
// for f16, f32 and f64, and for vectors, too. An integer instruction in between
// has no such effect, and costs nothing where it only narrows.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/Ptx.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/raw_ostream.h"

#include <vector>

using namespace tarpon;
using llvm::StringRef;

namespace {

/// A line of one instruction; empty for others.
struct Line {
  StringRef predicate, mnemonic, operands;
};

} // namespace

static Line parseLine(StringRef text) {
  text = text.split("//").first.trim();
  Line line;
  auto takeWord = [&] {
    StringRef word = text.take_until(llvm::isSpace);
    text = text.drop_front(word.size()).ltrim();
    return word;
  };
  if (text.starts_with("@"))
    line.predicate = takeWord();
  if (text.empty() || !llvm::isAlpha(text.front()))
    return {};
  line.mnemonic = takeWord();
  line.operands = text;
  return line;
}

/// Returns true for instructions that take or return a float. Those that do not
/// return it are taken, too, which does no harm.
static bool hasFloats(StringRef mnemonic) {
  llvm::SmallVector<StringRef> parts;
  mnemonic.split(parts, '.');
  return llvm::any_of(parts, [](StringRef part) {
    return part == "f16" || part == "bf16" || part == "f32" || part == "f64";
  });
}

/// The registers of the first operand, which is one, or several in braces.
static llvm::SmallVector<StringRef> getRegisters(StringRef operands) {
  bool isGroup = operands.consume_front("{");
  llvm::SmallVector<StringRef> names;
  operands.split(isGroup ? '}' : ',').first.split(names, ',');
  for (StringRef &name : names)
    name = name.trim(" \t;");
  return names;
}

/// The registers that hold the result of an instruction of floats. LLVM prints
/// the results of a matrix instruction on the next line.
static llvm::StringSet<> findFloats(llvm::ArrayRef<StringRef> lines) {
  llvm::StringSet<> floats;
  for (size_t i = 0; i < lines.size(); ++i) {
    Line line = parseLine(lines[i]);
    if (!hasFloats(line.mnemonic) || line.mnemonic.starts_with("st."))
      continue;
    StringRef operands = line.operands;
    if (operands.empty() && i + 1 < lines.size())
      operands = lines[i + 1].trim();
    for (StringRef name : getRegisters(operands))
      floats.insert(name);
  }
  return floats;
}

/// The bits of a register, by the names that LLVM gives; 0 for others.
static unsigned getRegisterBits(StringRef name) {
  StringRef kind = name.take_until(llvm::isDigit);
  return kind == "%rs" ? 16 : kind == "%r" ? 32 : kind == "%rd" ? 64 : 0;
}

/// The bits of each number that an instruction stores; 0 if it stores nothing.
static unsigned getStoredBits(StringRef mnemonic) {
  StringRef type = mnemonic.rsplit('.').second.drop_while(llvm::isAlpha);
  unsigned bits = 0;
  return mnemonic.starts_with("st.") && !type.getAsInteger(10, bits) ? bits : 0;
}

/// The instruction that makes an integer of a register's lowest bits, up to its
/// operands, and the bits of that integer.
static std::pair<const char *, unsigned> getNarrowing(unsigned from,
                                                      unsigned to) {
  if (from == 64 && to == 32)
    return {"cvt.u32.u64", 32};
  if (from == 64)
    return {"cvt.u16.u64", 16};
  return {from == 32 ? "cvt.u16.u32" : "and.b16", 16};
}

std::string tarpon::narrowStoredFloats(StringRef ptx) {
  llvm::SmallVector<StringRef> lines;
  ptx.split(lines, '\n');
  llvm::StringSet<> floats = findFloats(lines);
  std::string text;
  llvm::raw_string_ostream os(text);
  size_t count = 0;
  for (const StringRef &whole : lines) {
    Line line = parseLine(whole);
    unsigned to = getStoredBits(line.mnemonic);
    auto [address, stored] = line.operands.split("], ");
    llvm::SmallVector<StringRef> names = getRegisters(stored);
    auto isNarrowed = [&](StringRef name) {
      return to > 0 && to < getRegisterBits(name) && floats.contains(name);
    };
    StringRef end = &whole == &lines.back() ? "" : "\n";
    if (llvm::none_of(names, isNarrowed)) {
      os << whole << end;
      continue;
    }
    std::vector<std::string> narrowed;
    os << "\t{\n";
    for (StringRef name : names) {
      if (!isNarrowed(name)) {
        narrowed.push_back(name.str());
        continue;
      }
      unsigned from = getRegisterBits(name);
      auto [narrowing, bits] = getNarrowing(from, to);
      narrowed.push_back("%narrow" + std::to_string(count++));
      os << "\t.reg .b" << bits << " \t" << narrowed.back() << ";\n\t"
         << narrowing << " \t" << narrowed.back() << ", " << name
         << (from == 16 ? ", 255" : "") << ";\n";
    }
    bool isVector = stored.starts_with("{");
    os << "\t" << line.predicate << (line.predicate.empty() ? "" : " ")
       << line.mnemonic << " \t" << address << "], " << (isVector ? "{" : "")
       << llvm::join(narrowed, ", ") << (isVector ? "}" : "") << ";\n\t}"
       << end;
  }
  return text;
}
