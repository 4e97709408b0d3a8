//===- PtxAssembler.cpp - Assembles PTX by ptxas --------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/NVIDIA/PtxAssembler.h"

#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Program.h"
#include "llvm/Support/Regex.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>

using namespace tarpon;
using runtime::Error;
using runtime::Result;

namespace {

/// A file in memory, which other processes open by its path while the object
/// lives. The system removes it even if this process is killed.
class MemoryFile {
public:
  static Result<MemoryFile> make(llvm::StringRef text) {
    int descriptor = memfd_create("tarpon", MFD_CLOEXEC);
    if (descriptor < 0)
      return Error{std::string("a file in memory cannot be made: ") +
                   std::strerror(errno)};
    MemoryFile file(descriptor);
    llvm::raw_fd_ostream stream(descriptor, /*shouldClose=*/false);
    stream << text;
    stream.flush();
    if (!stream.has_error())
      return file;
    std::string why = stream.error().message();
    stream.clear_error();
    return Error{"a file in memory cannot be written: " + why};
  }

  MemoryFile(MemoryFile &&other) noexcept
      : descriptor(std::exchange(other.descriptor, -1)),
        name(std::move(other.name)) {}
  MemoryFile(const MemoryFile &) = delete;
  ~MemoryFile() {
    if (descriptor >= 0)
      close(descriptor);
  }

  llvm::StringRef path() const { return name; }

  std::string read() const {
    auto buffer = llvm::MemoryBuffer::getFile(name);
    return buffer ? (*buffer)->getBuffer().str() : std::string();
  }

private:
  explicit MemoryFile(int descriptor)
      : descriptor(descriptor), name("/proc/" + std::to_string(getpid()) +
                                     "/fd/" + std::to_string(descriptor)) {}

  int descriptor;
  std::string name;
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
  Result<MemoryFile> printed = MemoryFile::make("");
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
  Result<MemoryFile> source = MemoryFile::make(ptx);
  if (!source)
    return source.error();
  Result<MemoryFile> cubin = MemoryFile::make("");
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
