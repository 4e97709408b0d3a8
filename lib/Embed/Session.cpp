//===- Session.cpp - A model that is ready to run ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Embed/Session.h"

#include "ModelState.h"

#include "tarpon/Runtime/Buffers.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/SizedExecutor.h"
#include "tarpon/Runtime/SizedPackage.h"

#include <limits>
#include <string>

namespace tarpon {

using namespace runtime;

struct Session::State {
  explicit State(std::unique_ptr<Executor> executor)
      : executor(executor.get()), sized(std::move(executor)) {}

  /// The one of the sizes that were chosen.
  Executor *executor;
  SizedExecutor sized;
  std::vector<TensorSpec> inputs, outputs;
};

Session::Session(std::unique_ptr<State> state) : state(std::move(state)) {}
Session::Session(Session &&other) noexcept = default;
Session &Session::operator=(Session &&other) noexcept = default;
Session::~Session() = default;

Result<Session> Session::create(Model model, int64_t threads) {
  if (threads > std::numeric_limits<int>::max())
    return Error{"cannot run on " + std::to_string(threads) + " threads"};
  ExecutorOptions options;
  options.threads = static_cast<int>(threads);
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(model.state->package), options);
  if (!executor)
    return executor.error();
  auto state = std::make_unique<State>(std::move(*executor));
  state->inputs = std::move(model.state->inputs);
  state->outputs = std::move(model.state->outputs);
  return Session(std::move(state));
}

const std::vector<TensorSpec> &Session::inputs() const { return state->inputs; }

const std::vector<TensorSpec> &Session::outputs() const {
  return state->outputs;
}

Status Session::setSizes(const std::map<std::string, int64_t> &sizes) {
  Result<std::vector<int64_t>> found = nameSizes(state->sized.package(), sizes);
  if (!found)
    return found.error();
  Result<Executor *> executor = state->sized.at(*found);
  if (!executor)
    return executor.error();
  std::vector<TensorSpec> inputs =
      describeTensors((*executor)->package().inputs);
  std::vector<TensorSpec> outputs =
      describeTensors((*executor)->package().outputs);
  state->inputs = std::move(inputs);
  state->outputs = std::move(outputs);
  state->executor = *executor;
  return success();
}

int64_t Session::threads() const { return state->executor->device().threads(); }

/// Checks the caller's buffers and adds their addresses to `pointers`.
template <typename Byte, typename Pointer>
static Status takeBuffers(const std::vector<TensorInfo> &tensors,
                          const char *role,
                          const std::vector<std::span<Byte>> &buffers,
                          std::vector<Pointer *> &pointers) {
  std::vector<BufferView> views;
  for (std::span<Byte> buffer : buffers) {
    views.push_back({buffer.data(), buffer.size()});
    pointers.push_back(buffer.data());
  }
  return checkBuffers(tensors, role, views);
}

Status Session::run(const std::vector<std::span<const std::byte>> &inputs,
                    const std::vector<std::span<std::byte>> &outputs) {
  const Package &package = state->executor->package();
  std::vector<const void *> from;
  std::vector<void *> to;
  if (Status status = takeBuffers(package.inputs, "input", inputs, from);
      !status)
    return status;
  if (Status status = takeBuffers(package.outputs, "output", outputs, to);
      !status)
    return status;
  return state->executor->run(from, to);
}

} // namespace tarpon
