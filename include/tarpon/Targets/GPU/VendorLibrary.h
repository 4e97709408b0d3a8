//===- VendorLibrary.h - Loads a GPU vendor's library -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARGETS_GPU_VENDORLIBRARY_H
#define TARPON_TARGETS_GPU_VENDORLIBRARY_H

#include "tarpon/Runtime/Result.h"

#include <string>
#include <type_traits>
#include <vector>

namespace tarpon {

/// A library that is loaded when the first device is asked for, so that one
/// binary works with and without it. Never unloaded: it has threads and
/// handlers of its own.
class VendorLibrary {
public:
  /// How a library is called, for the loader and in messages.
  struct Description {
    const char *what;     ///< "the HIP runtime"
    const char *file;     ///< "libamdhip64.so"
    const char *gpus;     ///< "AMD GPUs"
    const char *oldest;   ///< the oldest version that has all functions
    const char *variable; ///< the environment's variable of another path
    /// The names by which the loader looks for it, in this order.
    std::vector<std::string> names;
  };

  /// Loads the library from `path`, or where the loader finds it if that is
  /// empty. The error says what can be done without it.
  static runtime::Result<VendorLibrary> load(const Description &description,
                                             const std::string &path);

  /// Finds a function; see `missing`.
  template <typename Pointer>
  void resolve(Pointer &function, const char *symbol) {
    function = reinterpret_cast<Pointer>(find(symbol));
  }

  /// Returns an error that names the first function that was not found.
  runtime::Status checkComplete(const Description &description) const;

private:
  void *find(const char *symbol);

  void *handle = nullptr;
  std::string missing;
};

/// The clause that says what a machine without such GPUs can do: "models can be
/// compiled for AMD GPUs, but not run on one".
std::string describeCompileOnly(const VendorLibrary::Description &description);

} // namespace tarpon

#endif // TARPON_TARGETS_GPU_VENDORLIBRARY_H
