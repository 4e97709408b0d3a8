//===- Sha256Test.cpp - SHA-256 digests -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Sha256.h"

#include "gtest/gtest.h"

using tarpon::runtime::Sha256;

namespace {

// The examples of FIPS 180-4.
TEST(Sha256, KnownDigests) {
  EXPECT_EQ(Sha256().finishHex(),
            "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(Sha256().update("abc").finishHex(),
            "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(Sha256().update(std::string(1000000, 'a')).finishHex(),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

// More bits than 32 bits count.
TEST(Sha256, LargeFiles) {
  std::string piece(1 << 20, 'a');
  Sha256 sha;
  for (int i = 0; i < 513; ++i)
    sha.update(piece);
  EXPECT_EQ(sha.finishHex(),
            "9705afa1e6f5e26e8f659ff9172f2197f97c07404da5d1365766a3444f201b10");
}

TEST(Sha256, PiecesAreOneText) {
  std::string text(1000, 'x');
  Sha256 pieces;
  for (size_t begin = 0; begin < text.size(); begin += 7)
    pieces.update(text.substr(begin, 7)).update("");
  EXPECT_EQ(pieces.finish(), Sha256().update(text).finish());
}

} // namespace
