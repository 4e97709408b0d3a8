//===- MIOpen.cpp - Fuzzes databases of MIOpen ----------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "FuzzInput.h"

#include "Autotune/MIOpen/Formats.h"

using namespace tarpon;

static void parseKeys(miopen::Format format, const miopen::Database &database) {
  for (const miopen::Record &record : database.records)
    (void)miopen::parseKey(format, record.key);
}

extern "C" int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t size) {
  fuzz::InputFile file(bytes, size);
  miopen::Database found, perf;
  if (miopen::readFindText(file.getPath(), found))
    parseKeys(miopen::Format::FindText, found);
  if (miopen::readPerfText(file.getPath(), perf))
    parseKeys(miopen::Format::PerfText, perf);
  return 0;
}
