//===- DeviceJournal.cpp - What was measured on devices -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Autotune/Store/DeviceJournal.h"

#include "Store/Digest.h"

#include "llvm/Config/llvm-config.h"
#include "llvm/Support/FileSystem.h"

using namespace tarpon;
using runtime::Result;

std::string tarpon::getKernelVersion(const Target &target) {
  Digest digest;
  digest.add(llvm::StringRef(target.makeBackend()->describe()))
      .add(llvm::StringRef(LLVM_VERSION_STRING));
  return getTarponVersion().str() + "+" + digest.hex().substr(0, 12);
}

JournalContext tarpon::getMeasuredContext(const TargetInfo &target,
                                          const std::string &kernelVersion) {
  JournalContext context = JournalContext::forTarget(target);
  context.tarpon = kernelVersion;
  return context;
}

Result<std::unique_ptr<Journal>>
tarpon::openMeasuredJournal(const Target &target) {
  std::string path = Journal::getDefaultPath(target.getInfo());
  if (!llvm::sys::fs::exists(path))
    return std::unique_ptr<Journal>();
  JournalContext context =
      getMeasuredContext(target.getInfo(), getKernelVersion(target));
  // Who only compiles needs no more than to read it.
  return llvm::sys::fs::can_write(path) ? Journal::open(path, context)
                                        : Journal::openReadOnly(path, context);
}
