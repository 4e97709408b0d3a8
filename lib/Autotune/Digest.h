//===- Digest.h - SHA-256 as text -------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_DIGEST_H
#define TARPON_LIB_AUTOTUNE_DIGEST_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/SHA256.h"

#include <string>

namespace tarpon {

/// Collects pieces and gives their digest in hexadecimal.
class Digest {
public:
  /// Pieces are told apart by their length: ("ab", "c") is not ("a", "bc").
  Digest &add(llvm::StringRef piece) {
    sha.update(std::to_string(piece.size()) + ":");
    sha.update(piece);
    return *this;
  }
  Digest &add(llvm::ArrayRef<char> piece) {
    return add(llvm::StringRef(piece.data(), piece.size()));
  }
  std::string hex() { return llvm::toHex(sha.final(), /*LowerCase=*/true); }

private:
  llvm::SHA256 sha;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_DIGEST_H
