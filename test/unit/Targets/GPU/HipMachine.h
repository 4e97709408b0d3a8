//===- HipMachine.h - A machine with the stand-in for HIP -------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_GPU_HIPMACHINE_H
#define TARPON_TEST_UNIT_TARGETS_GPU_HIPMACHINE_H

#include "TestFolder.h"

#include "tarpon/Targets/AMDGPU/Hip/HipDevice.h"

namespace tarpon::test {

/// A driver that knows an MI300X and an MI250X behind a CPU.
struct HipMachine {
  HipMachine() {
    addNode(0, 0, 0);
    addNode(1, 90402, 0xc1 << 8);
    addNode(2, 90010, 0xc2 << 8);
    options.library = TARPON_FAKE_HIP;
    options.topology = folder.path / "nodes";
  }

  void addNode(int index, int version, int location) const {
    auto node = folder.path / "nodes" / std::to_string(index);
    std::filesystem::create_directories(node);
    std::ofstream(node / "properties")
        << "cpu_cores_count " << (version ? 0 : 64) << "\ngfx_target_version "
        << version << "\nlocation_id " << location << "\ndomain 0\n";
  }

  TestFolder folder;
  HipOptions options;
};

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_TARGETS_GPU_HIPMACHINE_H
