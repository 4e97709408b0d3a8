//===- ConstantPool.cpp - The distinct constants of a package -------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ConstantPool.h"

#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/StringRef.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/xxhash.h"

using namespace tarpon;

/// Constants that begin alike are compared. Positions' embeddings for fewer
/// tokens are the first of those for more.
static constexpr size_t kDigestedBytes = 256;

int64_t ConstantPool::add(llvm::ArrayRef<char> constant) {
  llvm::StringRef text(constant.data(), constant.size());
  uint64_t hash = llvm::xxh3_64bits(text.take_front(kDigestedBytes));
  // Kernels of GPUs count in zeros, which they leave as zeros.
  bool isZero = text.find_first_not_of('\0') == llvm::StringRef::npos;
  auto [first, last] = ranges.equal_range(hash);
  for (auto it = first; it != last; ++it) {
    const Range &range = it->second;
    llvm::StringRef known(bytes.data() + range.offset, range.size);
    if (known.size() == text.size() ? known == text
                                    : !isZero && known.starts_with(text))
      return range.offset;
  }
  bytes.resize(llvm::alignTo(bytes.size(), runtime::kBufferAlignment));
  int64_t offset = static_cast<int64_t>(bytes.size());
  bytes.insert(bytes.end(), constant.begin(), constant.end());
  ranges.emplace(hash, Range{offset, constant.size()});
  return offset;
}
