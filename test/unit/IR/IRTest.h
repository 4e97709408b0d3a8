//===- IRTest.h - A context with the dialect loaded -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_IR_IRTEST_H
#define TARPON_TEST_UNIT_IR_IRTEST_H

#include "tarpon/IR/TarponOps.h"

#include "mlir/Dialect/Quant/IR/Quant.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

#include <gtest/gtest.h>

namespace tarpon {

class IRTest : public ::testing::Test {
protected:
  IRTest() : builder(&context) {
    context.loadDialect<TarponDialect, mlir::quant::QuantDialect>();
    module = mlir::ModuleOp::create(location);
    builder.setInsertionPointToStart(module->getBody());
  }

  /// int8 in steps of a half.
  mlir::Type getQuantizedType() {
    return mlir::quant::UniformQuantizedType::get(
        mlir::quant::QuantizationFlags::Signed, builder.getI8Type(),
        builder.getF32Type(), /*scale=*/0.5, /*zeroPoint=*/0, -128, 127);
  }

  /// A value of that type that nothing is known of.
  mlir::Value makeValue(mlir::Type type) {
    return module->getBody()->addArgument(type, location);
  }

  mlir::MLIRContext context;
  mlir::OpBuilder builder;
  mlir::Location location = mlir::UnknownLoc::get(&context);
  mlir::OwningOpRef<mlir::ModuleOp> module;
};

} // namespace tarpon

#endif // TARPON_TEST_UNIT_IR_IRTEST_H
