//===- ReferenceCache.h - Expected outputs ----------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_EVALUATOR_REFERENCECACHE_H
#define TARPON_TOOLS_EVALUATOR_REFERENCECACHE_H

#include "PackageDevices.h"
#include "tarpon/Runtime/Evaluator.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Result.h"
#include "tarpon/Runtime/Tensor.h"

#include <list>
#include <vector>

namespace tarpon::evaluator {

/// The interface of a reference package, and its outputs for each sample of the
/// inputs.
struct Reference {
  std::vector<runtime::TensorInfo> inputs, outputs;
  std::vector<std::vector<runtime::HostTensor>> samples;
};

/// The outputs of the last few references: many candidates of one problem, and
/// many choices for one model, are consecutive, and the reference is slow.
class ReferenceCache {
public:
  explicit ReferenceCache(PackageDevices &devices) : devices(devices) {}

  /// Returns the reference of `request`, which is computed on its samples, or
  /// on `inputs` where it has none, unless it is known. Valid until the next
  /// call.
  runtime::Result<const Reference *>
  get(const runtime::EvaluationRequest &request,
      const std::vector<runtime::HostTensor> &inputs);

private:
  struct Entry {
    /// The identities of the package file and of the input files, and the seed.
    std::string key;
    Reference reference;
    uint64_t checksum = 0;
  };

  runtime::Result<Reference>
  compute(const runtime::EvaluationRequest &request,
          const std::vector<runtime::HostTensor> &inputs);

  void shrink();

  PackageDevices &devices;
  /// The most recently used one comes first.
  std::list<Entry> entries;
};

} // namespace tarpon::evaluator

#endif // TARPON_TOOLS_EVALUATOR_REFERENCECACHE_H
