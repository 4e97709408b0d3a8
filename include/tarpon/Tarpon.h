//===- Tarpon.h - The compiler for programs ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Everything that a program needs which compiles models, and nothing of MLIR.
// Link Tarpon::Compiler (docs/embedding.md):
//
//   auto model = tarpon::Model::compile("resnet50.onnx");
//   if (!model)
//     return fail(model.message());
//   auto session = tarpon::Session::create(std::move(*model));
//   ...
//   session->run({std::as_bytes(std::span(pixels))},
//                {std::as_writable_bytes(std::span(scores))});
//
// A program that only runs what was compiled before wants tarpon/C/Runtime.h.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TARPON_H
#define TARPON_TARPON_H

#include "tarpon/Embed/Model.h"
#include "tarpon/Embed/Session.h"
#include "tarpon/Embed/Solutions.h"

#endif // TARPON_TARPON_H
