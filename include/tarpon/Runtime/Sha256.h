//===- Sha256.h - SHA-256 digests -------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_SHA256_H
#define TARPON_RUNTIME_SHA256_H

#include <array>
#include <cstdint>
#include <string>
#include <string_view>

namespace tarpon::runtime {

/// The digest of bytes that are added in pieces, computed by OpenSSL, which
/// uses the CPU's SHA instructions. LLVM's implementation is much slower, and
/// wrong from 512 MiB on.
class Sha256 {
public:
  Sha256();

  Sha256 &update(std::string_view bytes);

  /// The digest of all pieces. Nothing can be added afterwards.
  std::array<uint8_t, 32> finish();
  /// The digest as 64 lower-case hexadecimal digits.
  std::string finishHex();

private:
  /// OpenSSL's SHA256_CTX, as bytes: users of this header need none of
  /// OpenSSL's.
  alignas(8) std::array<char, 112> context;
};

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_SHA256_H
