//===- ToyBackend.cpp - Compiles the toy's kernels ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Toy.h"

#include "tarpon/Runtime/KernelABI.h"
#include "tarpon/Targets/Host/HostBackend.h"

#include "llvm/Support/MathExtras.h"

using namespace tarpon;
using runtime::Result;

namespace {

/// Each kernel becomes a shared object of its own, so that packages can hold
/// candidates.
class ToyBackend final : public KernelBackend {
public:
  std::string describe() const override { return "toy " + host->describe(); }
  Result<std::vector<char>> compile(const KernelSource &kernel) const override {
    return host->compile(kernel);
  }
  Result<LinkedKernels> link(const KernelObjects &objects) const override;
  runtime::KernelForm getKernelForm() const override {
    return runtime::KernelForm::CodeObjects;
  }
  std::string printMlir(const KernelSource &kernel) const override {
    return host->printMlir(kernel);
  }
  Result<std::string> printAssembly(const KernelSource &kernel) const override {
    return host->printAssembly(kernel);
  }

private:
  std::unique_ptr<KernelBackend> host = makeHostBackend(TargetInfo());
};

} // namespace

Result<LinkedKernels> ToyBackend::link(const KernelObjects &objects) const {
  LinkedKernels linked;
  for (const auto &[symbol, object] : objects) {
    Result<LinkedKernels> single = host->link({{symbol, object}});
    if (!single)
      return single.error();
    linked.bytes.resize(
        llvm::alignTo(linked.bytes.size(), runtime::kBufferAlignment));
    linked.codeObjects.push_back(
        {symbol, static_cast<int64_t>(linked.bytes.size()),
         static_cast<int64_t>(single->bytes.size()), /*workgroup=*/1});
    linked.bytes.insert(linked.bytes.end(), single->bytes.begin(),
                        single->bytes.end());
  }
  return linked;
}

std::unique_ptr<KernelBackend> toy::makeBackend() {
  return std::make_unique<ToyBackend>();
}
