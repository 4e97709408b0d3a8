//===- Signature.cpp - Signatures of packages -------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Signature.h"

#include "tarpon/Runtime/File.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <optional>
#include <sodium.h>
#include <string_view>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

namespace tarpon::runtime {

//===----------------------------------------------------------------------===//
// The forms of the files
//===----------------------------------------------------------------------===//

using KeyId = std::array<uint8_t, 8>;
using Algorithm = std::array<char, 2>;

static constexpr Algorithm kEd25519 = {'E', 'd'};
/// The signature is that of the file's hash, not of the file.
static constexpr Algorithm kHashed = {'E', 'D'};
static constexpr Algorithm kBlake2 = {'B', '2'};
static constexpr Algorithm kNoPassword = {'\0', '\0'};
static constexpr std::string_view kUntrusted = "untrusted comment: ";
static constexpr std::string_view kTrusted = "trusted comment: ";

namespace {

using Hash = std::array<uint8_t, 64>;
using Ed25519Signature = std::array<uint8_t, crypto_sign_BYTES>;

/// The second lines of the files, whose members are all of bytes.
struct PublicLine {
  Algorithm algorithm;
  KeyId id;
  std::array<uint8_t, crypto_sign_PUBLICKEYBYTES> key;
};
static_assert(sizeof(PublicLine) == 42);

struct SecretLine {
  Algorithm algorithm, passwordAlgorithm, checksumAlgorithm;
  std::array<uint8_t, 32> salt;
  std::array<uint8_t, 8> operations, memory;
  KeyId id;
  std::array<uint8_t, crypto_sign_SECRETKEYBYTES> key;
  std::array<uint8_t, 32> checksum;
};
static_assert(sizeof(SecretLine) == 158);

struct SignatureLine {
  Algorithm algorithm;
  KeyId id;
  Ed25519Signature signature;
};
static_assert(sizeof(SignatureLine) == 74);

} // namespace

/// Numbers of keys are written as minisign does: the last byte first.
static std::string print(const KeyId &id) {
  constexpr char kDigits[] = "0123456789ABCDEF";
  std::string text;
  for (auto byte = id.rbegin(); byte != id.rend(); ++byte) {
    text += kDigits[*byte >> 4];
    text += kDigits[*byte & 15];
  }
  return text;
}

template <typename Line>
static std::string encode(const Line &line) {
  std::string text(
      sodium_base64_encoded_len(sizeof(line), sodium_base64_VARIANT_ORIGINAL),
      '\0');
  sodium_bin2base64(text.data(), text.size(),
                    reinterpret_cast<const unsigned char *>(&line),
                    sizeof(line), sodium_base64_VARIANT_ORIGINAL);
  // The terminating zero.
  text.pop_back();
  return text;
}

template <typename Line>
static std::optional<Line> decode(std::string_view text) {
  Line line;
  size_t size = 0;
  bool isRead =
      sodium_base642bin(reinterpret_cast<unsigned char *>(&line), sizeof(line),
                        text.data(), text.size(), nullptr, &size, nullptr,
                        sodium_base64_VARIANT_ORIGINAL) == 0;
  return isRead && size == sizeof(line) ? std::optional(line) : std::nullopt;
}

/// The lines of a small text file. Devices and long files are none.
static Result<std::vector<std::string>> readLines(const std::string &path) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  constexpr int64_t kLongest = 16384;
  if (file->size() > kLongest)
    return std::vector<std::string>();
  std::string text(static_cast<size_t>(file->size()), '\0');
  if (Status status = file->read(0, text); !status)
    return status.error();
  std::vector<std::string> lines;
  for (size_t at = 0; at < text.size();) {
    size_t end = std::min(text.find('\n', at), text.size());
    lines.push_back(text.substr(at, end - at));
    if (lines.back().ends_with('\r'))
      lines.back().pop_back();
    at = end + 1;
  }
  return lines;
}

template <typename Line>
static Result<Line> readKey(const std::string &path, const char *kind) {
  Result<std::vector<std::string>> lines = readLines(path);
  if (!lines)
    return lines.error();
  std::optional<Line> line;
  if (lines->size() > 1 && lines->front().starts_with(kUntrusted))
    line = decode<Line>((*lines)[1]);
  if (!line || line->algorithm != kEd25519)
    return Error{"'" + path + "' is no " + kind + " key of minisign"};
  return *line;
}

Result<PublicKey> PublicKey::read(const std::string &path) {
  Result<PublicLine> line = readKey<PublicLine>(path, "public");
  if (!line)
    return line.error();
  return PublicKey{line->id, line->key};
}

//===----------------------------------------------------------------------===//
// Hashes
//===----------------------------------------------------------------------===//

struct SignedBytes::State {
  crypto_generichash_state hash;
};

SignedBytes::SignedBytes() : state(std::make_unique<State>()) {
  // It may be called often, and fails only where there is no random source.
  (void)sodium_init();
  crypto_generichash_init(&state->hash, nullptr, 0, Hash().size());
}

SignedBytes::~SignedBytes() = default;

void SignedBytes::update(std::span<const char> bytes) {
  crypto_generichash_update(
      &state->hash, reinterpret_cast<const unsigned char *>(bytes.data()),
      bytes.size());
}

std::array<uint8_t, 64> SignedBytes::finish() {
  Hash hash;
  crypto_generichash_final(&state->hash, hash.data(), hash.size());
  return hash;
}

/// A key is derived from its first half. Keys without a password have no
/// checksum.
static bool isDamaged(const SecretLine &line) {
  std::array<uint8_t, crypto_sign_PUBLICKEYBYTES> publicKey;
  std::array<uint8_t, crypto_sign_SECRETKEYBYTES> key;
  crypto_sign_seed_keypair(publicKey.data(), key.data(), line.key.data());
  bool isSame = key == line.key;
  sodium_memzero(key.data(), key.size());
  return !isSame;
}

//===----------------------------------------------------------------------===//
// Verifying
//===----------------------------------------------------------------------===//

std::string getSignaturePath(const std::string &path) {
  return path + ".minisig";
}

/// The second signature covers the first one, and the trusted comment.
static std::string joinSigned(const Ed25519Signature &signature,
                              std::string_view comment) {
  std::string text(signature.begin(), signature.end());
  return text.append(comment);
}

static const unsigned char *getBytes(std::string_view text) {
  return reinterpret_cast<const unsigned char *>(text.data());
}

Status SignedBytes::verify(const std::string &path, const PublicKey &key) {
  std::string file = getSignaturePath(path);
  Result<std::vector<std::string>> lines = readLines(file);
  if (!lines)
    return Error{"'" + path + "' has no signature: " + lines.message()};
  std::optional<SignatureLine> line;
  std::optional<Ed25519Signature> whole;
  if (lines->size() == 4 && (*lines)[0].starts_with(kUntrusted) &&
      (*lines)[2].starts_with(kTrusted)) {
    line = decode<SignatureLine>((*lines)[1]);
    whole = decode<Ed25519Signature>((*lines)[3]);
  }
  if (!line || !whole || line->algorithm != kHashed)
    return Error{"'" + file + "' is no signature of minisign over a hash"};
  if (line->id != key.id)
    return Error{"'" + path + "' is signed with the key " + print(line->id) +
                 ", not with " + print(key.id)};
  Hash hash = finish();
  std::string covered = joinSigned(
      line->signature, std::string_view((*lines)[2]).substr(kTrusted.size()));
  if (crypto_sign_verify_detached(line->signature.data(), hash.data(),
                                  hash.size(), key.key.data()) != 0 ||
      crypto_sign_verify_detached(whole->data(), getBytes(covered),
                                  covered.size(), key.key.data()) != 0)
    return Error{"'" + file + "' is not the signature of '" + path +
                 "': one of them was changed, or they do not belong together"};
  return success();
}

//===----------------------------------------------------------------------===//
// Signing
//===----------------------------------------------------------------------===//

/// A file that is never there before, so that no link is followed.
static Status writeNew(const std::string &path, mode_t mode,
                       std::string_view text) {
  int file = open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
  if (file < 0)
    return Error{"cannot create '" + path + "': " + std::strerror(errno)};
  bool isWritten = write(file, text.data(), text.size()) ==
                       static_cast<ssize_t>(text.size()) &&
                   fsync(file) == 0;
  int code = errno;
  close(file);
  if (isWritten)
    return success();
  unlink(path.c_str());
  return Error{"cannot write '" + path + "': " + std::strerror(code)};
}

Status createKeyPair(const std::string &secret) {
  if (sodium_init() < 0)
    return Error{"this system has no source of random numbers"};
  PublicLine publicLine = {kEd25519, {}, {}};
  SecretLine line = {};
  line.algorithm = kEd25519;
  line.passwordAlgorithm = kNoPassword;
  line.checksumAlgorithm = kBlake2;
  randombytes_buf(line.id.data(), line.id.size());
  crypto_sign_keypair(publicLine.key.data(), line.key.data());
  publicLine.id = line.id;
  std::string secretText = std::string(kUntrusted) +
                           "minisign secret key without a password\n" +
                           encode(line) + "\n";
  sodium_memzero(&line, sizeof(line));
  Status status = writeNew(secret, S_IRUSR | S_IWUSR, secretText);
  sodium_memzero(secretText.data(), secretText.size());
  if (!status)
    return status;
  constexpr mode_t kForAll = S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH;
  status =
      writeNew(secret + ".pub", kForAll,
               std::string(kUntrusted) + "minisign public key " +
                   print(publicLine.id) + "\n" + encode(publicLine) + "\n");
  if (!status)
    unlink(secret.c_str());
  return status;
}

static Result<SecretLine> readSecretKey(const std::string &path) {
  Result<SecretLine> line = readKey<SecretLine>(path, "secret");
  if (!line)
    return line;
  if (line->passwordAlgorithm != kNoPassword)
    return Error{"the key '" + path +
                 "' has a password: sign with minisign -S -s " + path};
  if (isDamaged(*line))
    return Error{"the key '" + path + "' is damaged"};
  return line;
}

static Status hashFile(const std::string &path, SignedBytes &bytes) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  constexpr int64_t kPiece = int64_t(1) << 20;
  std::vector<char> piece(kPiece);
  for (int64_t at = 0; at < file->size(); at += kPiece) {
    auto part = std::span(piece).first(
        static_cast<size_t>(std::min(kPiece, file->size() - at)));
    if (Status status = file->read(at, part); !status)
      return status;
    bytes.update(part);
  }
  return success();
}

Status signFile(const std::string &path, const std::string &secretKey) {
  Result<SecretLine> key = readSecretKey(secretKey);
  if (!key)
    return key.error();
  SignedBytes bytes;
  if (Status status = hashFile(path, bytes); !status)
    return status;
  Hash hash = bytes.finish();
  SignatureLine line = {kHashed, key->id, {}};
  crypto_sign_detached(line.signature.data(), nullptr, hash.data(), hash.size(),
                       key->key.data());
  std::string comment =
      "file:" + std::filesystem::path(path).filename().string() + " hashed";
  std::ranges::replace_if(
      comment, [](unsigned char c) { return c < ' '; }, '?');
  std::string covered = joinSigned(line.signature, comment);
  Ed25519Signature whole;
  crypto_sign_detached(whole.data(), nullptr, getBytes(covered), covered.size(),
                       key->key.data());
  sodium_memzero(&*key, sizeof(*key));
  std::string text = std::string(kUntrusted) +
                     "signature of a Tarpon package\n" + encode(line) + "\n" +
                     std::string(kTrusted) + comment + "\n" + encode(whole) +
                     "\n";
  return writeFileAtomically(getSignaturePath(path), {text});
}

} // namespace tarpon::runtime
