//===- TestKernel.cpp - Builds, loads and calls kernels of tests ----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestKernel.h"

#include "tarpon/Targets/Host/HostBackend.h"
#include "tarpon/Targets/Host/HostTarget.h"

#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

using namespace tarpon;
using namespace tarpon::test;

LoadedLibrary::LoadedLibrary(const std::vector<char> &bytes) {
  int descriptor = memfd_create("kernels", MFD_CLOEXEC);
  if (descriptor < 0 || write(descriptor, bytes.data(), bytes.size()) !=
                            static_cast<ssize_t>(bytes.size())) {
    error = "cannot write the library";
  } else {
    std::string path = "/proc/self/fd/" + std::to_string(descriptor);
    handle = dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
    if (!handle)
      error = dlerror();
  }
  if (descriptor >= 0)
    close(descriptor);
}

LoadedLibrary::~LoadedLibrary() {
  if (handle)
    dlclose(handle);
}

runtime::KernelFn LoadedLibrary::find(const std::string &symbol) const {
  if (!handle)
    return nullptr;
  return reinterpret_cast<runtime::KernelFn>(dlsym(handle, symbol.c_str()));
}

void test::runKernel(const TargetInfo &target,
                     std::function<void(KernelBuilder &)> emit,
                     const std::vector<void *> &buffers,
                     const std::vector<int64_t> &params, int64_t begin,
                     int64_t end) {
  KernelCompiler compiler = makeHostCompiler(target, nullptr);
  KernelSource source{"kernel", std::move(emit)};
  auto object = compiler.getObject("test-v1", source);
  ASSERT_TRUE(object) << object.message();
  auto library = compiler.link({{source.symbol, *object}});
  ASSERT_TRUE(library) << library.message();
  LoadedLibrary loaded(library->bytes);
  runtime::KernelFn function = loaded.find(source.symbol);
  ASSERT_TRUE(function) << loaded.getError();
  alignas(64) char scratch[4096];
  function(buffers.data(), params.data(), begin, end, scratch);
}

TargetInfo test::getTarget(const std::string &cpu) {
  runtime::Result<TargetInfo> target = getHostTarget(1, cpu);
  EXPECT_TRUE(target) << target.message();
  return target ? *target : TargetInfo();
}
