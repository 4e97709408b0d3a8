//===- PassTarget.cpp - The target that a pass works for ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "PassTarget.h"

#include "tarpon/Targets/Registry/TargetAttribute.h"

using namespace mlir;
using namespace tarpon;
using runtime::Result;

FailureOr<TargetInfo>
tarpon::detail::getPassTarget(Operation *op,
                              const std::optional<TargetInfo> &given,
                              const std::string &name, int64_t threads) {
  if (given)
    return *given;
  TargetInfo info;
  TargetAttr attribute = getTargetAttr(op);
  if (!name.empty() || attribute) {
    TargetOptions options;
    options.threads = threads;
    Result<std::shared_ptr<const Target>> target =
        name.empty() ? findTarget(attribute) : findTarget(name, options);
    if (!target)
      return op->emitError(target.message());
    info = (*target)->getInfo();
  }
  if (threads > 0)
    info.threads = threads;
  return info;
}
