//===- Claim.h - The leases of one claim ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_FLEET_CLAIM_H
#define TARPON_LIB_FLEET_CLAIM_H

#include "tarpon/Fleet/Job.h"
#include "tarpon/Runtime/Result.h"

#include "llvm/ADT/STLFunctionalExtras.h"

#include <vector>

namespace tarpon::fleet {

class Heartbeat;

/// Has the heartbeat renew the leases of a claim, each for as long as the
/// worker has it.
class Claim {
public:
  /// The heartbeat must outlive the claim.
  Claim(Heartbeat &heartbeat, std::vector<Lease> leases);
  ~Claim();
  Claim(const Claim &) = delete;
  Claim &operator=(const Claim &) = delete;

  /// Works on the leases, or gives them back, in the order in which they were
  /// claimed, until a call returns an error.
  runtime::Status
  forEach(llvm::function_ref<runtime::Status(size_t position, const Lease &)>
              handle);

private:
  Heartbeat &heartbeat;
  std::vector<Lease> leases;
};

} // namespace tarpon::fleet

#endif // TARPON_LIB_FLEET_CLAIM_H
