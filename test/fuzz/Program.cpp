//===- Program.cpp - Fuzzes the reader of programs ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The input is the program of a package of one size, which a run decodes.
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "Runtime/PackageValidation.h"
#include "Runtime/ProgramBytes.h"

using namespace tarpon;
using namespace tarpon::runtime;

static Package makePackage() {
  Package package;
  package.inputs = {{"x", DType::F32, {1, 4}}, {"z", DType::I64, {1}}};
  package.outputs = {{"y", DType::F32, {1, 4}}};
  package.dimensions = {{"n", 1, 1, {{0, 0}}}};
  package.symbols = {"first", "second"};
  package.kernels.resize(1);
  return package;
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  static const Package package = makePackage();
  std::span<const char> text(reinterpret_cast<const char *>(bytes), size);
  Result<Program> program = decodeProgram(package, text);
  if (!program)
    return 0;
  std::vector<std::string> symbols = package.symbols;
  std::vector<char> again;
  appendProgram(*program, symbols, again);
  fuzz::require(
      std::equal(again.begin(), again.end(), text.begin(), text.end()) &&
          symbols == package.symbols,
      "a program is written as it was read");
  ProgramRange range = {
      {1}, 0, static_cast<int64_t>(size), program->arenaBytes};
  if (!validateSized(package, /*constantBytes=*/4096, range, *program))
    return 0;
  for (const Layer &layer : program->layers)
    for (const Launch &launch : layer.launches)
      fuzz::require(launch.tasks >= 0 && launch.scratchBytes >= 0,
                    "a valid launch can be run");
  return 0;
}
