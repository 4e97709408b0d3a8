//===- OutputFiles.cpp - Refuses to overwrite inputs ------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "OutputFiles.h"

#include "tarpon/Runtime/File.h"

namespace tarpon {

using namespace runtime;

Status checkOutputs(const std::vector<NamedFile> &inputs,
                    const std::vector<NamedFile> &outputs) {
  std::vector<NamedFile> taken = inputs;
  for (const NamedFile &output : outputs) {
    if (output.path.empty())
      continue;
    for (const NamedFile &other : taken)
      if (!other.path.empty() && isSameFile(output.path, other.path))
        return Error{"cannot write '" + output.path + "' for " + output.name +
                     ": it is the same file as " + other.name};
    taken.push_back(output);
  }
  return success();
}

} // namespace tarpon
