//===- ConvLine.cpp - A convolution as a driver line ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Driver/Convolution.h"

#include "llvm/Support/ErrorHandling.h"
#include "llvm/Support/raw_ostream.h"

using namespace tarpon;

/// Letters of the flags that have a value per dimension: d, h, w.
static void printDims(llvm::raw_ostream &os, const char (&letters)[4],
                      const std::vector<int64_t> &values) {
  size_t first = 3 - values.size();
  for (size_t i = 0; i < values.size(); ++i)
    os << " -" << letters[first + i] << ' ' << values[i];
}

static llvm::StringRef getBase(DType dtype) {
  switch (dtype) {
  case DType::F32:
    return "conv";
  case DType::F16:
    return "convfp16";
  case DType::BF16:
    return "convbfp16";
  case DType::I8:
    return "convint8";
  case DType::F64:
  case DType::U8:
  case DType::I16:
  case DType::U16:
  case DType::I32:
  case DType::U32:
  case DType::I64:
  case DType::U64:
  case DType::Bool:
    break;
  }
  llvm_unreachable("MIOpen's driver has no base for this dtype");
}

std::string tarpon::printConvLine(const ConvDescription &conv,
                                  ConvDirection direction, DType dtype) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << getBase(dtype);
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
