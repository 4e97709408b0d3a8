//===- ModelLoader.h - Packages from models and from files ------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TOOLS_GRAPH_OPT_FILES_MODELLOADER_H
#define TARPON_TOOLS_GRAPH_OPT_FILES_MODELLOADER_H

#include "Commands/Commands.h"

#include "tarpon/Autotune/Choice/Compile.h"

namespace tarpon {

/// Whether the file is meant to be a package, by its name.
bool isPackagePath(llvm::StringRef path);

/// For compiling one choice with what is known about its layers. The choice is
/// one that the command line has checked.
CompileOptions getCompileOptions(const ModelArguments &arguments);

/// Reads a package, or compiles a model, measuring nothing.
runtime::Result<runtime::Package> loadPackage(const ModelArguments &arguments);

} // namespace tarpon

#endif // TARPON_TOOLS_GRAPH_OPT_FILES_MODELLOADER_H
