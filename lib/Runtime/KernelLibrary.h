//===- KernelLibrary.h - Kernels loaded from memory -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_RUNTIME_KERNELLIBRARY_H
#define TARPON_LIB_RUNTIME_KERNELLIBRARY_H

#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Runtime/Result.h"

#include <span>
#include <string>

namespace tarpon::runtime {

/// An ELF shared object, loaded from bytes without touching the file system.
/// Move-only; unloads when it is destroyed.
class KernelLibrary {
public:
  KernelLibrary() = default;
  ~KernelLibrary();
  KernelLibrary(KernelLibrary &&other) noexcept;
  KernelLibrary &operator=(KernelLibrary &&other) noexcept;

  static Result<KernelLibrary> load(std::span<const char> image);

  /// Returns the kernel with that name, or null.
  KernelFn find(const std::string &symbol) const;

private:
  /// The anonymous file. It stays open while the library is loaded: the dynamic
  /// linker identifies libraries by path, and the path contains the number of
  /// the descriptor, which must not be reused for another library.
  int descriptor = -1;
  void *handle = nullptr;
};

} // namespace tarpon::runtime

#endif // TARPON_LIB_RUNTIME_KERNELLIBRARY_H
