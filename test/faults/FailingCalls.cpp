//===- FailingCalls.cpp - The n-th call of the system fails ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A library for LD_PRELOAD, by which scripts/inject-faults counts the calls of
// a program and has one of them fail. These variables tell it what to do:
//
//   TARPON_FAULT_COUNTS  a file of kKinds numbers of 64 bits, which the program
//                        and its children count in
//   TARPON_FAULT_KIND    the number of the kind of calls, in the order of Kind
//   TARPON_FAULT_AT      which of them fails, from 1
//   TARPON_FAULT_ERRNO   its error, or 0 for SIGKILL in the middle of the call
//
// A mapping that counts as Shrink does not fail: its file is emptied as soon as
// it is mapped, as if another program began to write it anew.
//
// Calls of the C library to itself are not seen: those behind printf, for
// example. Writes to standard error are not counted, since a program without it
// has no way to say what is wrong.
//
// Allocations are counted from 256 KiB on: LLVM and the C++ library end a
// program when a smaller one fails, and systems that overcommit memory refuse
// none.
//
//===----------------------------------------------------------------------===//

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdarg>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <sys/uio.h>
#include <unistd.h>

// The C library's allocator under names of its own, which need no look-up:
// looking something up allocates.
extern "C" void *realMalloc(size_t size) __asm__("__libc_malloc");
extern "C" void *realCalloc(size_t count, size_t size) __asm__("__libc_calloc");
extern "C" void *realRealloc(void *memory,
                             size_t size) __asm__("__libc_realloc");
extern "C" void *realMemalign(size_t alignment,
                              size_t size) __asm__("__libc_memalign");

namespace {

/// scripts/inject-faults has the same list.
enum class Kind {
  Open,
  Read,
  Write,
  Sync,
  Rename,
  Folder,
  Map,
  Shrink,
  Allocate,
  Thread,
  Process,
};
constexpr size_t kKinds = 11;
constexpr size_t kCountedBytes = size_t(256) << 10;

/// What fails, and where calls are counted.
struct Plan {
  std::atomic<uint64_t> *counts = nullptr;
  int kind = -1;
  uint64_t at = 0;
  int error = 0;
};

} // namespace

static Plan plan;

template <typename Function>
static Function *findReal(const char *name) {
  return reinterpret_cast<Function *>(dlsym(RTLD_NEXT, name));
}

static uint64_t readNumber(const char *name) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : 0;
}

/// Opens the counters before anything is counted; without them nothing is, and
/// nothing fails. Children inherit the variables, and so count on.
__attribute__((constructor)) static void readPlan() {
  const char *path = std::getenv("TARPON_FAULT_COUNTS");
  int descriptor = path ? open(path, O_RDWR | O_CLOEXEC) : -1;
  if (descriptor < 0)
    return;
  void *memory = mmap(nullptr, kKinds * sizeof(uint64_t),
                      PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  close(descriptor);
  if (memory == MAP_FAILED)
    return;
  plan.kind = static_cast<int>(readNumber("TARPON_FAULT_KIND"));
  plan.at = readNumber("TARPON_FAULT_AT");
  plan.error = static_cast<int>(readNumber("TARPON_FAULT_ERRNO"));
  plan.counts = static_cast<std::atomic<uint64_t> *>(memory);
}

/// Counts a call. Returns the error that it has to fail with, or nothing.
static int count(Kind kind) {
  constexpr int kNone = -1;
  if (!plan.counts)
    return kNone;
  uint64_t number = ++plan.counts[static_cast<size_t>(kind)];
  bool fails = static_cast<int>(kind) == plan.kind && number == plan.at;
  return fails ? plan.error : kNone;
}

/// Ends the process as the kernel would.
[[noreturn]] static void die() {
  kill(getpid(), SIGKILL);
  while (true)
    pause();
}

/// Counts a call that sets errno. Returns true if it has to fail.
static bool fails(Kind kind) {
  int error = count(kind);
  if (error < 0)
    return false;
  if (error == 0)
    die();
  errno = error;
  return true;
}

/// As fails(). A process that is killed has written a half of the bytes.
template <typename Half>
static bool writeFails(int descriptor, Half half) {
  if (descriptor == STDERR_FILENO)
    return false;
  int error = count(Kind::Write);
  if (error == 0) {
    half();
    die();
  }
  if (error > 0)
    errno = error;
  return error > 0;
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

static mode_t readMode(int flags, va_list arguments) {
  bool hasMode = (flags & O_CREAT) || (flags & O_TMPFILE) == O_TMPFILE;
  return hasMode ? va_arg(arguments, mode_t) : 0;
}

extern "C" int open(const char *path, int flags, ...) {
  static const auto real = findReal<decltype(open)>("open");
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = readMode(flags, arguments);
  va_end(arguments);
  return fails(Kind::Open) ? -1 : real(path, flags, mode);
}

extern "C" int openat(int folder, const char *path, int flags, ...) {
  static const auto real = findReal<decltype(openat)>("openat");
  va_list arguments;
  va_start(arguments, flags);
  mode_t mode = readMode(flags, arguments);
  va_end(arguments);
  return fails(Kind::Open) ? -1 : real(folder, path, flags, mode);
}

extern "C" FILE *fopen(const char *path, const char *mode) {
  static const auto real = findReal<decltype(fopen)>("fopen");
  return fails(Kind::Open) ? nullptr : real(path, mode);
}

extern "C" ssize_t read(int descriptor, void *bytes, size_t size) {
  static const auto real = findReal<decltype(read)>("read");
  return fails(Kind::Read) ? -1 : real(descriptor, bytes, size);
}

extern "C" ssize_t pread(int descriptor, void *bytes, size_t size,
                         off_t offset) {
  static const auto real = findReal<decltype(pread)>("pread");
  return fails(Kind::Read) ? -1 : real(descriptor, bytes, size, offset);
}

extern "C" ssize_t write(int descriptor, const void *bytes, size_t size) {
  static const auto real = findReal<decltype(write)>("write");
  auto half = [&] { (void)real(descriptor, bytes, size / 2); };
  return writeFails(descriptor, half) ? -1 : real(descriptor, bytes, size);
}

extern "C" ssize_t pwrite(int descriptor, const void *bytes, size_t size,
                          off_t offset) {
  static const auto real = findReal<decltype(pwrite)>("pwrite");
  auto half = [&] { (void)real(descriptor, bytes, size / 2, offset); };
  return writeFails(descriptor, half) ? -1
                                      : real(descriptor, bytes, size, offset);
}

extern "C" ssize_t writev(int descriptor, const iovec *pieces, int number) {
  static const auto real = findReal<decltype(writev)>("writev");
  auto half = [&] { (void)real(descriptor, pieces, number / 2); };
  return writeFails(descriptor, half) ? -1 : real(descriptor, pieces, number);
}

extern "C" int ftruncate(int descriptor, off_t size) noexcept {
  static const auto real = findReal<decltype(ftruncate)>("ftruncate");
  return fails(Kind::Write) ? -1 : real(descriptor, size);
}

extern "C" int fsync(int descriptor) {
  static const auto real = findReal<decltype(fsync)>("fsync");
  return fails(Kind::Sync) ? -1 : real(descriptor);
}

extern "C" int fdatasync(int descriptor) {
  static const auto real = findReal<decltype(fdatasync)>("fdatasync");
  return fails(Kind::Sync) ? -1 : real(descriptor);
}

extern "C" int rename(const char *from, const char *to) noexcept {
  static const auto real = findReal<decltype(rename)>("rename");
  return fails(Kind::Rename) ? -1 : real(from, to);
}

extern "C" int link(const char *from, const char *to) noexcept {
  static const auto real = findReal<decltype(link)>("link");
  return fails(Kind::Rename) ? -1 : real(from, to);
}

extern "C" int linkat(int fromFolder, const char *from, int toFolder,
                      const char *to, int flags) noexcept {
  static const auto real = findReal<decltype(linkat)>("linkat");
  return fails(Kind::Rename) ? -1 : real(fromFolder, from, toFolder, to, flags);
}

extern "C" int mkdir(const char *path, mode_t mode) noexcept {
  static const auto real = findReal<decltype(mkdir)>("mkdir");
  return fails(Kind::Folder) ? -1 : real(path, mode);
}

extern "C" char *mkdtemp(char *pattern) noexcept {
  static const auto real = findReal<decltype(mkdtemp)>("mkdtemp");
  return fails(Kind::Folder) ? nullptr : real(pattern);
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

static bool allocationFails(size_t size) {
  return size >= kCountedBytes && fails(Kind::Allocate);
}

/// Empties a file that is open for reading.
static void empty(int descriptor) {
  constexpr size_t kPathBytes = 64;
  char path[kPathBytes];
  std::snprintf(path, sizeof(path), "/proc/self/fd/%d", descriptor);
  (void)!truncate(path, 0);
}

extern "C" void *mmap(void *address, size_t size, int protection, int flags,
                      int descriptor, off_t offset) noexcept {
  static const auto real = findReal<decltype(mmap)>("mmap");
  if (fails(Kind::Map))
    return MAP_FAILED;
  void *memory = real(address, size, protection, flags, descriptor, offset);
  if (descriptor >= 0 && (flags & MAP_PRIVATE) && fails(Kind::Shrink))
    empty(descriptor);
  return memory;
}

extern "C" void *malloc(size_t size) noexcept {
  return allocationFails(size) ? nullptr : realMalloc(size);
}

extern "C" void *calloc(size_t number, size_t size) noexcept {
  bool failed = size > 0 && number >= kCountedBytes / size &&
                allocationFails(kCountedBytes);
  return failed ? nullptr : realCalloc(number, size);
}

extern "C" void *realloc(void *memory, size_t size) noexcept {
  return allocationFails(size) ? nullptr : realRealloc(memory, size);
}

extern "C" void *aligned_alloc(size_t alignment, size_t size) noexcept {
  return allocationFails(size) ? nullptr : realMemalign(alignment, size);
}

extern "C" int posix_memalign(void **memory, size_t alignment,
                              size_t size) noexcept {
  void *allocated =
      allocationFails(size) ? nullptr : realMemalign(alignment, size);
  if (!allocated)
    return ENOMEM;
  *memory = allocated;
  return 0;
}

//===----------------------------------------------------------------------===//
// Threads and processes
//===----------------------------------------------------------------------===//

extern "C" int pthread_create(pthread_t *thread,
                              const pthread_attr_t *attributes,
                              void *(*routine)(void *),
                              void *argument) noexcept {
  static const auto real = findReal<decltype(pthread_create)>("pthread_create");
  return fails(Kind::Thread) ? errno
                             : real(thread, attributes, routine, argument);
}

extern "C" pid_t fork() noexcept {
  static const auto real = findReal<decltype(fork)>("fork");
  return fails(Kind::Process) ? -1 : real();
}

extern "C" int posix_spawn(pid_t *process, const char *path,
                           const posix_spawn_file_actions_t *actions,
                           const posix_spawnattr_t *attributes,
                           char *const *arguments, char *const *environment) {
  static const auto real = findReal<decltype(posix_spawn)>("posix_spawn");
  return fails(Kind::Process)
             ? errno
             : real(process, path, actions, attributes, arguments, environment);
}

extern "C" int posix_spawnp(pid_t *process, const char *program,
                            const posix_spawn_file_actions_t *actions,
                            const posix_spawnattr_t *attributes,
                            char *const *arguments, char *const *environment) {
  static const auto real = findReal<decltype(posix_spawnp)>("posix_spawnp");
  return fails(Kind::Process) ? errno
                              : real(process, program, actions, attributes,
                                     arguments, environment);
}

//===----------------------------------------------------------------------===//
// The names of programs with large files
//===----------------------------------------------------------------------===//

#define TARPON_ALIAS(name, of)                                                 \
  extern "C" __attribute__((alias(#of))) decltype(of) name

TARPON_ALIAS(open64, open);
TARPON_ALIAS(openat64, openat);
TARPON_ALIAS(fopen64, fopen);
TARPON_ALIAS(pread64, pread);
TARPON_ALIAS(pwrite64, pwrite);
TARPON_ALIAS(ftruncate64, ftruncate);
TARPON_ALIAS(mmap64, mmap);
