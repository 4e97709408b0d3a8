//===- RecordVersion.cpp - Versions of records ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "RecordVersion.h"

#include "Digest.h"
#include "Sqlite/Sqlite.h"

#include "tarpon/Autotune/Store/CandidateDigests.h"
#include "tarpon/Solver/BehaviourVersion.h"
#include "tarpon/Solver/GpuTarget.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/Twine.h"

#include <sqlite3.h>

using namespace tarpon;

namespace {
/// GCC and Clang evaluate the arguments of a call in different orders, so that
/// their builds emit the same instructions in different orders.
enum class Builder : uint8_t { Clang, Gcc };
} // namespace

#ifdef __clang__
static constexpr Builder kBuilder = Builder::Clang;
#else
static constexpr Builder kBuilder = Builder::Gcc;
#endif

static std::string makeText(llvm::StringRef part, int64_t version,
                            Builder builder) {
  llvm::StringRef suffix = builder == Builder::Gcc ? "/gcc" : "";
  return (part + "-" + std::to_string(version) + suffix).str();
}

std::string tarpon::getRecordVersion(const TargetInfo &target) {
  llvm::StringRef part = target.traits->getCodegenPart();
  return makeText(part, getBehaviourVersion(part), kBuilder);
}

std::string tarpon::getPassesVersion() {
  return std::to_string(getBehaviourVersion(kPasses)) + "." +
         std::to_string(getBehaviourVersion(kCalibration));
}

//===----------------------------------------------------------------------===//
// The versions of 6d49224 and of what landed after it
//===----------------------------------------------------------------------===//

namespace {
struct SourceDigests {
  llvm::StringLiteral clang, gcc;
  bool isOrderedAsNow = true;
};
} // namespace

static constexpr SourceDigests kHostSources[] = {
#define TARPON_HOST_SOURCES(clang, gcc, isOrderedAsNow)                        \
  {clang, gcc, isOrderedAsNow},
#include "SourceDigests.def"
};

static constexpr SourceDigests kGpuSources[] = {
#define TARPON_GPU_SOURCES(clang, gcc) {clang, gcc},
#include "SourceDigests.def"
};

static constexpr llvm::StringLiteral kGpuModelSources[] = {
#define TARPON_GPU_MODEL_SOURCES(digest) digest,
#include "SourceDigests.def"
};

static std::optional<Builder> findHostSources(llvm::StringRef version,
                                              llvm::StringRef target) {
  bool isReordered = target.contains("/512/") && !target.contains("/znver");
  if (!version.consume_front("0.1.0+"))
    return std::nullopt;
  for (const SourceDigests &sources : kHostSources) {
    if (isReordered && !sources.isOrderedAsNow)
      continue;
    if (version == sources.clang)
      return Builder::Clang;
    if (version == sources.gcc)
      return Builder::Gcc;
  }
  return std::nullopt;
}

/// Records that were measured on a GPU had the chip and LLVM in their digest.
static std::optional<Builder> findGpuSources(llvm::StringRef version,
                                             llvm::StringRef llvmVersion,
                                             const GpuTarget &gpu) {
  auto isDigest = [&](llvm::StringRef sources) {
    std::string code = "gpu code " + sources.str() + " " + gpu.chip;
    std::string hex =
        Digest().add(llvm::StringRef(code)).add(llvmVersion).hex();
    return version == "0.1.0+" + hex.substr(0, 12);
  };
  for (const SourceDigests &sources : kGpuSources) {
    if (isDigest(sources.clang))
      return Builder::Clang;
    if (isDigest(sources.gcc))
      return Builder::Gcc;
  }
  return std::nullopt;
}

std::string tarpon::translateRecordVersion(llvm::StringRef version,
                                           llvm::StringRef llvmVersion,
                                           llvm::StringRef target) {
  // The digest of the target's features follows its name.
  runtime::Result<GpuTarget> gpu = parseGpuTarget(target.split('/').first);
  std::optional<Builder> builder = findHostSources(version, target);
  // Modelled times of a GPU's kernels had the host's digest.
  if (gpu && !builder)
    builder = findGpuSources(version, llvmVersion, *gpu);
  return builder ? makeText(gpu ? kGpuCodegen : kHostCodegen, 1, *builder)
                 : version.str();
}

std::string tarpon::translateRecordTarget(llvm::StringRef target) {
  constexpr llvm::StringLiteral kModel = "/model:gpu-model-v1+";
  auto [machine, digest] = target.split(kModel);
  if (!llvm::is_contained(kGpuModelSources, digest))
    return target.str();
  return machine.str() + "/model:" + kGpuModel.str() + "-1";
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
  std::string text = translateRecordVersion(
      getText(values[0]), getText(values[1]), getText(values[2]));
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

static void translateTarget(sqlite3_context *context, int,
                            sqlite3_value **values) {
  std::string text = translateRecordTarget(getText(values[0]));
  sqlite3_result_text64(context, text.data(), text.size(), SQLITE_TRANSIENT,
                        SQLITE_UTF8);
}

static void lookUpVersion(sqlite3_context *context, int,
                          sqlite3_value **values) {
  sqlite3_result_int64(context, getBehaviourVersion(getText(values[0])));
}

static void compareVersions(sqlite3_context *context, int,
                            sqlite3_value **values) {
  CandidateDigests candidates = CandidateDigests::parse(getText(values[0]));
  sqlite3_result_int(context, candidates.areOfThisBuild() ? 1 : 0);
}

int tarpon::defineVersionFunctions(sqlite3 *database) {
  constexpr int kFlags = SQLITE_UTF8 | SQLITE_DETERMINISTIC | SQLITE_INNOCUOUS;
  int code =
      sqlite3_create_function_v2(database, "record_version", 3, kFlags, nullptr,
                                 translate, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK)
    return code;
  code =
      sqlite3_create_function_v2(database, "record_target", 1, kFlags, nullptr,
                                 translateTarget, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK)
    return code;
  code =
      sqlite3_create_function_v2(database, "solver_version", 1, kFlags, nullptr,
                                 lookUpVersion, nullptr, nullptr, nullptr);
  if (code != SQLITE_OK)
    return code;
  return sqlite3_create_function_v2(database, "are_candidates_of_this_build", 1,
                                    kFlags, nullptr, compareVersions, nullptr,
                                    nullptr, nullptr);
}
