//===- SignatureTest.cpp - Signatures of packages -------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Signature.h"

#include "TestPackages.h"

#include "gtest/gtest.h"

#include <fstream>
#include <sstream>

using namespace tarpon;
using namespace tarpon::runtime;

namespace {

class SignatureTest : public testing::Test {
protected:
  void SetUp() override {
    write(path, kText);
    ASSERT_TRUE(createKeyPair(key));
    ASSERT_TRUE(signFile(path, key));
  }

  static void write(const std::string &file, const std::string &text) {
    std::ofstream(file, std::ios::binary) << text;
  }

  static std::string read(const std::string &file) {
    std::ostringstream text;
    text << std::ifstream(file, std::ios::binary).rdbuf();
    return text.str();
  }

  /// The bytes come in two pieces.
  Status verify(const std::string &bytes) {
    Result<PublicKey> publicKey = PublicKey::read(key + ".pub");
    if (!publicKey)
      return publicKey.error();
    SignedBytes all;
    all.update(std::span(bytes).first(bytes.size() / 2));
    all.update(std::span(bytes).subspan(bytes.size() / 2));
    return all.verify(path, *publicKey);
  }

  static constexpr const char *kText = "every byte of a file";
  test::TempFolder folder;
  std::string path = folder.file("file"), key = folder.file("key");
};

} // namespace

TEST_F(SignatureTest, CoversEveryByte) {
  EXPECT_TRUE(verify(kText));
  std::string text = kText;
  for (size_t i = 0; i < text.size(); ++i) {
    std::string changed = text;
    changed[i] ^= 1;
    EXPECT_FALSE(verify(changed)) << i;
  }
  EXPECT_FALSE(verify(text + " "));
  EXPECT_FALSE(verify(text.substr(1)));
}

/// Every character counts, but for those of the untrusted comment. The last
/// one of base64 may hold bits that mean nothing, which are refused, too.
TEST_F(SignatureTest, AChangedSignatureIsNone) {
  std::string file = getSignaturePath(path), text = read(file);
  size_t from = text.find('\n') + 1;
  for (size_t i = from; i + 1 < text.size(); ++i) {
    std::string changed = text;
    changed[i] = changed[i] == 'A' ? 'B' : 'A';
    write(file, changed);
    EXPECT_FALSE(verify(kText)) << i << ": " << changed;
  }
  write(file, text.substr(0, from));
  EXPECT_FALSE(verify(kText));
  write(file, "");
  EXPECT_FALSE(verify(kText));
  write(file, std::string(1 << 20, 'x'));
  EXPECT_FALSE(verify(kText));
  write(file, text);
  EXPECT_TRUE(verify(kText));
}

TEST_F(SignatureTest, ADamagedKeyIsRefused) {
  std::string text = read(key);
  // A byte of the key itself, behind numbers, salt and limits.
  size_t at = text.find('\n') + 1 + 100;
  text[at] = text[at] == 'A' ? 'B' : 'A';
  write(key, text);
  Status status = signFile(path, key);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "the key '" + key + "' is damaged");
}

/// The second line of such a key differs in what derives it from a password.
TEST_F(SignatureTest, AKeyWithAPasswordIsRefused) {
  std::string text = read(key);
  size_t at = text.find('\n') + 1;
  // "Ed", no algorithm, "B2" in base64, and with "Sc".
  ASSERT_EQ(text.substr(at, 8), "RWQAAEIy");
  write(key, text.replace(at, 8, "RWRTY0Iy"));
  Status status = signFile(path, key);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(),
            "the key '" + key + "' has a password: sign with minisign -S -s " +
                key);
}

TEST_F(SignatureTest, NoKeyIsReplaced) {
  std::string before = read(key);
  EXPECT_FALSE(createKeyPair(key));
  EXPECT_EQ(read(key), before);
  // Its public half may be there alone.
  std::string other = folder.file("other");
  write(other + ".pub", "a key");
  EXPECT_FALSE(createKeyPair(other));
  EXPECT_EQ(read(other + ".pub"), "a key");
  EXPECT_FALSE(std::ifstream(other).good());
}
