//===- UsesC.c - A C program of the runtime -----------------------*- C -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/C/Runtime.h"

int runFromC(const char *path, const float *input, float *output,
             size_t elements) {
  tarpon_model *model = NULL;
  if (tarpon_model_load(path, 1, &model) != TARPON_OK)
    return 1;
  tarpon_input in = {input, elements * sizeof(float)};
  tarpon_output out = {output, elements * sizeof(float)};
  tarpon_status status = tarpon_model_run(model, &in, 1, &out, 1);
  tarpon_model_free(model);
  return status == TARPON_OK ? 0 : 2;
}
