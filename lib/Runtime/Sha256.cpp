//===- Sha256.cpp - SHA-256 digests -----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Uses OpenSSL's functions for this digest instead of the generic ones, which
// load providers: 3 MB when linked statically, against 20 KB.
//
//===----------------------------------------------------------------------===//

// OpenSSL 3.0 calls these functions deprecated unless 1.1.1 is asked for.
#define OPENSSL_API_COMPAT 10101

#include "tarpon/Runtime/Sha256.h"

#include <openssl/sha.h>

namespace tarpon::runtime {

static_assert(sizeof(SHA256_CTX) == 112 && alignof(SHA256_CTX) <= 8,
              "Sha256::context holds a SHA256_CTX");

static SHA256_CTX *get(std::array<char, 112> &context) {
  return reinterpret_cast<SHA256_CTX *>(context.data());
}

Sha256::Sha256() { SHA256_Init(get(context)); }

Sha256 &Sha256::update(std::string_view bytes) {
  SHA256_Update(get(context), bytes.data(), bytes.size());
  return *this;
}

std::array<uint8_t, 32> Sha256::finish() {
  std::array<uint8_t, 32> digest;
  SHA256_Final(digest.data(), get(context));
  return digest;
}

std::string Sha256::finishHex() {
  constexpr char kDigits[] = "0123456789abcdef";
  std::string text;
  for (uint8_t byte : finish()) {
    text += kDigits[byte >> 4];
    text += kDigits[byte & 15];
  }
  return text;
}

} // namespace tarpon::runtime
