//===- Package.cpp - Fuzzes the reader of packages ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The sections of a file have checksums, which mutated bytes hardly ever fit.
// Therefore the input is a metadata section; constants and kernels are zeros.
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "Runtime/PackageMetadata.h"

using namespace tarpon;

/// Both forms of kernels have their rules.
static void validate(runtime::Package package) {
  constexpr size_t kBytes = 4096;
  package.constants.resize(kBytes);
  package.kernels.resize(kBytes);
  if (!runtime::validatePackage(package))
    return;
  std::string text = packageMetadataToJson(package);
  auto again = runtime::packageMetadataFromJson(text);
  fuzz::require(static_cast<bool>(again), "valid metadata can be read back");
  fuzz::require(packageMetadataToJson(*again) == text,
                "metadata is read back as it was");
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  auto package = runtime::packageMetadataFromJson(fuzz::asText(bytes, size));
  if (package)
    validate(std::move(*package));
  fuzz::InputFile file(bytes, size);
  (void)runtime::readPackage(file.getPath());
  return 0;
}
