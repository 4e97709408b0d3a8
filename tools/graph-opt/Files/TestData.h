//===- TestData.h - ONNX test data sets -------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_FILES_TESTDATA_H
#define TARPON_TOOLS_GRAPH_OPT_FILES_TESTDATA_H

#include "tarpon/Runtime/Tensor.h"

#include <string>
#include <vector>

namespace tarpon {

/// The inputs of a model and its expected outputs, in the model's order.
struct TestDataSet {
  std::string directory;
  std::vector<runtime::HostTensor> inputs, outputs;
};

/// Reads the files input_<i>.pb and output_<i>.pb of a folder, or of all its
/// subfolders test_data_set_<N>. An error if there is no set, or a set without
/// outputs.
runtime::Result<std::vector<TestDataSet>>
readTestData(const std::string &directory);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_FILES_TESTDATA_H
