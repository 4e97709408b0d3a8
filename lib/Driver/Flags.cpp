//===- Flags.cpp - The flags of one base driver ---------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Flags.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/FormatVariadic.h"

using namespace tarpon;
using namespace tarpon::driver;
using llvm::formatv;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;

/// The largest shape or count of a driver line; products of a few of them fit
/// into 64 bits.
static constexpr int64_t kLargest = int64_t(1) << 40;

static const FlagSpec *findFlag(llvm::ArrayRef<FlagSpec> specs,
                                StringRef word) {
  bool isLong = word.consume_front("--");
  if (!isLong && !word.consume_front("-"))
    return nullptr;
  return llvm::find_if(specs, [&](const FlagSpec &spec) {
    return isLong ? spec.name == word
                  : word.size() == 1 && spec.letter == word[0];
  });
}

/// Explains why the value of a flag is wrong; "" if it is right.
static std::string check(const FlagSpec &spec, StringRef value) {
  int64_t integer;
  double number;
  switch (spec.use) {
  case Use::Integer:
    if (value.getAsInteger(10, integer))
      return formatv("takes an integer, not '{0}'", value);
    if (integer < -kLargest || integer > kLargest)
      return formatv("is {0}, which is too large", value);
    return "";
  case Use::Number:
    return value.getAsDouble(number)
               ? formatv("takes a number, not '{0}'", value).str()
               : "";
  case Use::Unsupported:
    return value == spec.value
               ? ""
               : formatv("is '{0}', which is not supported", value).str();
  case Use::Text:
  case Use::Ignored:
    return "";
  }
  llvm_unreachable("unknown use");
}

Result<Flags> Flags::parse(StringRef base, llvm::ArrayRef<FlagSpec> specs,
                           llvm::ArrayRef<std::string> words) {
  Flags flags;
  for (const FlagSpec &spec : specs)
    flags.values[spec.name.str()] = spec.value.str();
  for (size_t i = 0; i < words.size(); i += 2) {
    const FlagSpec *spec = findFlag(specs, words[i]);
    if (!spec || spec == specs.end())
      return Error{formatv("{0} has no flag '{1}'", base, words[i])};
    if (i + 1 == words.size())
      return Error{formatv("the flag {0} (--{1}) of {2} lacks a value",
                           words[i], spec->name, base)};
    if (std::string fault = check(*spec, words[i + 1]); !fault.empty())
      return Error{formatv("the flag {0} (--{1}) of {2} {3}", words[i],
                           spec->name, base, fault)};
    flags.values[spec->name.str()] = words[i + 1];
  }
  return flags;
}

const std::string &Flags::text(StringRef name) const {
  auto found = values.find(name.str());
  assert(found != values.end() && "no such flag in the specs");
  return found->second;
}

int64_t Flags::integer(StringRef name) const {
  int64_t value = 0;
  [[maybe_unused]] bool failed = StringRef(text(name)).getAsInteger(10, value);
  assert(!failed && "not a flag that was read as an integer");
  return value;
}

double Flags::number(StringRef name) const {
  double value = 0;
  [[maybe_unused]] bool failed = StringRef(text(name)).getAsDouble(value);
  assert(!failed && "not a flag that was read as a number");
  return value;
}
