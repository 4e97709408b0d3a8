//===- Topology.h - Reads GPUs' architectures from the driver ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_TARGETS_AMDGPU_HIP_TOPOLOGY_H
#define TARPON_LIB_TARGETS_AMDGPU_HIP_TOPOLOGY_H

#include "tarpon/Runtime/Result.h"

#include <cstdint>
#include <string>

namespace tarpon::hip {

/// The place of a device on the PCI bus.
struct PciLocation {
  int domain = 0, bus = 0, device = 0;
};

/// The name of a gfx_target_version of the driver: "gfx942" for 90402, "gfx90a"
/// for 90010. The version is decimal major, minor and stepping; the name has
/// the last one in hexadecimal.
std::string getChipName(int64_t version);

/// The architecture of the GPU at that place, from `topology` (HipOptions): the
/// nodes' location_id is bus << 8 | device << 3 | function (Linux,
/// kfd_topology.c).
runtime::Result<std::string> findChip(const std::string &topology,
                                      const PciLocation &location);

} // namespace tarpon::hip

#endif // TARPON_LIB_TARGETS_AMDGPU_HIP_TOPOLOGY_H
