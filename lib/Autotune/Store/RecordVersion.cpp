//===- RecordVersion.cpp - What records are valid for ---------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordVersion.h"

#include "Digest.h"
#include "Sqlite.h"

#include "tarpon/Solver/BehaviourVersion.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <sqlite3.h>

using namespace tarpon;

static std::string makeText(llvm::StringRef part, int64_t version) {
  return (part + "-" + std::to_string(version)).str();
}

std::string tarpon::getRecordVersion(const TargetInfo &target) {
  llvm::StringRef part = target.gpu ? kGpuCodegen : kHostCodegen;
  return makeText(part, getBehaviourVersion(part));
}

//===----------------------------------------------------------------------===//
// The versions of 6d49224 and of what landed after it
//===----------------------------------------------------------------------===//

/// Digests of the host's sources, as cmake/WriteCodeDigest.cmake gave them.
static constexpr llvm::StringLiteral kFirstHostDigests[] = {
    "05e2ad794cb7", // 6d49224, made by Clang
    "c9b101c90698", // 6d49224, made by GCC
    "ccea5a89ad3e", // a976836
};
/// Since 76c5bb5, the instructions of CPUs with 512-bit vectors that are not
/// AMD's have another order: what was measured on them before is of other code.
static constexpr llvm::StringLiteral kLaterHostDigests[] = {
    "7f2eef0d781a", // 76c5bb5
    "ae6c81ad829e", // c3aac5b
};
static constexpr llvm::StringLiteral kGpuDigests[] = {
    // 6d49224, made by Clang and by GCC; be115be; a976836
    "38ce5ceda76cdbc0bef76a49bc2dcf3c97aa79eada8f3cc012809426b14f2290",
    "ca9da06505cc60a81127d4a52b01d1ecd008bbce142603a9312f7a23a4af4b97",
    "fc6d83f36f54d8ca9ec5067f598710d4d2b4cef68b091e6596f1e294ca16ec5d",
    "e725bc12c48ac4c75017595e9ddee3e3109b847abb0001588e92604f380d5cb9"};

static bool isOneOf(llvm::StringRef version,
                    llvm::ArrayRef<llvm::StringLiteral> digests) {
  return version.consume_front("0.1.0+") &&
         llvm::is_contained(digests, version);
}

static bool isFirstHostVersion(llvm::StringRef version,
                               llvm::StringRef target) {
  bool isCompiledAsBefore =
      !target.contains("/512") || target.contains("/znver");
  return (isCompiledAsBefore && isOneOf(version, kFirstHostDigests)) ||
         isOneOf(version, kLaterHostDigests);
}

bool tarpon::isFirstGpuVersion(llvm::StringRef version, const GpuTarget &gpu) {
  return llvm::any_of(kGpuDigests, [&](llvm::StringRef digest) {
    std::string code = "gpu code " + digest.str() + " " + gpu.chip;
    std::string hex = Digest()
                          .add(llvm::StringRef(code))
                          .add(llvm::StringRef("22.1.8"))
                          .hex();
    return version == "0.1.0+" + hex.substr(0, 12);
  });
}

std::string tarpon::translateRecordVersion(llvm::StringRef version,
                                           llvm::StringRef target) {
  // The digest of the target's features is behind its name.
  runtime::Result<GpuTarget> gpu =
      parseGpuTarget(target.take_until([](char c) { return c == '/'; }));
  bool isFirst = isFirstHostVersion(version, target);
  // What a model says of a GPU's kernels had the host's digest.
  if (gpu && (isFirst || isFirstGpuVersion(version, *gpu)))
    return makeText(kGpuCodegen, 1);
  return !gpu && isFirst ? makeText(kHostCodegen, 1) : version.str();
}

//===----------------------------------------------------------------------===//
// Functions of SQL
//===----------------------------------------------------------------------===//

static llvm::StringRef getText(sqlite3_value *value) {
  const auto *data = reinterpret_cast<const char *>(sqlite3_value_text(value));
  auto size = static_cast<size_t>(sqlite3_value_bytes(value));
  return data ? llvm::StringRef(data, size) : llvm::StringRef();
}

static void translate(sqlite3_context *context, int, sqlite3_value **values) {
  std::string text =
      translateRecordVersion(getText(values[0]), getText(values[1]));
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

static void lookUpVersion(sqlite3_context *context, int,
                          sqlite3_value **values) {
  sqlite3_result_int64(context, getBehaviourVersion(getText(values[0])));
}

int tarpon::defineVersionFunctions(sqlite3 *database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  int code =
      sqlite3_create_function_v2(database, "record_version", 2, kFlags, nullptr,
                                 translate, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK)
    return code;
  return sqlite3_create_function_v2(database, "solver_version", 1, kFlags,
                                    nullptr, lookUpVersion, nullptr, nullptr,
                                    nullptr);
}
