//===- Runtime.h - The runtime for C programs ---------------------*- C -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Runs models that graph-opt has compiled (.tpn files). Link libtarpon-runtime,
// which needs neither LLVM nor the compiler:
//
//   tarpon_model *model = NULL;
//   if (tarpon_model_load("resnet50.tpn", 0, &model) != TARPON_OK)
//     return fail(tarpon_error_message());
//   tarpon_input input = {pixels, sizeof(pixels)};
//   tarpon_output output = {scores, sizeof(scores)};
//   if (tarpon_model_run(model, &input, 1, &output, 1) != TARPON_OK)
//     return fail(tarpon_error_message());
//   tarpon_model_free(model);
//
// Threads: any function may be called from any thread at any time, but no
// function may use a model while tarpon_model_free frees it or afterwards. Runs
// of one model wait for each other; those of different models do not.
//
// Errors: a function that can fail returns a tarpon_status, and
// tarpon_error_message() describes the failure. Results are only written on
// success. No C++ exception leaves a function. A process that has no memory for
// the constants of a package is aborted.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_C_RUNTIME_H
#define TARPON_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

// NOLINTBEGIN(readability-identifier-naming): names are spelled as in C.

/// The version of this header. The library's SONAME has the major version:
/// functions are only ever added to it, and structs do not change.
#define TARPON_C_API_VERSION 0

typedef enum tarpon_status {
  TARPON_OK = 0,
  /// A null pointer, or an index, a number or a size that is out of range.
  TARPON_INVALID_ARGUMENT = 1,
  /// The package cannot be read, is damaged, or is not for this machine.
  TARPON_CANNOT_LOAD = 2,
  TARPON_OUT_OF_MEMORY = 3
} tarpon_status;

typedef enum tarpon_dtype {
  TARPON_F32 = 0,
  TARPON_F16 = 1,
  TARPON_BF16 = 2,
  TARPON_F64 = 3,
  TARPON_I8 = 4,
  TARPON_U8 = 5,
  TARPON_I16 = 6,
  TARPON_U16 = 7,
  TARPON_I32 = 8,
  TARPON_U32 = 9,
  TARPON_I64 = 10,
  TARPON_U64 = 11,
  TARPON_BOOL = 12, ///< one byte, 0 or 1
  // Formats of ONNX and of the OCP, as MLIR calls them. Elements of less than 8
  // bits take a byte each, extended by their sign, or by zeros if they have no
  // sign or are floats.
  TARPON_F8E4M3FN = 13,
  TARPON_F8E4M3FNUZ = 14,
  TARPON_F8E5M2 = 15,
  TARPON_F8E5M2FNUZ = 16,
  TARPON_U4 = 17,
  TARPON_I4 = 18,
  TARPON_F4E2M1FN = 19,
  TARPON_F8E8M0FNU = 20,
  TARPON_U2 = 21,
  TARPON_I2 = 22
} tarpon_dtype;

/// A compiled model that is loaded and ready to run.
typedef struct tarpon_model tarpon_model;

/// An input or output of a model: dense and row-major. `name` and `shape` live
/// as long as the model.
typedef struct tarpon_tensor_info {
  const char *name;
  tarpon_dtype dtype;
  size_t rank;
  const int64_t *shape;
  size_t bytes;
} tarpon_tensor_info;

/// A dimension of a model's inputs of which runs may choose the size, such as
/// the batch. `name` lives as long as the model.
typedef struct tarpon_dimension {
  const char *name;
  int64_t low, high;
} tarpon_dimension;

/// The elements of an input, which a run reads.
typedef struct tarpon_input {
  const void *data;
  size_t bytes;
} tarpon_input;

/// The memory of an output, which a run writes.
typedef struct tarpon_output {
  void *data;
  size_t bytes;
} tarpon_output;

/// The version of the library: "0.1.0".
const char *tarpon_version(void);

/// The error message of this thread's last function that failed: one sentence
/// that names the thing, "" if none has failed. Valid until the next failure in
/// this thread.
const char *tarpon_error_message(void);

/// Loads the package at `path`, to run on `threads` threads (the caller of
/// tarpon_model_run included), or on one per core if that is 0.
tarpon_status tarpon_model_load(const char *path, int threads,
                                tarpon_model **model);

/// Loads a package if it is signed with the key whose public half is in the
/// file `public_key`: see graph-opt sign.
tarpon_status tarpon_model_load_signed(const char *path, const char *public_key,
                                       int threads, tarpon_model **model);

/// Frees a model. NULL is allowed.
void tarpon_model_free(tarpon_model *model);

/// The model's name, as in its ONNX file. Lives as long as the model.
const char *tarpon_model_name(const tarpon_model *model);

/// The number of threads that the model runs on: fewer than requested if the
/// system refuses to start more.
int tarpon_model_threads(const tarpon_model *model);

size_t tarpon_model_num_inputs(const tarpon_model *model);
size_t tarpon_model_num_outputs(const tarpon_model *model);

/// The number of dimensions whose sizes runs may choose: 0 for most models.
size_t tarpon_model_num_dimensions(const tarpon_model *model);

/// Describes such a dimension.
tarpon_status tarpon_model_dimension(const tarpon_model *model, size_t index,
                                     tarpon_dimension *dimension);

/// Chooses the sizes for the runs that follow, one per dimension; at first they
/// are the lowest. Inputs and outputs have other shapes then, which
/// tarpon_model_input and tarpon_model_output tell. Sizes are the model's, not
/// the thread's: threads that choose different ones need models of their own.
/// Sizes that are chosen for the first time cost a fraction of a millisecond
/// (benchmarks/sizes measures it), and the memory for inputs and outputs, which
/// is kept. TARPON_INVALID_ARGUMENT if the package is not for these sizes,
/// TARPON_CANNOT_LOAD if what it holds for them is damaged or there is no
/// memory for the inputs and outputs.
tarpon_status tarpon_model_set_sizes(tarpon_model *model, const int64_t *sizes,
                                     size_t num_sizes);

/// Describe an input or output, in the order of the ONNX file.
tarpon_status tarpon_model_input(const tarpon_model *model, size_t index,
                                 tarpon_tensor_info *info);
tarpon_status tarpon_model_output(const tarpon_model *model, size_t index,
                                  tarpon_tensor_info *info);

/// Runs the model: one buffer per input and output, in their order, each of as
/// many bytes as its tensor has. Data is not copied if it is aligned to 64
/// bytes and the 64 bytes behind it are in the same page (4 KiB). Outputs must
/// overlap neither each other nor inputs.
tarpon_status tarpon_model_run(tarpon_model *model, const tarpon_input *inputs,
                               size_t num_inputs, const tarpon_output *outputs,
                               size_t num_outputs);

// NOLINTEND(readability-identifier-naming)

#ifdef __cplusplus
}
#endif

#endif // TARPON_C_RUNTIME_H
