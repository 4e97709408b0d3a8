//===- MutateMessage.h - Mutates protobuf messages --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_FUZZ_MUTATEMESSAGE_H
#define TARPON_TEST_FUZZ_MUTATEMESSAGE_H

#include "google/protobuf/message.h"

#include <cstddef>
#include <cstdint>

namespace tarpon::fuzz {

/// For LLVMFuzzerCustomMutator: parses the bytes as `message`, changes a few of
/// its fields, and writes it back. Names and whole messages are also taken from
/// elsewhere in it, so that nodes come to read other values. Bytes that are no
/// such message are mutated as bytes, and now and then those of one.
size_t mutate(google::protobuf::Message &message, uint8_t *bytes, size_t size,
              size_t maxSize, unsigned seed);

} // namespace tarpon::fuzz

#endif // TARPON_TEST_FUZZ_MUTATEMESSAGE_H
