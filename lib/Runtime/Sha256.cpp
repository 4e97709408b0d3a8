//===- Sha256.cpp - SHA-256 digests -----------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Sha256.h"

#include <cstdio>
#include <cstdlib>
#include <openssl/crypto.h>
#include <openssl/evp.h>

namespace tarpon::runtime {

/// OpenSSL fails to hash only when it has no memory, like any allocation.
static void check(bool succeeded) {
  if (succeeded)
    return;
  std::fputs("fatal: OpenSSL cannot compute a SHA-256 digest\n", stderr);
  std::abort();
}

Sha256::Sha256() {
  // What the machine's openssl.cnf sets up must not matter here.
  check(OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr) == 1);
  context.reset(EVP_MD_CTX_new());
  check(context != nullptr &&
        EVP_DigestInit_ex(context.get(), EVP_sha256(), nullptr) == 1);
}

void Sha256::Deleter::operator()(evp_md_ctx_st *context) const {
  EVP_MD_CTX_free(context);
}

Sha256 &Sha256::update(std::string_view bytes) {
  check(EVP_DigestUpdate(context.get(), bytes.data(), bytes.size()) == 1);
  return *this;
}

std::array<uint8_t, 32> Sha256::finish() {
  std::array<uint8_t, 32> digest;
  check(EVP_DigestFinal_ex(context.get(), digest.data(), nullptr) == 1);
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
