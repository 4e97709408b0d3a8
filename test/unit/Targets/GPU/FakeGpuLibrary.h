//===- FakeGpuLibrary.h - A vendor's library that records its calls -------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The part that the stand-ins for libamdhip64 and libcuda share; each includes
// it once. GPU memory is host memory, zeros at first; a launch runs nothing.
// Each call is a line of the file $FAKE_<kPrefix>_LOG. ..._GPUS says how many
// GPUs there are, ..._FAIL which function fails, with error 2. ..._TIMES says
// how long kernels take: "conv=2,pool=0.5" are the milliseconds of those whose
// names hold that text, the first that fits; without it, everything takes 1.5.
// ..._CRASH and ..._HANG are texts of kernels' names: after such a kernel, all
// calls fail with error 700, or waiting for the stream does not end. With
// ..._ZERO, a launch sets all of its buffers to zero.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_TEST_UNIT_TARGETS_GPU_FAKEGPULIBRARY_H
#define TARPON_TEST_UNIT_TARGETS_GPU_FAKEGPULIBRARY_H

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <initializer_list>
#include <iterator>
#include <map>
#include <sstream>
#include <string>
#include <thread>
#include <vector>

namespace fake {

/// "HIP" or "CUDA"; the stand-in defines it.
extern const char *const kPrefix;

inline const char *getSetting(const char *name) {
  return std::getenv(("FAKE_" + std::string(kPrefix) + "_" + name).c_str());
}

/// True since a kernel crashed or hangs.
inline bool isBroken = false, isStuck = false;

inline int record(const std::string &function, const std::string &text = "") {
  if (const char *path = getSetting("LOG"))
    if (FILE *file = std::fopen(path, "a")) {
      std::fprintf(file, "%s%s%s\n", function.c_str(), text.empty() ? "" : " ",
                   text.c_str());
      std::fclose(file);
    }
  const char *fails = getSetting("FAIL");
  return isBroken ? 700 : fails && function == fails ? 2 : 0;
}

inline int getGpuCount() {
  const char *count = getSetting("GPUS");
  return count ? static_cast<int>(std::strtol(count, nullptr, 10)) : 1;
}

inline void *makeHandle(uintptr_t value) {
  // Nobody reads what a handle points to.
  return reinterpret_cast<void *>(value); // NOLINT(performance-no-int-to-ptr)
}

/// A kernel, by its name.
using Function = std::string;
/// A launch: a kernel, and the bytes of its arguments.
struct Node {
  const Function *function;
  std::vector<char> arguments;
};
using Graph = std::vector<Node>;

/// Handles are the addresses of these.
inline std::deque<Function> functions;
inline std::deque<Graph> graphs;
inline std::deque<double> events;

inline Graph *captured = nullptr;
/// The stream's time, as far as kernels take some.
inline double now = 0;

inline double getMilliseconds(const Function &function) {
  const char *times = getSetting("TIMES");
  std::istringstream stream(times ? times : "");
  for (std::string entry; std::getline(stream, entry, ',');) {
    size_t equals = entry.find('=');
    if (function.find(entry.substr(0, equals)) != std::string::npos)
      return std::strtod(entry.c_str() + equals + 1, nullptr);
  }
  return 0;
}

/// The sizes of all buffers.
inline std::map<void *, size_t> buffers;

inline void *allocate(size_t bytes) {
  void *pointer = std::calloc(bytes, 1);
  buffers[pointer] = bytes;
  return pointer;
}

inline void release(void *pointer) {
  buffers.erase(pointer);
  std::free(pointer);
}

/// Buffers precede all other arguments. A slice begins within one.
inline void zeroBuffers(const std::vector<char> &arguments) {
  for (size_t at = 0; at + 8 <= arguments.size(); at += 8) {
    char *pointer = nullptr;
    std::memcpy(static_cast<void *>(&pointer), arguments.data() + at, 8);
    auto next = buffers.upper_bound(pointer);
    if (next == buffers.begin())
      return;
    auto [begin, size] = *std::prev(next);
    if (pointer >= static_cast<char *>(begin) + size)
      return;
    std::memset(begin, 0, size);
  }
}

inline bool isNamed(const Function &function, const char *setting) {
  const char *text = getSetting(setting);
  return text && *text && function.find(text) != std::string::npos;
}

inline void execute(const Node &node) {
  if (captured)
    return captured->push_back(node);
  now += getMilliseconds(*node.function);
  isBroken |= isNamed(*node.function, "CRASH");
  isStuck |= isNamed(*node.function, "HANG");
  if (getSetting("ZERO"))
    zeroBuffers(node.arguments);
}

inline void executeGraph(const void *graph) {
  for (const Node &node : *static_cast<const Graph *>(graph))
    execute(node);
}

/// Waits for the stream.
inline void wait() {
  while (isStuck)
    std::this_thread::yield();
}

inline void *beginCapture() { return captured = &graphs.emplace_back(); }

inline void *endCapture() {
  void *graph = captured;
  captured = nullptr;
  return graph;
}

inline float getElapsedTime(void *start, void *stop) {
  if (!getSetting("TIMES"))
    return 1.5F;
  return static_cast<float>(*static_cast<double *>(stop) -
                            *static_cast<double *>(start));
}

/// Returns the grid, the workgroup, the dynamic LDS and the bytes of the
/// arguments; none if the list of extras is not the library's, which ends with
/// `end`.
inline std::string launch(const void *function,
                          std::initializer_list<unsigned> sizes, void **params,
                          void **extra, void *end) {
  if (params || extra[0] != makeHandle(1) || extra[2] != makeHandle(2) ||
      extra[4] != end)
    return "";
  std::string text;
  for (unsigned value : sizes)
    text += std::to_string(value) + " ";
  size_t bytes = *static_cast<size_t *>(extra[3]);
  const char *arguments = static_cast<const char *>(extra[1]);
  execute({static_cast<const Function *>(function),
           std::vector<char>(arguments, arguments + bytes)});
  return text + std::to_string(bytes) + " bytes";
}

} // namespace fake

#endif // TARPON_TEST_UNIT_TARGETS_GPU_FAKEGPULIBRARY_H
