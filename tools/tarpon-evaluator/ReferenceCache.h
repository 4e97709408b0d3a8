//===- ReferenceCache.h - What the outputs should be ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_EVALUATOR_REFERENCECACHE_H
#define TARPON_TOOLS_EVALUATOR_REFERENCECACHE_H

#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include <list>
#include <vector>

namespace tarpon::evaluator {

/// The interface of a reference package and its outputs for some inputs.
struct Reference {
  std::vector<runtime::TensorInfo> inputs, outputs;
  std::vector<runtime::HostTensor> tensors;
};

/// The outputs of the last few references: many candidates of one problem come
/// one after the other, and the reference is slow.
class ReferenceCache {
public:
  /// The reference of `request`, computed on `inputs` unless it is known. It is
  /// valid until the next call.
  runtime::Result<const Reference *>
  get(const runtime::EvaluationRequest &request,
      const std::vector<runtime::HostTensor> &inputs);

private:
  struct Entry {
    /// The package file, the seed and the input files, each as they were.
    std::string key;
    Reference reference;
    uint64_t checksum = 0;
  };

  /// Most recently used first.
  std::list<Entry> entries;
};

} // namespace tarpon::evaluator

#endif // TARPON_TOOLS_EVALUATOR_REFERENCECACHE_H
