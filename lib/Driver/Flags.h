//===- Flags.h - The flags of one base driver -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_DRIVER_FLAGS_H
#define TARPON_LIB_DRIVER_FLAGS_H

#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <map>
#include <string>

namespace tarpon::driver {

/// How a base uses a flag.
enum class Use : uint8_t {
  Integer, ///< read as an integer
  Number,  ///< read as a number
  Text,    ///< read as it is
  /// The flag controls how MIOpen's driver works, which makes no difference
  /// here: printing its arguments, filling buffers on the GPU.
  Ignored,
  /// Anything but its default is refused.
  Unsupported,
};

struct FlagSpec {
  char letter;
  llvm::StringLiteral name;
  /// The default value.
  llvm::StringLiteral value;
  Use use = Use::Integer;
};

/// The values of a line's flags by their long names.
class Flags {
public:
  /// Parses `words` such as "-n", "4", "--in_channels", "64". Every flag has a
  /// value.
  static runtime::Result<Flags> parse(llvm::StringRef base,
                                      llvm::ArrayRef<FlagSpec> specs,
                                      llvm::ArrayRef<std::string> words);

  /// Returns the value of a flag that the specs have with that use.
  int64_t integer(llvm::StringRef name) const;
  double number(llvm::StringRef name) const;
  const std::string &text(llvm::StringRef name) const;
  bool isSet(llvm::StringRef name) const { return integer(name) != 0; }
  bool has(llvm::StringRef name) const { return values.count(name.str()); }

private:
  std::map<std::string, std::string> values;
};

} // namespace tarpon::driver

#endif // TARPON_LIB_DRIVER_FLAGS_H
