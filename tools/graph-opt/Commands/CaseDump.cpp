//===- CaseDump.cpp - Launches for another emulator -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "CaseDump.h"

#include "tarpon/Autotune/Search/Policy.h"
#include "tarpon/Runtime/File.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

#include <nlohmann/json.hpp>

#include <cmath>
#include <cstring>
#include <filesystem>
#include <map>
#include <set>

namespace tarpon {

using namespace runtime;
using llvm::formatv;
using nlohmann::ordered_json;

namespace {

/// The memory that arguments of launches point to, and its contents.
struct Region {
  std::vector<char> bytes;
  /// True if the host or a launch has written it.
  bool isWritten = false;
};

/// Identifies a region: its space and offset, as in the launches.
using RegionKey = std::pair<BufferSpace, int64_t>;

class CaseWriter {
public:
  CaseWriter(std::string directory, const CaseSource &solution)
      : directory(std::move(directory)), solution(solution),
        device(solution.device) {}

  Result<int> write();

private:
  Status prepareDirectory() const;
  void makeRegions();
  int64_t getEnd(const RegionKey &key) const;
  Region makeRegion(const RegionKey &key) const;
  Status writeLaunch(const Launch &launch, int number);
  Status emulate(const Launch &launch,
                 std::map<RegionKey, std::vector<char>> &after);
  ordered_json describeArguments(const Launch &launch,
                                 const std::set<RegionKey> &written) const;
  ordered_json describeOutput(const RegionKey &key, bool isLast) const;
  Status writeCase(const Launch &launch, const std::string &folder,
                   const std::set<RegionKey> &written, int number) const;
  const std::vector<char> &getExpected(const RegionKey &key,
                                       std::vector<char> &storage,
                                       bool isLast) const;
  bool isLastWriter(const RegionKey &key, int number) const;

  std::string directory;
  const CaseSource &solution;
  Device &device;
  std::vector<const Launch *> launches;
  std::map<RegionKey, Region> regions;
};

} // namespace

static std::string getName(const RegionKey &key) {
  static constexpr const char *kSpaces[] = {"constant", "workspace", "input",
                                            "output"};
  return formatv("{0}-{1}", kSpaces[static_cast<int>(key.first)], key.second);
}

static RegionKey getKey(const BufferRef &buffer) {
  return {buffer.space, buffer.offset};
}

namespace {
/// A chip that the other emulator knows, and its name of the instructions.
struct EmulatedChip {
  llvm::StringLiteral chip, arch;
};
} // namespace

static constexpr EmulatedChip kEmulatedChips[] = {
    {"gfx942", "cdna"}, {"gfx1100", "rdna3"}, {"gfx1201", "rdna4"}};

/// Finds the chip of a package's target ("gfx942:cu=304"), or returns null.
static const EmulatedChip *findEmulatedChip(llvm::StringRef target) {
  for (const EmulatedChip &known : kEmulatedChips)
    if (known.chip == target.split(':').first)
      return &known;
  return nullptr;
}

static const CodeObjectRange &findCode(const Package &package,
                                       const std::string &symbol) {
  return *llvm::find_if(package.codeObjects, [&](const CodeObjectRange &code) {
    return code.symbol == symbol;
  });
}

static Status writeBytes(const std::string &path, std::span<const char> bytes) {
  return writeFileAtomically(path, {bytes});
}

static Status writeText(const std::string &path, const std::string &text) {
  return writeFileAtomically(path, {std::span<const char>(text)});
}

//===----------------------------------------------------------------------===//
// Regions
//===----------------------------------------------------------------------===//

/// The end of a region's memory: the start of the next region.
int64_t CaseWriter::getEnd(const RegionKey &key) const {
  auto [space, offset] = key;
  const Package &package = solution.ir;
  if (space == BufferSpace::Input)
    return package.inputs[offset].numBytes();
  if (space == BufferSpace::Output)
    return package.outputs[offset].numBytes();
  auto next = regions.upper_bound(key);
  if (next != regions.end() && next->first.first == space)
    return next->first.second;
  return space == BufferSpace::Constant
             ? static_cast<int64_t>(package.constants.size())
             : package.arenaBytes;
}

Region CaseWriter::makeRegion(const RegionKey &key) const {
  auto [space, offset] = key;
  bool isWhole = space == BufferSpace::Input || space == BufferSpace::Output;
  Region region;
  region.bytes.assign(getEnd(key) - (isWhole ? 0 : offset), '\xff');
  if (space == BufferSpace::Constant)
    std::memcpy(region.bytes.data(), solution.ir.constants.data() + offset,
                region.bytes.size());
  if (space == BufferSpace::Input)
    std::memcpy(region.bytes.data(), solution.inputs[offset].data.data(),
                region.bytes.size());
  region.isWritten =
      space == BufferSpace::Constant || space == BufferSpace::Input;
  return region;
}

void CaseWriter::makeRegions() {
  for (const Layer &layer : solution.ir.layers)
    for (const Launch &launch : layer.launches)
      if (launch.tasks > 0)
        launches.push_back(&launch);
  for (const Launch *launch : launches)
    for (const BufferRef &buffer : launch->buffers)
      regions[getKey(buffer)];
  for (auto &[key, region] : regions)
    region = makeRegion(key);
}

//===----------------------------------------------------------------------===//
// Running
//===----------------------------------------------------------------------===//

/// Runs one launch on separate memory for every region, and returns its
/// contents afterwards.
Status CaseWriter::emulate(const Launch &launch,
                           std::map<RegionKey, std::vector<char>> &after) {
  const Package &package = solution.ir;
  const CodeObjectRange &code = findCode(package, launch.symbol);
  Result<std::unique_ptr<DeviceKernel>> kernel = device.loadKernel(
      std::span(package.kernels).subspan(code.offset, code.bytes),
      launch.symbol);
  if (!kernel)
    return kernel.error();
  std::map<RegionKey, std::unique_ptr<DeviceMemory>> memories;
  std::vector<void *> buffers;
  for (const BufferRef &buffer : launch.buffers) {
    const std::vector<char> &bytes = regions[getKey(buffer)].bytes;
    std::unique_ptr<DeviceMemory> &memory = memories[getKey(buffer)];
    if (!memory) {
      auto allocated = device.allocate(static_cast<int64_t>(bytes.size()));
      if (!allocated)
        return allocated.error();
      memory = std::move(*allocated);
      if (Status status = device.copyIn(*memory, 0, bytes); !status)
        return status;
    }
    buffers.push_back(memory->address());
  }
  if (Status status = device.launch(
          **kernel, {buffers, launch.params, launch.tasks, code.workgroup,
                     launch.scratchBytes, code.ldsBytes});
      !status)
    return status;
  for (auto &[key, memory] : memories) {
    std::vector<char> &bytes = after[key];
    bytes.resize(regions[key].bytes.size());
    if (Status status = device.copyOut(bytes, *memory, 0); !status)
      return status;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Files
//===----------------------------------------------------------------------===//

ordered_json
CaseWriter::describeArguments(const Launch &launch,
                              const std::set<RegionKey> &written) const {
  ordered_json arguments = ordered_json::array();
  for (const BufferRef &buffer : launch.buffers) {
    RegionKey key = getKey(buffer);
    const Region &region = regions.at(key);
    ordered_json argument;
    if (region.isWritten)
      argument["buffer"] = getName(key) + ".bin";
    else
      argument["buffer_bytes"] = region.bytes.size();
    if (written.contains(key))
      argument["out"] = getName(key) + ".out.bin";
    arguments.push_back(std::move(argument));
  }
  // Floats are written as their bits.
  for (int64_t param : launch.params)
    arguments.push_back(
        {{"i32", static_cast<int32_t>(static_cast<uint32_t>(param))}});
  return arguments;
}

bool CaseWriter::isLastWriter(const RegionKey &key, int number) const {
  return key.first == BufferSpace::Output &&
         llvm::none_of(
             llvm::drop_begin(launches, number + 1), [&](const Launch *launch) {
               return llvm::any_of(launch->buffers, [&](const BufferRef &b) {
                 return getKey(b) == key;
               });
             });
}

/// Describes an expected output. A result of the problem is compared with the
/// reference, within a tolerance; the input of another launch is not checked,
/// because only the solver knows its meaning.
ordered_json CaseWriter::describeOutput(const RegionKey &key,
                                        bool isLast) const {
  std::string name = getName(key);
  ordered_json output = {{"out", name + ".out.bin"},
                         {"expected", name + ".expected.bin"},
                         {"source", isLast ? "reference" : "emulated"}};
  if (!isLast)
    return output;
  const TensorInfo &info = solution.ir.outputs[key.second];
  const HostTensor &tensor = solution.expected[key.second];
  double scale = 0;
  for (int64_t i = 0, e = tensor.numElements(); i < e; ++i) {
    double value = std::fabs(loadAsDouble(
        tensor.dtype, tensor.data.data() + i * dtypeBytes(tensor.dtype)));
    if (std::isfinite(value))
      scale = std::max(scale, value);
  }
  output["dtype"] = dtypeName(tensor.dtype);
  output["tolerance"] = getTolerance(solution.problem, scale, key.second);
  if (info.usedPerRow > 0) {
    output["row"] = info.shape.back();
    output["used_per_row"] = info.usedPerRow;
  }
  return output;
}

Status CaseWriter::writeCase(const Launch &launch, const std::string &folder,
                             const std::set<RegionKey> &written,
                             int number) const {
  const CodeObjectRange &code = findCode(solution.code, launch.symbol);
  if (Status status = writeBytes(
          folder + "/kernel.hsaco",
          std::span(solution.code.kernels).subspan(code.offset, code.bytes));
      !status)
    return status;
  ordered_json regionNames = ordered_json::array();
  for (const BufferRef &buffer : launch.buffers)
    regionNames.push_back(getName(getKey(buffer)));
  ordered_json outputs = ordered_json::array();
  for (const RegionKey &key : written)
    outputs.push_back(describeOutput(key, isLastWriter(key, number)));
  const Layer &layer = solution.code.layers.front();
  ordered_json description = {
      {"problem", layer.problem},
      {"solver", layer.solver},
      {"config", layer.config},
      {"target", solution.code.chip},
      {"arch", findEmulatedChip(solution.code.chip)->arch.str()},
      {"kernel", launch.symbol},
      {"grid", {launch.tasks, 1, 1}},
      {"block", {code.workgroup, 1, 1}},
      {"code_object", "kernel.hsaco"},
      {"args", "ARGS.json"},
      {"regions", regionNames},
      {"outputs", outputs}};
  if (Status status = writeText(folder + "/ARGS.json",
                                describeArguments(launch, written).dump(1));
      !status)
    return status;
  return writeText(folder + "/case.json", description.dump(1) + "\n");
}

const std::vector<char> &CaseWriter::getExpected(const RegionKey &key,
                                                 std::vector<char> &storage,
                                                 bool isLast) const {
  if (!isLast)
    return storage;
  const AlignedBuffer &data = solution.expected[key.second].data;
  storage.assign(data.data(), data.data() + data.size());
  return storage;
}

Status CaseWriter::writeLaunch(const Launch &launch, int number) {
  std::string folder = formatv("{0}/launch-{1}", directory, number);
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    return Error{"cannot make '" + folder + "': " + error.message()};
  std::map<RegionKey, std::vector<char>> after;
  if (Status status = emulate(launch, after); !status)
    return status;
  std::set<RegionKey> written;
  for (auto &[key, bytes] : after) {
    const Region &region = regions[key];
    if (bytes != region.bytes || key.first == BufferSpace::Output)
      written.insert(key);
    if (region.isWritten)
      if (Status status =
              writeBytes(folder + "/" + getName(key) + ".bin", region.bytes);
          !status)
        return status;
  }
  if (Status status = writeCase(launch, folder, written, number); !status)
    return status;
  for (const RegionKey &key : written) {
    std::vector<char> bytes = after[key];
    if (Status status =
            writeBytes(folder + "/" + getName(key) + ".expected.bin",
                       getExpected(key, bytes, isLastWriter(key, number)));
        !status)
      return status;
    regions[key] = {std::move(after[key]), /*isWritten=*/true};
  }
  return success();
}

Status CaseWriter::prepareDirectory() const {
  std::error_code error;
  std::filesystem::create_directories(directory, error);
  if (error)
    return Error{"cannot make the folder '" + directory +
                 "': " + error.message()};
  // Files of an earlier dump would be taken for launches of this solution.
  if (!std::filesystem::is_empty(directory, error) || error)
    return Error{"the folder '" + directory + "' is not empty"};
  return success();
}

Result<int> CaseWriter::write() {
  if (!findEmulatedChip(solution.code.chip)) {
    std::vector<std::string> known;
    for (const EmulatedChip &chip : kEmulatedChips)
      known.push_back(chip.chip.str());
    return Error{"no instruction emulator knows " +
                 llvm::StringRef(solution.code.chip).split(':').first.str() +
                 ", expected one of " + llvm::join(known, ", ")};
  }
  if (Status status = prepareDirectory(); !status)
    return status.error();
  makeRegions();
  int number = 0;
  for (const Launch *launch : launches)
    if (Status status = writeLaunch(*launch, number++); !status)
      return status.error();
  return number;
}

Result<int> dumpCases(const std::string &directory,
                      const CaseSource &solution) {
  return CaseWriter(directory, solution).write();
}

} // namespace tarpon
