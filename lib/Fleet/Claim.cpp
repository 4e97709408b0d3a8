//===- Claim.cpp - The leases of one claim --------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Claim.h"

#include "Heartbeat.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon::fleet;
using tarpon::runtime::Status;
using tarpon::runtime::success;

Claim::Claim(Heartbeat &heartbeat, std::vector<Lease> leases)
    : heartbeat(heartbeat), leases(std::move(leases)) {
  for (const Lease &lease : this->leases)
    heartbeat.hold(lease);
}

/// After an error some leases may be left, which then end by themselves.
Claim::~Claim() {
  for (const Lease &lease : leases)
    heartbeat.release(lease);
}

Status Claim::forEach(
    llvm::function_ref<Status(size_t position, const Lease &)> handle) {
  for (auto [position, lease] : llvm::enumerate(leases)) {
    Status status = handle(position, lease);
    heartbeat.release(lease);
    if (!status)
      return status;
  }
  return success();
}
