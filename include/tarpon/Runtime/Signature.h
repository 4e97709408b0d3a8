//===- Signature.h - Signatures of packages ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A signature says that the owner of a key has seen every byte of a file. It is
// an Ed25519 signature of the file's BLAKE2b hash, computed by libsodium, in a
// file of its own. Keys and signatures have the form of minisign
// (https://jedisct1.github.io/minisign/), which can make and verify them, too.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_SIGNATURE_H
#define TARPON_RUNTIME_SIGNATURE_H

#include "tarpon/Runtime/Result.h"

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>

namespace tarpon::runtime {

/// The public half of a key pair.
struct PublicKey {
  /// Tells keys apart; it is no secret, and no proof.
  std::array<uint8_t, 8> id;
  std::array<uint8_t, 32> key;

  /// Reads a file `minisign -G` or createKeyPair has written.
  static Result<PublicKey> read(const std::string &path);
};

/// The bytes of a file, added in their order.
class SignedBytes {
public:
  SignedBytes();
  ~SignedBytes();

  void update(std::span<const char> bytes);

  /// Returns success if the signature of the file `path`, which lies beside it
  /// (getSignaturePath), was made with `key` over these bytes. Nothing can be
  /// added afterwards.
  Status verify(const std::string &path, const PublicKey &key);

private:
  friend Status signFile(const std::string &path, const std::string &secretKey);
  std::array<uint8_t, 64> finish();

  struct State;
  std::unique_ptr<State> state;
};

/// "model.tpn.minisig".
std::string getSignaturePath(const std::string &path);

/// Makes a key pair: `secret`, which only this user may read, and `secret`.pub.
/// Existing files are not replaced.
Status createKeyPair(const std::string &secret);

/// Writes the signature of a file beside it. A secret key with a password is
/// refused: minisign asks for it.
Status signFile(const std::string &path, const std::string &secretKey);

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_SIGNATURE_H
