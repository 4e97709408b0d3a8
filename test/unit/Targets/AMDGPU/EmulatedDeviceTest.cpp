//===- EmulatedDeviceTest.cpp ---------------------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/EmulatedDevice.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

using namespace tarpon;
using testing::Each;
using testing::Eq;

namespace {

/// Every lane writes the number.
constexpr const char *kKernel = R"mlir(
gpu.module @fills {
  gpu.func @fills(%out: !llvm.ptr<1>, %value: i32) kernel
      attributes {known_block_size = array<i32: 64, 1, 1>} {
    %thread = gpu.thread_id x
    %t = arith.index_cast %thread : index to i32
    %to = llvm.getelementptr %out[%t] : (!llvm.ptr<1>, i32) -> !llvm.ptr<1>, i32
    llvm.store %value, %to : i32, !llvm.ptr<1>
    gpu.return
  }
}
)mlir";

class EmulatedDeviceTest : public testing::Test {
protected:
  std::unique_ptr<runtime::Device> device =
      makeEmulatedDevice(*parseGpuTarget("gfx942"));
  std::string code = kKernel;
};

} // namespace

TEST_F(EmulatedDeviceTest, TakesBuffersAndNumbers) {
  auto kernel = device->loadKernel(code, "fills");
  ASSERT_TRUE(kernel) << kernel.message();
  auto memory = device->allocate(64 * 4);
  ASSERT_TRUE(memory) << memory.message();
  void *buffers[] = {(*memory)->address()};
  int64_t params[] = {7};
  auto status = device->launch(
      **kernel, {buffers, params, /*tasks=*/1, /*workgroup=*/64});
  ASSERT_TRUE(status) << status.message();
  std::vector<int32_t> out(64);
  ASSERT_TRUE(device->copyOut(
      {reinterpret_cast<char *>(out.data()), out.size() * 4}, **memory, 0));
  EXPECT_THAT(out, Each(Eq(7)));
}

TEST_F(EmulatedDeviceTest, SaysWhatALaunchLacks) {
  auto kernel = device->loadKernel(code, "fills");
  ASSERT_TRUE(kernel) << kernel.message();
  auto memory = device->allocate(64 * 4);
  ASSERT_TRUE(memory) << memory.message();
  void *buffers[] = {(*memory)->address()};
  int64_t params[] = {7};
  EXPECT_EQ(device->launch(**kernel, {buffers, {}, 1, 64}).message(),
            "kernel 'fills' is given 1 buffers and 0 parameters, which are too "
            "few");
  EXPECT_EQ(device->launch(**kernel, {{}, params, 1, 64}).message(),
            "kernel 'fills' is given 0 buffers and 1 parameters, which are too "
            "few");
  int mine = 0;
  void *foreign[] = {&mine};
  EXPECT_EQ(device->launch(**kernel, {foreign, params, 1, 64}).message(),
            "kernel 'fills' is given an address that is in no buffer");
}
