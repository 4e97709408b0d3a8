//===- ToyTarget.h - A target that is not in lib/ ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_TOY_TOYTARGET_H
#define TARPON_TEST_TOY_TOYTARGET_H

namespace tarpon::toy {

/// Makes findTarget know "toy".
void registerToyTarget();

} // namespace tarpon::toy

#endif // TARPON_TEST_TOY_TOYTARGET_H
