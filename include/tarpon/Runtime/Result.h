//===- Result.h - Success, or an error as one sentence ----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The error type of the runtime, which links no LLVM. An error is one sentence,
// lower case, without a full stop, that names the thing it is about.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_RESULT_H
#define TARPON_RUNTIME_RESULT_H

#include <cassert>
#include <string>
#include <utility>
#include <variant>

namespace tarpon::runtime {

/// The reason of a failure: one sentence for the user.
struct Error {
  std::string message;
};

/// A value, or the reason why there is none.
template <typename T>
class [[nodiscard]] Result {
public:
  Result(T value) : state(std::in_place_index<0>, std::move(value)) {}
  Result(Error error) : state(std::in_place_index<1>, std::move(error)) {}

  explicit operator bool() const { return state.index() == 0; }
  T &operator*() {
    assert(*this && "no value in an error result");
    return *std::get_if<0>(&state);
  }
  const T &operator*() const {
    assert(*this && "no value in an error result");
    return *std::get_if<0>(&state);
  }
  T *operator->() { return &**this; }
  const T *operator->() const { return &**this; }

  /// The error; only when there is no value.
  const std::string &message() const {
    assert(!*this && "no error in a successful result");
    return std::get_if<1>(&state)->message;
  }
  Error error() const { return Error{message()}; }

private:
  std::variant<T, Error> state;
};

/// Success without a value, or the reason of a failure.
using Status = Result<std::monostate>;

/// The successful status.
inline Status success() { return Status(std::monostate{}); }

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_RESULT_H
