//===- FakeHip.cpp - A stand-in for libamdhip64 that records its calls ----===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Has the functions that Tarpon calls, with the signatures of HIP. GPU memory
// is host memory, zeros at first; a launch runs nothing. Each call is a line of
// the file $FAKE_HIP_LOG. $FAKE_HIP_GPUS says how many GPUs there are,
// $FAKE_HIP_FAIL which function fails, with error 2. $FAKE_HIP_TIMES says how
// long kernels take: "conv=2,pool=0.5" are the milliseconds of those whose
// names hold that text, the first that fits; without it, everything takes 1.5.
//
//===----------------------------------------------------------------------===//

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <sstream>
#include <string>
#include <vector>

static int record(const std::string &function, const std::string &text = "") {
  if (const char *path = std::getenv("FAKE_HIP_LOG"))
    if (FILE *file = std::fopen(path, "a")) {
      std::fprintf(file, "%s%s%s\n", function.c_str(), text.empty() ? "" : " ",
                   text.c_str());
      std::fclose(file);
    }
  const char *fails = std::getenv("FAKE_HIP_FAIL");
  return fails && function == fails ? 2 : 0;
}

static int getCount() {
  const char *count = std::getenv("FAKE_HIP_GPUS");
  return count ? static_cast<int>(std::strtol(count, nullptr, 10)) : 1;
}

static void *makeHandle(uintptr_t value) {
  // Nobody reads what a handle points to.
  return reinterpret_cast<void *>(value); // NOLINT(performance-no-int-to-ptr)
}

/// A kernel, by its name.
using Function = std::string;
using Graph = std::vector<const Function *>;

/// Handles are the addresses of these.
static std::deque<Function> functions;
static std::deque<Graph> graphs;
static std::deque<double> events;

static Graph *captured = nullptr;
/// The stream's time, as far as kernels take some.
static double now = 0;

static double getMilliseconds(const Function &function) {
  const char *times = std::getenv("FAKE_HIP_TIMES");
  std::istringstream stream(times ? times : "");
  for (std::string entry; std::getline(stream, entry, ',');) {
    size_t equals = entry.find('=');
    if (function.find(entry.substr(0, equals)) != std::string::npos)
      return std::strtod(entry.c_str() + equals + 1, nullptr);
  }
  return 0;
}

static void execute(const Function *function) {
  if (captured)
    captured->push_back(function);
  else
    now += getMilliseconds(*function);
}

extern "C" {

int hipInit(unsigned) { return record("hipInit"); }
int hipRuntimeGetVersion(int *version) {
  *version = 60000000;
  return record("hipRuntimeGetVersion");
}
int hipGetDeviceCount(int *count) {
  *count = getCount();
  return *count == 0 ? 100 : record("hipGetDeviceCount");
}
int hipSetDevice(int index) {
  return record("hipSetDevice", std::to_string(index));
}
int hipDeviceGetAttribute(int *value, int attribute, int index) {
  // Compute units, and where the GPU is: at 0:c1+index:00.
  *value = attribute == 63   ? 304
           : attribute == 67 ? 0xc1 + index
           : attribute == 87 ? 64
                             : 0;
  return record("hipDeviceGetAttribute", std::to_string(attribute));
}
int hipDeviceGetName(char *name, int size, int) {
  std::snprintf(name, static_cast<size_t>(size), "AMD Instinct");
  return record("hipDeviceGetName");
}
int hipMalloc(void **pointer, size_t bytes) {
  *pointer = std::calloc(bytes, 1);
  return record("hipMalloc", std::to_string(bytes));
}
int hipFree(void *pointer) {
  std::free(pointer);
  return record("hipFree");
}
int hipMemcpyAsync(void *to, const void *from, size_t bytes, int kind, void *) {
  std::memcpy(to, from, bytes);
  return record("hipMemcpyAsync",
                std::to_string(bytes) + " " + std::to_string(kind));
}
int hipMemsetAsync(void *to, int value, size_t bytes, void *) {
  std::memset(to, value, bytes);
  return record("hipMemsetAsync", std::to_string(bytes));
}
int hipStreamCreate(void **stream) {
  *stream = makeHandle(1);
  return record("hipStreamCreate");
}
int hipStreamDestroy(void *) { return record("hipStreamDestroy"); }
int hipStreamSynchronize(void *) { return record("hipStreamSynchronize"); }
int hipEventCreate(void **event) {
  *event = &events.emplace_back(0);
  return record("hipEventCreate");
}
int hipEventDestroy(void *) { return record("hipEventDestroy"); }
int hipEventRecord(void *event, void *) {
  *static_cast<double *>(event) = now;
  return record("hipEventRecord");
}
int hipEventSynchronize(void *) { return record("hipEventSynchronize"); }
int hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  *milliseconds = 1.5F;
  if (std::getenv("FAKE_HIP_TIMES"))
    *milliseconds = static_cast<float>(*static_cast<double *>(stop) -
                                       *static_cast<double *>(start));
  return record("hipEventElapsedTime");
}
int hipModuleLoadData(void **module, const void *) {
  *module = makeHandle(3);
  return record("hipModuleLoadData");
}
int hipModuleUnload(void *) { return record("hipModuleUnload"); }
int hipModuleGetFunction(void **function, void *, const char *name) {
  *function = &functions.emplace_back(name);
  return record("hipModuleGetFunction", name);
}
int hipModuleLaunchKernel(void *function, unsigned x, unsigned y, unsigned z,
                          unsigned bx, unsigned by, unsigned bz,
                          unsigned shared, void *, void **params,
                          void **extra) {
  std::string text;
  for (unsigned value : {x, y, z, bx, by, bz, shared})
    text += std::to_string(value) + " ";
  // The arguments' bytes, as the list of extras has them.
  if (params || extra[0] != makeHandle(1) || extra[2] != makeHandle(2) ||
      extra[4] != makeHandle(3))
    return 1;
  text += std::to_string(*static_cast<size_t *>(extra[3])) + " bytes";
  execute(static_cast<const Function *>(function));
  return record("hipModuleLaunchKernel", text);
}
int hipStreamBeginCapture(void *, int mode) {
  captured = &graphs.emplace_back();
  return record("hipStreamBeginCapture", std::to_string(mode));
}
int hipStreamEndCapture(void *, void **graph) {
  *graph = captured;
  captured = nullptr;
  return record("hipStreamEndCapture");
}
int hipGraphInstantiate(void **exec, void *graph, void **, char *, size_t) {
  *exec = graph;
  return record("hipGraphInstantiate");
}
int hipGraphLaunch(void *exec, void *) {
  for (const Function *function : *static_cast<const Graph *>(exec))
    execute(function);
  return record("hipGraphLaunch");
}
int hipGraphDestroy(void *) { return record("hipGraphDestroy"); }
int hipGraphExecDestroy(void *) { return record("hipGraphExecDestroy"); }
const char *hipGetErrorString(int code) {
  return code == 2 ? "out of memory" : "unknown error";
}

} // extern "C"
