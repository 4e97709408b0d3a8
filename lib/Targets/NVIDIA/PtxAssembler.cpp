//===- PtxAssembler.cpp - Assembles PTX by ptxas --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/PtxAssembler.h"

#include "llvm/ADT/ScopeExit.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FileUtilities.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <cstdlib>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {

/// A file that is removed with the object.
class TemporaryFile {
public:
  static Result<TemporaryFile> make(llvm::StringRef suffix,
                                    llvm::StringRef text) {
    llvm::SmallString<128> path;
    int descriptor = -1;
    if (std::error_code code = llvm::sys::fs::createTemporaryFile(
            "tarpon", suffix, descriptor, path))
      return Error{"a temporary file cannot be made: " + code.message()};
    TemporaryFile file(path.str());
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/true);
    stream << text;
    stream.close();
    if (!stream.has_error())
      return file;
    std::string why = stream.error().message();
    stream.clear_error();
    return Error{"'" + path.str().str() + "' cannot be written: " + why};
  }

  llvm::StringRef path() const { return remover.get()->first; }

  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(path());
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  using Remover = std::pair<std::string, llvm::FileRemover>;

  explicit TemporaryFile(llvm::StringRef path)
      : remover(std::make_unique<Remover>(path.str(), path)) {}

  std::unique_ptr<Remover> remover;
};

/// The text that a program printed, and whether it succeeded.
struct Output {
  bool succeeded;
  std::string text;
};

} // namespace

/// ptxas takes up to a few seconds for the largest kernels.
static constexpr unsigned kMostSeconds = 120;

static Result<Output> runProgram(const std::string &program,
                                 llvm::ArrayRef<llvm::StringRef> arguments) {
  Result<TemporaryFile> printed = TemporaryFile::make("log", "");
  if (!printed)
    return printed.error();
  llvm::SmallVector<llvm::StringRef> all = {program};
  all.append(arguments.begin(), arguments.end());
  std::optional<llvm::StringRef> redirects[] = {
      llvm::StringRef(), printed->path(), printed->path()};
  std::string why;
  int code = llvm::sys::ExecuteAndWait(program, all, /*Env=*/std::nullopt,
                                       redirects, kMostSeconds,
                                       /*MemoryLimit=*/0, &why);
  if (code < 0)
    return Error{"'" + program + "' cannot be run, or was ended after " +
                 std::to_string(kMostSeconds) + " seconds: " + why};
  return Output{code == 0, printed->read()};
}

/// Where CUDA's toolkit puts its programs by default.
static constexpr llvm::StringRef kToolkit[] = {"/usr/local/cuda/bin"};

/// The program that the user named, or else the first that exists.
static std::optional<std::string> findProgram() {
  if (const char *named = std::getenv("TARPON_PTXAS"); named && *named)
    return std::string(named);
  if (auto found = llvm::sys::findProgramByName("ptxas"))
    return *found;
  if (auto found = llvm::sys::findProgramByName("ptxas", kToolkit))
    return *found;
  return std::nullopt;
}

Result<std::optional<PtxAssembler>> PtxAssembler::find() {
  std::optional<std::string> program = findProgram();
  if (!program)
    return std::optional<PtxAssembler>();
  Result<Output> output = runProgram(*program, {"--version"});
  if (!output)
    return output.error();
  llvm::SmallVector<llvm::StringRef> groups;
  if (!output->succeeded ||
      !llvm::Regex("V[0-9]+\\.[0-9]+\\.[0-9]+").match(output->text, &groups))
    return Error{"'" + *program + "' is not NVIDIA's assembler"};
  return std::optional(
      PtxAssembler(std::move(*program), "ptxas " + groups[0].str()));
}

Result<std::vector<char>> PtxAssembler::assemble(llvm::StringRef ptx,
                                                 llvm::StringRef chip,
                                                 llvm::StringRef kernel) const {
  Result<TemporaryFile> source = TemporaryFile::make("ptx", ptx);
  if (!source)
    return source.error();
  Result<TemporaryFile> cubin = TemporaryFile::make("cubin", "");
  if (!cubin)
    return cubin.error();
  Result<Output> output = runProgram(
      program, {"-arch", chip, "-O3", source->path(), "-o", cubin->path()});
  if (!output)
    return output.error();
  if (!output->succeeded)
    return Error{"ptxas refuses kernel '" + kernel.str() +
                 "': " + llvm::StringRef(output->text).trim().str()};
  std::string bytes = cubin->read();
  return std::vector<char>(bytes.begin(), bytes.end());
}
