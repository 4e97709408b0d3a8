//===- Linker.h - Objects to a shared object, by lld ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_HOST_LINKER_H
#define TARPON_LIB_TARGETS_HOST_LINKER_H

#include "tarpon/Runtime/Result.h"

#include <map>
#include <memory>
#include <string>
#include <vector>

namespace tarpon {

/// Links ELF objects, in the order of their names, with lld's library. The same
/// objects give the same bytes. One link at a time; others wait.
runtime::Result<std::vector<char>> linkSharedObject(
    const std::map<std::string, std::shared_ptr<const std::vector<char>>>
        &objects);

} // namespace tarpon

#endif // TARPON_LIB_TARGETS_HOST_LINKER_H
