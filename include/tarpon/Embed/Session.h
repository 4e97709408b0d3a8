//===- Session.h - A model that is ready to run -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_EMBED_SESSION_H
#define TARPON_EMBED_SESSION_H

#include "tarpon/Embed/Model.h"
#include "tarpon/Runtime/Result.h"

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace tarpon {

/// A model with its threads and memory. Move-only. One run at a time; several
/// sessions are independent.
class Session {
public:
  /// Takes ownership of the model, to run it on this many threads (0: one per
  /// core). An error if this machine cannot run it.
  static runtime::Result<Session> create(Model model, int64_t threads = 0);

  const std::vector<TensorSpec> &inputs() const;
  const std::vector<TensorSpec> &outputs() const;

  /// Chooses the sizes of a model of several for the runs that follow, by the
  /// names of its dimensions; those that are not named are the lowest, as all
  /// are at first. `inputs` and `outputs` are others then. Sizes that are
  /// chosen for the first time cost less than a millisecond, and memory for
  /// inputs and outputs, which is kept.
  runtime::Status setSizes(const std::map<std::string, int64_t> &sizes);

  /// The number of threads, the caller of `run` included.
  int64_t threads() const;

  /// Runs the model: one buffer per input and output, in their order, each of
  /// TensorSpec::bytes bytes. Other buffers are an error, and nothing is run.
  /// Data is not copied if it is aligned to 64 bytes and the 64 bytes behind it
  /// are in the same page (4 KiB).
  runtime::Status run(const std::vector<std::span<const std::byte>> &inputs,
                      const std::vector<std::span<std::byte>> &outputs);

  Session(Session &&other) noexcept;
  Session &operator=(Session &&other) noexcept;
  ~Session();

private:
  struct State;

  explicit Session(std::unique_ptr<State> state);

  std::unique_ptr<State> state;
};

} // namespace tarpon

#endif // TARPON_EMBED_SESSION_H
