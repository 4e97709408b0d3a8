//===- FatalErrors.h - Errors that end the program --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPHOPT_FATALERRORS_H
#define TARPON_TOOLS_GRAPHOPT_FATALERRORS_H

namespace tarpon {

/// Has LLVM, the C++ library and the system say in one line of ours what the
/// program cannot go on from: memory that is exhausted, output that cannot be
/// written, a mapped file that is cut short. The exit status is 1.
void reportFatalErrors();

/// Returns `status`, or after writing to standard output has failed that of an
/// error, which it reports.
int finishOutput(int status);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPHOPT_FATALERRORS_H
