//===- Shadow.cpp - Explains unordered and uninitialised accesses ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The checks themselves are in Memory.h, inlined into every access.
//
//===----------------------------------------------------------------------===//

#include "Memory.h"

using namespace tarpon;
using namespace tarpon::emulator;

Fault emulator::explainFault(Fault::Kind kind, const Cell &cell,
                             const AccessTime &time) {
  Fault fault{kind};
  bool isRead = kind == Fault::ReadUnordered;
  uint32_t packed = isRead ? cell.readSite : cell.writeSite;
  fault.site = packed >> 8;
  fault.lane = packed & 255;
  fault.wave = isRead ? cell.readWave : cell.writeWave;
  fault.otherGroup =
      isRead ? !isReadNow(cell, time) : cell.writeEpoch < time.groupStart;
  return fault;
}
