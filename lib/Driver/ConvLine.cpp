//===- ConvLine.cpp - A convolution as a driver line ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/Convolution.h"
#include "tarpon/Driver/DriverTypes.h"

#include "llvm/Support/raw_ostream.h"

using namespace tarpon;

/// Prints flags with one letter and value per dimension: d, h, w.
static void printDims(llvm::raw_ostream &os, const char (&letters)[4],
                      const std::vector<int64_t> &values) {
  size_t first = 3 - values.size();
  for (size_t i = 0; i < values.size(); ++i)
    os << " -" << letters[first + i] << ' ' << values[i];
}

std::string tarpon::printConvLine(const ConvDescription &conv,
                                  ConvDirection direction, DType dtype) {
  std::string text;
  llvm::raw_string_ostream os(text);
  const DriverType *type = findDriverType(dtype);
  assert(type && "MIOpen's driver has no base for this dtype");
  os << "conv" << type->suffix;
  if (conv.image.size() == 3)
    os << " -_ 3";
  os << " -n " << conv.batch << " -c " << conv.channels;
  printDims(os, "!HW", conv.image);
  os << " -k " << conv.outChannels;
  printDims(os, "@yx", conv.kernel);
  printDims(os, "$pq", conv.pads);
  printDims(os, "#uv", conv.strides);
  printDims(os, "^lj", conv.dilations);
  os << " -m conv -g " << conv.groups;
  if (conv.padMode != "default")
    os << " -z " << conv.padMode;
  if (!conv.inputLayout.empty())
    os << " -I " << conv.inputLayout;
  if (!conv.filterLayout.empty())
    os << " -f " << conv.filterLayout;
  if (!conv.outputLayout.empty())
    os << " -O " << conv.outputLayout;
  os << " -F " << static_cast<int>(direction);
  return text;
}
