//===- PackageStore.cpp - The packages of builders ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Fleet/PackageStore.h"

#include "tarpon/Fleet/Schema.h"
#include "tarpon/Runtime/File.h"
#include "tarpon/Runtime/Sha256.h"

#include "llvm/Support/Base64.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

#include <chrono>
#include <set>

using namespace tarpon;
using namespace tarpon::fleet;
using runtime::Error;
using runtime::Result;
using runtime::Status;
using runtime::success;

/// The bytes of a part: parameters are copied several times on their way.
static constexpr size_t kPartBytes = size_t(4) << 20;

static std::string digest(llvm::StringRef bytes) {
  return runtime::Sha256().update(bytes).finishHex();
}

static Result<std::string> readBytes(const std::string &path) {
  auto file = llvm::MemoryBuffer::getFile(path, /*IsText=*/false,
                                          /*RequiresNullTerminator=*/false);
  if (!file)
    return Error{path + ": " + file.getError().message()};
  return (*file)->getBuffer().str();
}

static constexpr llvm::StringLiteral kExtension = ".candidates";

std::string PackageStore::getPath(const Lease &lease,
                                  const std::string &digest) const {
  return folder + "/" + digest + "-" + std::to_string(lease.job) +
         kExtension.str();
}

Result<std::string> PackageStore::stage(const Lease &lease,
                                        const std::string &path) {
  Result<std::string> bytes = readBytes(path);
  if (!bytes)
    return bytes;
  std::string name = digest(*bytes);
  if (!folder.empty())
    if (Status status =
            runtime::writeFileAtomically(getPath(lease, name), {*bytes});
        !status)
      return status.error();
  staged = std::move(*bytes);
  return name;
}

/// The same package may be recorded twice: its builder was cut off before it
/// could tell.
Status PackageStore::record(const Lease &lease, const std::string &digest) {
  size_t parts =
      folder.empty() ? (staged.size() + kPartBytes - 1) / kPartBytes : 0;
  auto done = database.execute(
      "INSERT INTO package (digest, job_id, bytes, parts, created) VALUES "
      "(:p1, :p2, :p3, :p4, $NOW) ON CONFLICT DO NOTHING",
      {digest, lease.job, static_cast<int64_t>(staged.size()),
       static_cast<int64_t>(parts)});
  for (size_t part = 0; done && part < parts; ++part) {
    llvm::StringRef bytes =
        llvm::StringRef(staged).substr(part * kPartBytes, kPartBytes);
    done = database.execute(
        "INSERT INTO package_part (digest, job_id, part, base64) VALUES (:p1, "
        ":p2, :p3, :p4) ON CONFLICT DO NOTHING",
        {digest, lease.job, static_cast<int64_t>(part),
         llvm::encodeBase64(bytes)});
  }
  return done ? success() : Status(done.error());
}

Status PackageStore::drop(const Lease &lease) {
  if (!folder.empty()) {
    (void)llvm::sys::fs::remove(getPath(lease, lease.package));
    return success();
  }
  auto done = database.execute(
      "DELETE FROM package_part WHERE job_id = :p1 AND digest = :p2",
      {lease.job, lease.package});
  return done ? success() : Status(done.error());
}

Result<std::string> PackageStore::readParts(const Lease &lease) {
  if (!folder.empty())
    return readBytes(getPath(lease, lease.package));
  Result<Rows> rows = database.query(
      "SELECT base64 FROM package_part WHERE job_id = :p1 AND digest = :p2 "
      "ORDER BY part",
      {lease.job, lease.package});
  if (!rows)
    return rows.error();
  std::string bytes;
  for (const Row &row : *rows) {
    std::vector<char> decoded;
    if (llvm::Error error = llvm::decodeBase64(row.text(0), decoded))
      return Error{"package " + lease.package + ": " +
                   llvm::toString(std::move(error))};
    bytes.append(decoded.begin(), decoded.end());
  }
  return bytes;
}

Status PackageStore::fetch(const Lease &lease, const std::string &path) {
  Result<Rows> rows = database.query(
      std::string("SELECT 1 FROM package WHERE job_id = :p1 AND digest = :p2") +
          (database.isPostgres()
               ? " AND pg_has_role(CAST(recorded_by AS name), "
                 "'tarpon_builder', 'MEMBER')"
               : ""),
      {lease.job, lease.package});
  if (!rows)
    return rows.error();
  if (rows->empty())
    return Error{"package " + lease.package +
                 " was recorded by no builder for this job"};
  Result<std::string> bytes = readParts(lease);
  if (!bytes)
    return bytes.error();
  if (digest(*bytes) != lease.package)
    return Error{"package " + lease.package + " has the digest " +
                 digest(*bytes) + ": it is not what the builder recorded"};
  return runtime::writeFileAtomically(path, {*bytes});
}

//===----------------------------------------------------------------------===//
// Sweeping
//===----------------------------------------------------------------------===//

/// The names of the packages that jobs still need, as files of the shared
/// folder. A job that has failed, or was aborted, is compiled anew if somebody
/// retries it.
static Result<std::set<std::string>> listNames(Database &database) {
  Result<Rows> rows = database.query(
      "SELECT package, id FROM job WHERE package <> '' AND state NOT IN "
      "('failed', 'aborted')");
  if (!rows)
    return rows.error();
  std::set<std::string> names;
  for (const Row &row : *rows)
    names.insert(row.text(0) + "-" + row.text(1) + kExtension.str());
  return names;
}

/// Files of others, and what is still being written, are left alone.
static std::vector<std::string> listOldFiles(const std::string &folder) {
  constexpr auto kLeastAge = std::chrono::hours(1);
  auto latest = std::chrono::system_clock::now() - kLeastAge;
  std::vector<std::string> paths;
  std::error_code code;
  for (llvm::sys::fs::directory_iterator entry(folder, code), end;
       !code && entry != end; entry.increment(code)) {
    auto status = entry->status();
    if (status && llvm::sys::path::extension(entry->path()) == kExtension &&
        status->getLastModificationTime() < latest)
      paths.push_back(entry->path());
  }
  return paths;
}

/// If a job is retried meanwhile whose package is the same again, its parts are
/// missed by an evaluator, and it is compiled once more.
static Result<int64_t> sweepParts(Database &database) {
  return database.execute(
      "DELETE FROM package_part WHERE job_id IN (SELECT id FROM job WHERE "
      "state IN ('failed', 'aborted'))");
}

/// The files are listed before the jobs, so that none is missed that a job
/// begins to name meanwhile.
Result<int64_t> tarpon::fleet::sweepPackages(Database &database) {
  Result<std::string> folder = getSetting(database, "packages");
  if (!folder)
    return folder.error();
  if (folder->empty())
    return sweepParts(database);
  std::vector<std::string> paths = listOldFiles(*folder);
  Result<std::set<std::string>> names = listNames(database);
  if (!names)
    return names.error();
  int64_t removed = 0;
  for (const std::string &path : paths)
    if (!names->count(llvm::sys::path::filename(path).str()))
      removed += !llvm::sys::fs::remove(path);
  return removed;
}
