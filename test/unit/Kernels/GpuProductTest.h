//===- GpuProductTest.h - Checks products of the tiled engine ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_KERNELS_GPUPRODUCTTEST_H
#define TARPON_TEST_UNIT_KERNELS_GPUPRODUCTTEST_H

#include "SolverTest.h"

#include <array>
#include <map>

namespace tarpon::test {

/// Two-dimensional; the layout is that of input, result and residual.
struct Conv {
  int64_t batch, channels, height, width, outChannels, kernelH, kernelW;
  int64_t stride = 1, dilation = 1, group = 1;
  std::array<int64_t, 4> pads = {0, 0, 0, 0};
  const char *epilogue = "add(2) | add(3) | relu";
};

/// Changes of a config, by field.
using ConfigChange = std::vector<std::pair<const char *, int64_t>>;

/// The targets that a test runs on, each made when it is first asked for.
class Runners {
public:
  SolverRunner &get(const std::string &name);

private:
  std::map<std::string, std::unique_ptr<SolverRunner>> runners;
};

std::string getKey(const Conv &conv, const std::string &dtype,
                   const std::string &layout);

/// The problem of a key, with scales and zero points.
Problem makeProblem(const std::string &key);

/// The engine's result against the reference's. `change` edits the default
/// config.
void check(Runners &runners, const std::string &gpu, const Problem &problem,
           const ConfigChange &change = {});
void check(Runners &runners, const std::string &gpu, const std::string &key,
           const ConfigChange &change = {});

} // namespace tarpon::test

#endif // TARPON_TEST_UNIT_KERNELS_GPUPRODUCTTEST_H
