//===- Package.cpp - Package files ------------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A .tpn file is a header of 128 bytes and four sections: the metadata as JSON,
// the programs of packages of several sizes, the constants, the kernels. Each
// section starts at a multiple of 64 bytes;
// the bytes between are zero and included in the section's checksum, so that a
// checksum covers every byte of the file.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Package.h"

#include "PackageMetadata.h"
#include "tarpon/Runtime/File.h"
#include "tarpon/Runtime/PackageBytes.h"
#include "tarpon/Runtime/Signature.h"

#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <string_view>
#include <zlib.h>

namespace tarpon::runtime {

static_assert(std::endian::native == std::endian::little,
              "package files are little endian and written as they lie");

/// Like PNG's magic number: it has a byte that is not text, and line ends that
/// a careless transfer would change.
static constexpr std::array<char, 8> kMagic = {'\x89', 'T',  'P',    'N',
                                               '\r',   '\n', '\x1a', '\n'};
/// Version 3: packages of several sizes.
static constexpr uint32_t kVersion = 3;
static constexpr uint64_t kSectionAlignment = 64;

namespace {

enum Section { Metadata, Programs, Constants, Kernels, NumSections };

struct Header {
  std::array<char, 8> magic;
  uint32_t version;
  uint32_t reserved0;
  std::array<uint64_t, NumSections> bytes;
  std::array<uint32_t, NumSections> checksums;
  std::array<char, 60> reserved1;
  /// The CRC of the header's bytes in front of this field.
  uint32_t checksum;
};
static_assert(sizeof(Header) == 128, "the header has no implicit padding");

} // namespace

static constexpr std::array<const char *, NumSections> kSectionNames = {
    "metadata", "programs", "constants", "kernels"};

static uint64_t alignSection(uint64_t bytes) {
  return (bytes + kSectionAlignment - 1) & ~(kSectionAlignment - 1);
}

static uint32_t checksum(std::span<const char> bytes, uint32_t start = 0) {
  return static_cast<uint32_t>(crc32_z(
      start, reinterpret_cast<const Bytef *>(bytes.data()), bytes.size()));
}

static uint32_t headerChecksum(const Header &header) {
  return checksum(
      {reinterpret_cast<const char *>(&header), offsetof(Header, checksum)});
}

/// The zero bytes between the end of a section and the next one.
static std::span<const char> sectionPadding(uint64_t bytes) {
  static constexpr std::array<char, kSectionAlignment> kZeros = {};
  return std::span(kZeros).first(alignSection(bytes) - bytes);
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

namespace {

/// The parts of a file. The sections are the package's.
struct FileParts {
  std::string metadata;
  Header header = {};
  std::array<std::span<const char>, NumSections> sections, padding;
};

} // namespace

static Status fillParts(const Package &package, FileParts &parts) {
  if (Status status = validatePackage(package); !status)
    return Error{"the package is malformed: " + status.message()};
  parts.metadata = packageMetadataToJson(package);
  parts.sections = {parts.metadata, package.programs, package.constants,
                    package.kernels};
  Header &header = parts.header;
  header.magic = kMagic;
  header.version = kVersion;
  for (int i = 0; i < NumSections; ++i) {
    std::span<const char> section = parts.sections[i];
    parts.padding[i] = sectionPadding(section.size());
    header.bytes[i] = section.size();
    header.checksums[i] = checksum(parts.padding[i], checksum(section));
  }
  header.checksum = headerChecksum(header);
  return success();
}

static std::span<const char> getBytes(const Header &header) {
  return {reinterpret_cast<const char *>(&header), sizeof(header)};
}

Status writePackage(const Package &package, const std::string &path) {
  FileParts parts;
  if (Status status = fillParts(package, parts); !status)
    return Error{"cannot write '" + path + "': " + status.message()};
  const auto &[metadata, programs, constants, kernels] = parts.sections;
  const auto &padding = parts.padding;
  return writeFileAtomically(
      path, {getBytes(parts.header), metadata, padding[Metadata], programs,
             padding[Programs], constants, padding[Constants], kernels,
             padding[Kernels]});
}

Result<std::string> serializePackage(const Package &package) {
  FileParts parts;
  if (Status status = fillParts(package, parts); !status)
    return status.error();
  std::span<const char> head = getBytes(parts.header);
  std::string bytes(head.begin(), head.end());
  size_t size = bytes.size();
  for (std::span<const char> section : parts.sections)
    size += alignSection(section.size());
  bytes.reserve(size);
  for (int i = 0; i < NumSections; ++i)
    for (std::span<const char> piece : {parts.sections[i], parts.padding[i]})
      bytes.append(piece.begin(), piece.end());
  return bytes;
}

//===----------------------------------------------------------------------===//
// Reading
//===----------------------------------------------------------------------===//

static Error damaged(const std::string &path, const std::string &why) {
  return {"package '" + path + "' is damaged: " + why};
}

static Result<Header> readHeader(const InputFile &file,
                                 const std::string &path) {
  Header header = {};
  size_t available = std::min<size_t>(file.size(), sizeof(header));
  std::span<char> bytes(reinterpret_cast<char *>(&header), available);
  if (Status status = file.read(0, bytes); !status)
    return status.error();
  if (available < kMagic.size() || header.magic != kMagic)
    return Error{"'" + path + "' is not a Tarpon package"};
  if (available < sizeof(header))
    return damaged(path, "it ends inside its header");
  // Headers of other versions have their checksums elsewhere.
  if (header.version != kVersion)
    return Error{"package '" + path + "' has format version " +
                 std::to_string(header.version) +
                 ", and this build of Tarpon reads version " +
                 std::to_string(kVersion)};
  if (header.checksum != headerChecksum(header))
    return damaged(path, "the checksum of its header does not match");
  return header;
}

/// Compares the sizes in the header with the file's, before anything is
/// allocated for them.
static Status checkSizes(const Header &header, const InputFile &file,
                         const std::string &path) {
  uint64_t rest = static_cast<uint64_t>(file.size()) - sizeof(header);
  for (int i = 0; i < NumSections; ++i) {
    if (header.bytes[i] > rest || alignSection(header.bytes[i]) > rest)
      return damaged(path,
                     std::string("it ends inside its ") + kSectionNames[i]);
    rest -= alignSection(header.bytes[i]);
  }
  if (rest != 0)
    return damaged(path, std::to_string(rest) + " bytes follow its end");
  return success();
}

/// `Bytes` is a string or a vector of characters. Sections are read in their
/// order, since `all` gets every byte of the file.
template <typename Bytes>
static Status readSection(const InputFile &file, const std::string &path,
                          const Header &header, Section section,
                          Bytes &contents, SignedBytes *all) {
  uint64_t offset = sizeof(header);
  for (int i = 0; i < section; ++i)
    offset += alignSection(header.bytes[i]);
  contents.resize(alignSection(header.bytes[section]));
  if (Status status = file.read(static_cast<int64_t>(offset), contents);
      !status)
    return status;
  if (checksum(contents) != header.checksums[section])
    return damaged(path, std::string("the checksum of its ") +
                             kSectionNames[section] + " does not match");
  if (all)
    all->update(contents);
  contents.resize(header.bytes[section]);
  return success();
}

/// `all` may be null.
static Result<Package> readAll(const std::string &path, SignedBytes *all) {
  Result<InputFile> file = InputFile::open(path);
  if (!file)
    return file.error();
  Result<Header> header = readHeader(*file, path);
  if (!header)
    return header.error();
  if (Status status = checkSizes(*header, *file, path); !status)
    return status.error();

  if (all)
    all->update(getBytes(*header));
  std::string metadata;
  if (Status status =
          readSection(*file, path, *header, Metadata, metadata, all);
      !status)
    return status.error();
  Result<Package> package = packageMetadataFromJson(metadata);
  if (!package)
    return damaged(path, package.message());
  if (Status status =
          readSection(*file, path, *header, Programs, package->programs, all);
      !status)
    return status.error();
  if (Status status =
          readSection(*file, path, *header, Constants, package->constants, all);
      !status)
    return status.error();
  if (Status status =
          readSection(*file, path, *header, Kernels, package->kernels, all);
      !status)
    return status.error();
  if (Status status = validatePackage(*package); !status)
    return damaged(path, status.message());
  return package;
}

Result<Package> readPackage(const std::string &path) {
  return readAll(path, nullptr);
}

Result<Package> readSignedPackage(const std::string &path,
                                  const std::string &publicKey) {
  Result<PublicKey> key = PublicKey::read(publicKey);
  if (!key)
    return key.error();
  SignedBytes bytes;
  Result<Package> package = readAll(path, &bytes);
  if (!package)
    return package;
  // Reading has looked at the file, and run none of it.
  if (Status status = bytes.verify(path, *key); !status)
    return status.error();
  return package;
}

} // namespace tarpon::runtime
