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
#include <sstream>
#include <string>
#include <vector>

namespace fake {

/// "HIP" or "CUDA"; the stand-in defines it.
extern const char *const kPrefix;

inline const char *getSetting(const char *name) {
  return std::getenv(("FAKE_" + std::string(kPrefix) + "_" + name).c_str());
}

inline int record(const std::string &function, const std::string &text = "") {
  if (const char *path = getSetting("LOG"))
    if (FILE *file = std::fopen(path, "a")) {
      std::fprintf(file, "%s%s%s\n", function.c_str(), text.empty() ? "" : " ",
                   text.c_str());
      std::fclose(file);
    }
  const char *fails = getSetting("FAIL");
  return fails && function == fails ? 2 : 0;
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
using Graph = std::vector<const Function *>;

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

inline void execute(const Function *function) {
  if (captured)
    captured->push_back(function);
  else
    now += getMilliseconds(*function);
}

inline void executeGraph(const void *graph) {
  for (const Function *function : *static_cast<const Graph *>(graph))
    execute(function);
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

/// The grid, the workgroup, the dynamic LDS and the bytes of the arguments;
/// none if the list of extras is not the library's, which ends with `end`.
inline std::string describeLaunch(std::initializer_list<unsigned> sizes,
                                  void **params, void **extra, void *end) {
  if (params || extra[0] != makeHandle(1) || extra[2] != makeHandle(2) ||
      extra[4] != end)
    return "";
  std::string text;
  for (unsigned value : sizes)
    text += std::to_string(value) + " ";
  return text + std::to_string(*static_cast<size_t *>(extra[3])) + " bytes";
}

} // namespace fake

#endif // TARPON_TEST_UNIT_TARGETS_GPU_FAKEGPULIBRARY_H
