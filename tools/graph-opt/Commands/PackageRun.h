//===- PackageRun.h - Runs packages on local devices ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_COMMANDS_PACKAGERUN_H
#define TARPON_TOOLS_GRAPH_OPT_COMMANDS_PACKAGERUN_H

#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/Tensor.h"
#include "tarpon/Targets/Registry/TargetRegistry.h"

#include "llvm/ADT/StringRef.h"

#include <memory>
#include <vector>

namespace tarpon {

/// Opens the device that runs a package here, see Target::openDevice.
runtime::Result<std::unique_ptr<runtime::Device>>
openDevice(const runtime::Package &package, int64_t threads);

/// Returns the target of an open device of the package; `cpu` is for the
/// host's.
runtime::Result<std::shared_ptr<const Target>>
describeDevice(const runtime::Package &package, const runtime::Device &device,
               llvm::StringRef cpu);

/// Returns the outputs of one run on the package's device.
runtime::Result<std::vector<runtime::HostTensor>>
runPackage(runtime::Package package, std::vector<runtime::HostTensor> inputs,
           int64_t threads);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_COMMANDS_PACKAGERUN_H
