//===- Linker.cpp - Links objects by lld ----------------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// lld works on files and keeps global state, which is why there are a temporary
// folder and a lock. Only the objects are on the disk: see OutputPipe.h.
//
//===----------------------------------------------------------------------===//

#include "tarpon/Targets/Linker/Linker.h"

#include "OutputPipe.h"

#include "lld/Common/Driver.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallString.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/Path.h"
#include "llvm/Support/raw_ostream.h"

#include <cerrno>
#include <cstdlib>
#include <filesystem>
#include <mutex>

using namespace llvm;
using namespace tarpon;
using runtime::Result;

LLD_HAS_DRIVER(elf)

namespace {

/// A folder of this process's own that is removed with all it holds. Its mode
/// is 0700, so that other users cannot replace an object in it.
class TemporaryFolder {
public:
  TemporaryFolder() {
    sys::path::system_temp_directory(/*ErasedOnReboot=*/true, path);
    sys::path::append(path, "tarpon-XXXXXX");
    if (!mkdtemp(const_cast<char *>(path.c_str())))
      error = std::error_code(errno, std::generic_category());
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    if (!error)
      std::filesystem::remove_all(path.c_str(), ignored);
  }
  TemporaryFolder(const TemporaryFolder &) = delete;
  TemporaryFolder &operator=(const TemporaryFolder &) = delete;

  std::error_code getError() const { return error; }
  std::string getFile(StringRef name) const {
    SmallString<128> file(path);
    sys::path::append(file, name);
    return file.str().str();
  }

private:
  SmallString<128> path;
  std::error_code error;
};

} // namespace

static std::error_code writeFile(StringRef path, ArrayRef<char> bytes) {
  std::error_code error;
  raw_fd_ostream stream(path, error);
  if (error)
    return error;
  stream.write(bytes.data(), bytes.size());
  stream.close();
  error = stream.error();
  stream.clear_error();
  return error;
}

/// Returns the first complaint of lld's output, without lld's name in front.
static std::string getFirstError(StringRef output) {
  StringRef line = output.trim().split('\n').first;
  for (StringRef prefix : {"ld.lld:", "lld:", " ", "error:", " "})
    line.consume_front(prefix);
  return line.trim().str();
}

/// Runs lld, which is unusable after a crash.
static runtime::Status runLld(ArrayRef<std::string> arguments) {
  static std::mutex mutex;
  static bool usable = true;
  std::lock_guard<std::mutex> lock(mutex);
  if (!usable)
    return runtime::Error{"the linker has crashed in this process before"};
  SmallVector<const char *> pointers;
  for (const std::string &argument : arguments)
    pointers.push_back(argument.c_str());
  std::string text;
  raw_string_ostream stream(text);
  const lld::DriverDef elf = {lld::Gnu, &lld::elf::link};
  lld::Result result = lld::lldMain(pointers, stream, stream, elf);
  usable = result.canRunAgain;
  if (result.retCode == 0)
    return runtime::success();
  return runtime::Error{"cannot link the kernels: " + getFirstError(text)};
}

Result<std::vector<char>>
tarpon::linkSharedObject(ArrayRef<ArrayRef<char>> objects,
                         ArrayRef<std::string> options) {
  TemporaryFolder folder;
  auto fail = [](std::error_code error) {
    return runtime::Error{"cannot link the kernels in a temporary folder: " +
                          error.message()};
  };
  if (folder.getError())
    return fail(folder.getError());

  std::string library = folder.getFile("kernels.so");
  OutputPipe output(library);
  if (output.getError())
    return fail(output.getError());
  // lld gets one thread, as kernels are small, and must not name the temporary
  // folder in the output.
  std::vector<std::string> arguments = {
      "ld.lld",          "-shared", "--threads=1", "--hash-style=gnu",
      "--build-id=none", "-o",      library};
  llvm::append_range(arguments, options);
  for (const auto &[index, object] : enumerate(objects)) {
    std::string file = folder.getFile(std::to_string(index) + ".o");
    if (std::error_code error = writeFile(file, object))
      return fail(error);
    arguments.push_back(file);
  }
  if (runtime::Status status = runLld(arguments); !status)
    return status.error();
  return output.finish();
}
