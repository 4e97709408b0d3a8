//===- Digest.h - SHA-256 as text -------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_STORE_DIGEST_H
#define TARPON_LIB_AUTOTUNE_STORE_DIGEST_H

#include "tarpon/Runtime/Sha256.h"

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"

#include <string>

namespace tarpon {

/// Digests a sequence of pieces, in hexadecimal.
class Digest {
public:
  /// Adds a piece. Its length is digested too: ("ab", "c") is not ("a", "bc").
  Digest &add(llvm::StringRef piece) {
    sha.update(std::to_string(piece.size()) + ":").update(piece);
    return *this;
  }
  Digest &add(const std::string &piece) { return add(llvm::StringRef(piece)); }
  Digest &add(llvm::ArrayRef<char> piece) {
    return add(llvm::StringRef(piece.data(), piece.size()));
  }
  std::string hex() { return sha.finishHex(); }

private:
  runtime::Sha256 sha;
};

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_STORE_DIGEST_H
