//===- KernelLibrary.cpp - Kernels loaded from memory -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "KernelLibrary.h"

#include <cerrno>
#include <dlfcn.h>
#include <sys/mman.h>
#include <system_error>
#include <unistd.h>
#include <utility>

// The flag exists since Linux 6.3; older C libraries do not define it.
#ifndef MFD_EXEC
#define MFD_EXEC 0x0010U
#endif

namespace tarpon::runtime {

KernelLibrary::~KernelLibrary() {
  if (handle)
    dlclose(handle);
  if (descriptor >= 0)
    close(descriptor);
}

KernelLibrary::KernelLibrary(KernelLibrary &&other) noexcept
    : descriptor(std::exchange(other.descriptor, -1)),
      handle(std::exchange(other.handle, nullptr)) {}

KernelLibrary &KernelLibrary::operator=(KernelLibrary &&other) noexcept {
  std::swap(descriptor, other.descriptor);
  std::swap(handle, other.handle);
  return *this;
}

static int openAnonymousFile() {
  int descriptor = memfd_create("tarpon-kernels", MFD_CLOEXEC | MFD_EXEC);
  if (descriptor < 0 && errno == EINVAL)
    descriptor = memfd_create("tarpon-kernels", MFD_CLOEXEC);
  return descriptor;
}

static bool writeAll(int descriptor, std::span<const char> bytes) {
  while (!bytes.empty()) {
    ssize_t count = write(descriptor, bytes.data(), bytes.size());
    if (count < 0 && errno == EINTR)
      continue;
    if (count < 0)
      return false;
    bytes = bytes.subspan(static_cast<size_t>(count));
  }
  return true;
}

Result<KernelLibrary> KernelLibrary::load(std::span<const char> image) {
  KernelLibrary library;
  library.descriptor = openAnonymousFile();
  if (library.descriptor < 0 || !writeAll(library.descriptor, image))
    return Error{"cannot make an anonymous file for the kernels: " +
                 std::generic_category().message(errno)};
  std::string path = "/proc/self/fd/" + std::to_string(library.descriptor);
  library.handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (!library.handle) {
    const char *reason = dlerror();
    return Error{std::string("cannot load the kernels: ") +
                 (reason ? reason : "unknown reason")};
  }
  return library;
}

KernelFn KernelLibrary::find(const std::string &symbol) const {
  if (!handle)
    return nullptr;
  return reinterpret_cast<KernelFn>(dlsym(handle, symbol.c_str()));
}

} // namespace tarpon::runtime
