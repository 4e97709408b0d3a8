//===- HostBackend.cpp - Compiles kernels for the host --------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Host/HostBackend.h"

#include "CodeDigest.h"
#include "KernelCodegen.h"
#include "tarpon/Targets/Linker/Linker.h"

using namespace tarpon;
using runtime::Result;

namespace {

class HostBackend final : public KernelBackend {
public:
  explicit HostBackend(const TargetInfo &target) : target(target) {}

  std::string describe() const override {
    return "code " TARPON_CODE_DIGEST " " + getFeatureString(target);
  }

  Result<std::vector<char>> compile(const KernelSource &kernel) const override {
    return compileKernel(kernel, target, llvm::CodeGenFileType::ObjectFile);
  }

  /// Links in the order of the symbols' names. dlopen resolves undefined
  /// symbols (memcpy).
  Result<LinkedKernels> link(const KernelObjects &objects) const override {
    std::vector<llvm::ArrayRef<char>> list;
    for (const auto &[symbol, object] : objects)
      list.push_back(*object);
    Result<std::vector<char>> library = linkSharedObject(
        list, {"-z", "now", "-z", "noexecstack", "--strip-all"});
    if (!library)
      return library.error();
    return LinkedKernels{std::move(*library), {}};
  }

  std::string printMlir(const KernelSource &kernel) const override {
    return printEmittedKernel(kernel, target);
  }

  Result<std::string> printAssembly(const KernelSource &kernel) const override {
    Result<std::vector<char>> text =
        compileKernel(kernel, target, llvm::CodeGenFileType::AssemblyFile);
    if (!text)
      return text.error();
    return std::string(text->begin(), text->end());
  }

private:
  TargetInfo target;
};

} // namespace

std::unique_ptr<KernelBackend>
tarpon::makeHostBackend(const TargetInfo &target) {
  return std::make_unique<HostBackend>(target);
}
