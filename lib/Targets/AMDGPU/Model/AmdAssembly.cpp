//===- AmdAssembly.cpp - Reads assembly text of AMD GPUs ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/AMDGPU/Model/AmdAssembly.h"

#include "tarpon/Targets/AMDGPU/CodeObject.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"

using namespace tarpon;
using llvm::StringRef;
using runtime::Error;
using runtime::Result;
using runtime::Status;

/// Removes a comment, which begins with ';' or '//'.
static StringRef dropComment(StringRef line) {
  return line.split(';').first.split("//").first.trim();
}

Result<MachineCode> tarpon::parseAssembly(StringRef text) {
  MachineCode code;
  llvm::SmallVector<StringRef> lines;
  text.split(lines, '\n');
  bool isOver = false;
  for (StringRef raw : lines) {
    StringRef line = dropComment(raw);
    if (line.ends_with(":")) {
      // There may be more code behind the end, but no other label.
      if (isOver && !line.starts_with(".LBB") && !line.starts_with("L"))
        break;
      isOver = false;
      code.addLabel(line.drop_back());
      continue;
    }
    if (line.empty() || line.starts_with(".") || isOver)
      continue;
    MachineInstruction instruction = readInstruction(line);
    isOver = instruction.kind == InstructionKind::End;
    code.add(std::move(instruction));
  }
  if (Status status = code.finish(); !status)
    return status.error();
  return code;
}

Result<KernelProfile> tarpon::profileAssembly(StringRef assembly,
                                              const KernelResources &resources,
                                              const GpuTarget &gpu) {
  Result<MachineCode> code = parseAssembly(assembly);
  if (!code)
    return Error{"kernel '" + resources.symbol + "': " + code.message()};
  return profileCode(*code, resources, gpu);
}

Result<KernelProfile> tarpon::profileKernel(llvm::ArrayRef<char> codeObject,
                                            llvm::StringRef symbol,
                                            const GpuTarget &gpu) {
  Result<std::vector<KernelResources>> kernels =
      readKernelResources(codeObject);
  if (!kernels)
    return kernels.error();
  auto resources = llvm::find_if(*kernels, [&](const KernelResources &kernel) {
    return kernel.symbol == symbol;
  });
  if (resources == kernels->end())
    return Error{"the code object has no kernel '" + symbol.str() + "'"};
  Result<std::string> text = disassembleKernel(codeObject, symbol, gpu);
  if (!text)
    return text.error();
  return profileAssembly(*text, *resources, gpu);
}
