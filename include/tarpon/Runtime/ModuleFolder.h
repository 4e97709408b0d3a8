//===- ModuleFolder.h - The folder of an installation -----------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_RUNTIME_MODULEFOLDER_H
#define TARPON_RUNTIME_MODULEFOLDER_H

#include <string>

namespace tarpon::runtime {

/// The absolute folder of the program, or of the shared library, that this code
/// was linked into: "/usr/bin" for graph-opt, "/usr/lib" for a program that
/// embeds libtarpon-compiler.so. Installed files are found relative to it. "."
/// if the system does not say.
std::string getModuleFolder();

} // namespace tarpon::runtime

#endif // TARPON_RUNTIME_MODULEFOLDER_H
