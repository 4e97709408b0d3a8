//===- DriverTypes.h - The data types that MIOpen names ---------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_DRIVER_DRIVERTYPES_H
#define TARPON_DRIVER_DRIVERTYPES_H

#include "tarpon/Runtime/DType.h"

#include "llvm/ADT/StringRef.h"

namespace tarpon {

/// A dtype of MIOpen's driver and databases.
struct DriverType {
  runtime::DType dtype;
  /// The suffix of the driver's bases: "fp16" of "convfp16".
  llvm::StringLiteral suffix;
  /// The spelling in the keys of databases.
  llvm::StringLiteral key;
};

/// Results of convint8 are not rounded to int8, which its key says.
inline constexpr DriverType kDriverTypes[] = {
    {runtime::DType::F32, "", "FP32"},
    {runtime::DType::F16, "fp16", "FP16"},
    {runtime::DType::BF16, "bfp16", "BF16"},
    {runtime::DType::I8, "int8", "INT8INT8FP32"}};

/// Returns the row of that dtype, or null.
inline const DriverType *findDriverType(runtime::DType dtype) {
  for (const DriverType &type : kDriverTypes)
    if (type.dtype == dtype)
      return &type;
  return nullptr;
}

} // namespace tarpon

#endif // TARPON_DRIVER_DRIVERTYPES_H
