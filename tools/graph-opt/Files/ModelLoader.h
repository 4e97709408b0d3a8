//===- ModelLoader.h - Packages from models and from files ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_FILES_MODELLOADER_H
#define TARPON_TOOLS_GRAPH_OPT_FILES_MODELLOADER_H

#include "Commands/Commands.h"

#include "tarpon/Autotune/Tuning/Compile.h"

namespace tarpon {

/// Returns true if the file's name is that of a package.
bool isPackagePath(llvm::StringRef path);

/// Options for compiling one choice, which the command line has checked, with
/// the known solutions of its layers.
CompileOptions getCompileOptions(const ModelArguments &arguments);

/// Reads a package, which has to be signed if there is a key's file.
runtime::Result<runtime::Package> readPackageFile(const std::string &path,
                                                  const std::string &publicKey);

/// Reads a package, or compiles a model without measuring.
runtime::Result<runtime::Package> loadPackage(const ModelArguments &arguments);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_FILES_MODELLOADER_H
