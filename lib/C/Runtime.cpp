//===- Runtime.cpp - The runtime for C programs -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The runtime is compiled without exceptions; those that its containers throw
// when there is no memory left are caught here.
//
//===----------------------------------------------------------------------===//

#include "tarpon/C/Runtime.h"

#include "tarpon/Runtime/Buffers.h"
#include "tarpon/Runtime/Device.h"
#include "tarpon/Runtime/Executor.h"
#include "tarpon/Runtime/Package.h"
#include "tarpon/Runtime/SizedExecutor.h"
#include "tarpon/Runtime/SizedPackage.h"

#include <memory>
#include <mutex>
#include <new>
#include <span>
#include <string>
#include <vector>

using namespace tarpon::runtime;

// Every type of the table has its enumerator in the C interface.
#define TARPON_Bool TARPON_BOOL
#define TARPON_DTYPE(enumerator)                                               \
  static_assert(int(DType::enumerator) == TARPON_##enumerator);
#include "tarpon/Runtime/DTypes.def"
#undef TARPON_Bool

struct tarpon_model {
  explicit tarpon_model(std::unique_ptr<Executor> executor)
      : executor(executor.get()), sized(std::move(executor)) {}

  /// The one of the sizes that were chosen.
  Executor *executor;
  SizedExecutor sized;
  /// They point into the executor's package.
  std::vector<tarpon_tensor_info> inputs, outputs;
  /// Held during a run; guards the executor, what is known of it, and the
  /// arguments that are passed to it.
  mutable std::mutex running;
  std::vector<const void *> inputPointers;
  std::vector<void *> outputPointers;
};

//===----------------------------------------------------------------------===//
// Errors
//===----------------------------------------------------------------------===//

namespace {

/// The answer of tarpon_error_message; `message` is that of `text` or a
/// constant.
struct LastError {
  std::string text;
  const char *message = "";
};

} // namespace

static thread_local LastError lastError;

static tarpon_status fail(tarpon_status status, std::string message) {
  lastError.text = std::move(message);
  lastError.message = lastError.text.c_str();
  return status;
}

/// Runs the body of a function of the interface. Only allocations can throw.
template <typename Body>
static tarpon_status guard(Body body) noexcept {
  try {
    return body();
  } catch (...) {
    lastError.message = "there is not enough memory";
    return TARPON_OUT_OF_MEMORY;
  }
}

static tarpon_status failNull(const char *argument) {
  return fail(TARPON_INVALID_ARGUMENT,
              std::string("'") + argument + "' is a null pointer");
}

const char *tarpon_error_message(void) { return lastError.message; }

const char *tarpon_version(void) { return TARPON_VERSION; }

//===----------------------------------------------------------------------===//
// Models
//===----------------------------------------------------------------------===//

static std::vector<tarpon_tensor_info>
describe(const std::vector<TensorInfo> &tensors) {
  std::vector<tarpon_tensor_info> infos;
  for (const TensorInfo &tensor : tensors)
    infos.push_back({tensor.name.c_str(),
                     static_cast<tarpon_dtype>(tensor.dtype),
                     tensor.shape.size(), tensor.shape.data(),
                     static_cast<size_t>(tensor.numBytes())});
  return infos;
}

/// `publicKey` is null if no signature is asked for.
static tarpon_status load(const char *path, const char *publicKey, int threads,
                          tarpon_model **model) {
  if (!path)
    return failNull("path");
  if (!model)
    return failNull("model");
  if (threads < 0)
    return fail(TARPON_INVALID_ARGUMENT, "a model cannot run on " +
                                             std::to_string(threads) +
                                             " threads");
  Result<Package> package =
      publicKey ? readSignedPackage(path, publicKey) : readPackage(path);
  if (!package)
    return fail(TARPON_CANNOT_LOAD, package.message());
  ExecutorOptions options;
  options.threads = threads;
  Result<std::unique_ptr<Executor>> executor =
      Executor::create(std::move(*package), options);
  if (!executor)
    return fail(TARPON_CANNOT_LOAD, executor.message());
  auto loaded = std::make_unique<tarpon_model>(std::move(*executor));
  loaded->inputs = describe(loaded->executor->package().inputs);
  loaded->outputs = describe(loaded->executor->package().outputs);
  loaded->inputPointers.resize(loaded->inputs.size());
  loaded->outputPointers.resize(loaded->outputs.size());
  *model = loaded.release();
  return TARPON_OK;
}

tarpon_status tarpon_model_load(const char *path, int threads,
                                tarpon_model **model) {
  return guard([&] { return load(path, nullptr, threads, model); });
}

tarpon_status tarpon_model_load_signed(const char *path, const char *public_key,
                                       int threads, tarpon_model **model) {
  return guard([&] {
    return public_key ? load(path, public_key, threads, model)
                      : failNull("public_key");
  });
}

void tarpon_model_free(tarpon_model *model) { delete model; }

const char *tarpon_model_name(const tarpon_model *model) {
  return model->sized.package().modelName.c_str();
}

int tarpon_model_threads(const tarpon_model *model) {
  return model->sized.device().threads();
}

size_t tarpon_model_num_dimensions(const tarpon_model *model) {
  return model->sized.package().dimensions.size();
}

static tarpon_status getDimension(const tarpon_model &model, size_t index,
                                  tarpon_dimension &dimension) {
  const std::vector<Dimension> &dimensions = model.sized.package().dimensions;
  if (index >= dimensions.size())
    return fail(TARPON_INVALID_ARGUMENT,
                "there is no dimension " + std::to_string(index) +
                    ", the model has " + std::to_string(dimensions.size()));
  const Dimension &found = dimensions[index];
  dimension = {found.name.c_str(), found.low, found.high};
  return TARPON_OK;
}

tarpon_status tarpon_model_dimension(const tarpon_model *model, size_t index,
                                     tarpon_dimension *dimension) {
  return guard([&] {
    if (!model || !dimension)
      return failNull(model ? "dimension" : "model");
    return getDimension(*model, index, *dimension);
  });
}

static tarpon_status setSizes(tarpon_model &model, const int64_t *sizes,
                              size_t count) {
  size_t expected = model.sized.package().dimensions.size();
  if (count != expected)
    return fail(TARPON_INVALID_ARGUMENT, "got " + std::to_string(count) +
                                             " sizes, expected " +
                                             std::to_string(expected));
  std::span wanted(sizes, count);
  if (Status status = checkSizes(model.sized.package(), wanted); !status)
    return fail(TARPON_INVALID_ARGUMENT, status.message());
  std::lock_guard lock(model.running);
  Result<Executor *> executor = model.sized.at(wanted);
  if (!executor)
    return fail(TARPON_CANNOT_LOAD, executor.message());
  std::vector<tarpon_tensor_info> inputs =
      describe((*executor)->package().inputs);
  std::vector<tarpon_tensor_info> outputs =
      describe((*executor)->package().outputs);
  model.inputs = std::move(inputs);
  model.outputs = std::move(outputs);
  model.executor = *executor;
  return TARPON_OK;
}

tarpon_status tarpon_model_set_sizes(tarpon_model *model, const int64_t *sizes,
                                     size_t numSizes) {
  return guard([&] {
    if (!model || (!sizes && numSizes > 0))
      return failNull(model ? "sizes" : "model");
    return setSizes(*model, sizes, numSizes);
  });
}

size_t tarpon_model_num_inputs(const tarpon_model *model) {
  return model->sized.package().inputs.size();
}

size_t tarpon_model_num_outputs(const tarpon_model *model) {
  return model->sized.package().outputs.size();
}

/// `role` is "input" or "output".
static tarpon_status
getTensorInfo(const std::vector<tarpon_tensor_info> &tensors, size_t index,
              const char *role, tarpon_tensor_info *info) {
  if (!info)
    return failNull("info");
  if (index >= tensors.size())
    return fail(TARPON_INVALID_ARGUMENT, std::string("there is no ") + role +
                                             " " + std::to_string(index) +
                                             ", the model has " +
                                             std::to_string(tensors.size()));
  *info = tensors[index];
  return TARPON_OK;
}

tarpon_status tarpon_model_input(const tarpon_model *model, size_t index,
                                 tarpon_tensor_info *info) {
  return guard([&] {
    if (!model)
      return failNull("model");
    std::lock_guard lock(model->running);
    return getTensorInfo(model->inputs, index, "input", info);
  });
}

tarpon_status tarpon_model_output(const tarpon_model *model, size_t index,
                                  tarpon_tensor_info *info) {
  return guard([&] {
    if (!model)
      return failNull("model");
    std::lock_guard lock(model->running);
    return getTensorInfo(model->outputs, index, "output", info);
  });
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Checks the caller's buffers and writes their addresses to `pointers`.
template <typename Buffer, typename Pointer>
static Status takeBuffers(const std::vector<TensorInfo> &tensors,
                          const char *role, const Buffer *buffers, size_t count,
                          std::vector<Pointer> &pointers) {
  if (!buffers && count > 0)
    return Error{std::string("'") + role + "s' is a null pointer"};
  std::vector<BufferView> views;
  for (size_t i = 0; i < count; ++i)
    views.push_back({buffers[i].data, buffers[i].bytes});
  if (Status status = checkBuffers(tensors, role, views); !status)
    return status;
  for (size_t i = 0; i < count; ++i)
    pointers[i] = buffers[i].data;
  return success();
}

static tarpon_status run(tarpon_model &model, const tarpon_input *inputs,
                         size_t numInputs, const tarpon_output *outputs,
                         size_t numOutputs) {
  std::lock_guard lock(model.running);
  const Package &package = model.executor->package();
  if (Status status = takeBuffers(package.inputs, "input", inputs, numInputs,
                                  model.inputPointers);
      !status)
    return fail(TARPON_INVALID_ARGUMENT, status.message());
  if (Status status = takeBuffers(package.outputs, "output", outputs,
                                  numOutputs, model.outputPointers);
      !status)
    return fail(TARPON_INVALID_ARGUMENT, status.message());
  // Runs do not fail on the host.
  (void)model.executor->run(model.inputPointers, model.outputPointers);
  return TARPON_OK;
}

tarpon_status tarpon_model_run(tarpon_model *model, const tarpon_input *inputs,
                               size_t numInputs, const tarpon_output *outputs,
                               size_t numOutputs) {
  return guard([&] {
    return model ? run(*model, inputs, numInputs, outputs, numOutputs)
                 : failNull("model");
  });
}
