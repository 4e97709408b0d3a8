//===- RefusedKernels.c - Kernels that no package may have --------*- C -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each runs code when it is loaded or unloaded, before any kernel is called.
//
//===----------------------------------------------------------------------===//

#include <stdint.h>

volatile int wasRun;

#ifdef CONSTRUCTOR
__attribute__((constructor)) static void run(void) { wasRun = 1; }
#endif

#ifdef DESTRUCTOR
__attribute__((destructor)) static void run(void) { wasRun = 1; }
#endif

static void implementation(void *const *buffers, const int64_t *params,
                           int64_t begin, int64_t end, void *scratch) {
  (void)buffers, (void)params, (void)begin, (void)end, (void)scratch;
}

#ifdef INDIRECT
typedef void Kernel(void *const *, const int64_t *, int64_t, int64_t, void *);
static Kernel *resolve(void) {
  wasRun = 1;
  return implementation;
}
void scaleAndAdd(void *const *buffers, const int64_t *params, int64_t begin,
                 int64_t end, void *scratch)
    __attribute__((ifunc("resolve")));
#else
void scaleAndAdd(void *const *buffers, const int64_t *params, int64_t begin,
                 int64_t end, void *scratch) {
  implementation(buffers, params, begin, end, scratch);
}
#endif
