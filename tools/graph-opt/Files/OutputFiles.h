//===- OutputFiles.h - Refuses to overwrite inputs --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_FILES_OUTPUTFILES_H
#define TARPON_TOOLS_GRAPH_OPT_FILES_OUTPUTFILES_H

#include "tarpon/Runtime/Result.h"

#include <string>
#include <vector>

namespace tarpon {

/// A file of the command line and its role: "the model", "--json"; the path is
/// empty for none.
struct NamedFile {
  std::string name, path;
};

/// Returns an error if writing an output would overwrite an input or another
/// output.
runtime::Status checkOutputs(const std::vector<NamedFile> &inputs,
                             const std::vector<NamedFile> &outputs);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_FILES_OUTPUTFILES_H
