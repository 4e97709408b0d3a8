//===- ToyDevice.h - What runs the toy's packages -------------*- C++ -*- -===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_TOY_TOYDEVICE_H
#define TARPON_TEST_TOY_TOYDEVICE_H

#include "tarpon/Runtime/Device.h"

namespace tarpon::toy {

/// A device with one processor and memory of its own.
runtime::Result<std::unique_ptr<runtime::Device>> makeDevice();

} // namespace tarpon::toy

#endif // TARPON_TEST_TOY_TOYDEVICE_H
