//===- Candidates.cpp - Packages that can be tuned --------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Candidates.h"

#include "tarpon/Runtime/KernelABI.h"

#include <algorithm>
#include <functional>
#include <string_view>

namespace tarpon::runtime {

static int64_t alignUp(int64_t offset) {
  return (offset + kBufferAlignment - 1) / kBufferAlignment * kBufferAlignment;
}

bool hasCandidates(const Package &package) {
  return std::any_of(
      package.layers.begin(), package.layers.end(),
      [](const Layer &layer) { return !layer.candidates.empty(); });
}

std::optional<size_t> findChosen(const Layer &layer) {
  for (size_t i = 0; i < layer.candidates.size(); ++i)
    if (layer.candidates[i].solver == layer.solver &&
        layer.candidates[i].config == layer.config)
      return i;
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

static BufferRef bind(const BufferRef &buffer, const Layer &layer,
                      const Candidate &candidate) {
  switch (buffer.space) {
  case BufferSpace::Constant:
    return buffer;
  case BufferSpace::Arena:
    return {BufferSpace::Arena, candidate.workspaceOffset + buffer.offset};
  case BufferSpace::Input:
    return layer.operands[static_cast<size_t>(buffer.offset)];
  case BufferSpace::Output:
    return layer.results[static_cast<size_t>(buffer.offset)];
  }
  return buffer;
}

void chooseCandidate(Package &package, size_t layerIndex,
                     size_t candidateIndex) {
  Layer &layer = package.layers[layerIndex];
  const Candidate &candidate = layer.candidates[candidateIndex];
  layer.solver = candidate.solver;
  layer.config = candidate.config;
  layer.source = "measured";
  layer.launches = candidate.launches;
  for (Launch &launch : layer.launches)
    for (BufferRef &buffer : launch.buffers)
      buffer = bind(buffer, layer, candidate);
  if (candidate.workspaceBytes > 0)
    package.arenaBytes = std::max(
        package.arenaBytes, candidate.workspaceOffset +
                                candidate.workspaceBytes + kBufferTailPadding);
}

//===----------------------------------------------------------------------===//
// Collecting
//===----------------------------------------------------------------------===//

/// Finds the end of each constant, by its offset. Lengths are not stored, but
/// launches refer to the first bytes of all constants.
static std::map<int64_t, int64_t> findConstants(const Package &package) {
  std::map<int64_t, int64_t> ends;
  auto add = [&](const std::vector<Launch> &launches) {
    for (const Launch &launch : launches)
      for (const BufferRef &buffer : launch.buffers)
        if (buffer.space == BufferSpace::Constant)
          ends[buffer.offset] = 0;
  };
  for (const Layer &layer : package.layers) {
    add(layer.launches);
    for (const Candidate &candidate : layer.candidates)
      add(candidate.launches);
  }
  auto end = static_cast<int64_t>(package.constants.size());
  for (auto constant = ends.rbegin(); constant != ends.rend(); ++constant) {
    constant->second = end;
    end = constant->first;
  }
  return ends;
}

/// The bytes up to the zeros that align the next constant.
static std::string_view view(const AlignedBytes &bytes, int64_t offset,
                             int64_t end) {
  std::string_view text(bytes.data() + offset,
                        static_cast<size_t>(end - offset));
  size_t last = text.find_last_not_of('\0');
  return text.substr(0, last == std::string_view::npos ? 0 : last + 1);
}

LaunchCollector::LaunchCollector(Package &to) : to(to) {
  // The last one is padded as if another followed.
  to.constants.resize(
      static_cast<size_t>(alignUp(static_cast<int64_t>(to.constants.size()))));
  for (auto [offset, end] : findConstants(to))
    remember(offset, end - offset);
  for (const CodeObjectRange &object : to.codeObjects)
    symbols.insert(object.symbol);
}

void LaunchCollector::remember(int64_t offset, int64_t bytes) {
  std::string_view text = view(to.constants, offset, offset + bytes);
  known.emplace(std::hash<std::string_view>()(text), Range{offset, bytes});
}

void LaunchCollector::setSource(const Package &package) {
  from = &package;
  ends = findConstants(package);
  copied.clear();
}

int64_t LaunchCollector::copyConstant(int64_t offset) {
  auto [entry, isNew] = copied.try_emplace(offset, 0);
  if (!isNew)
    return entry->second;
  int64_t bytes = ends.at(offset) - offset;
  std::string_view text = view(from->constants, offset, offset + bytes);
  auto [first, last] = known.equal_range(std::hash<std::string_view>()(text));
  for (auto it = first; it != last; ++it) {
    const Range &range = it->second;
    // Zeros at the end may be the constant's own.
    if (range.bytes >= bytes &&
        view(to.constants, range.offset, range.offset + range.bytes) == text)
      return entry->second = range.offset;
  }
  int64_t at = alignUp(static_cast<int64_t>(to.constants.size()));
  to.constants.resize(static_cast<size_t>(at));
  to.constants.insert(to.constants.end(), from->constants.begin() + offset,
                      from->constants.begin() + offset + bytes);
  remember(at, bytes);
  return entry->second = at;
}

void LaunchCollector::copyKernel(const std::string &symbol) {
  if (!symbols.insert(symbol).second)
    return;
  for (CodeObjectRange object : from->codeObjects) {
    if (object.symbol != symbol)
      continue;
    auto begin = from->kernels.begin() + object.offset;
    object.offset = alignUp(static_cast<int64_t>(to.kernels.size()));
    to.kernels.resize(static_cast<size_t>(object.offset));
    to.kernels.insert(to.kernels.end(), begin, begin + object.bytes);
    to.codeObjects.push_back(std::move(object));
    return;
  }
}

Launch LaunchCollector::copy(Launch launch) {
  if (from == &to)
    return launch;
  copyKernel(launch.symbol);
  for (BufferRef &buffer : launch.buffers)
    if (buffer.space == BufferSpace::Constant)
      buffer.offset = copyConstant(buffer.offset);
  return launch;
}

//===----------------------------------------------------------------------===//
// Parts of a package
//===----------------------------------------------------------------------===//

/// Copies the target and the model's description.
static Package copyHead(const Package &package) {
  Package copy;
  copy.modelName = package.modelName;
  copy.modelSha256 = package.modelSha256;
  copy.arch = package.arch;
  copy.chip = package.chip;
  copy.kernelVersion = package.kernelVersion;
  copy.cpuFeatures = package.cpuFeatures;
  copy.dtype = package.dtype;
  copy.layout = package.layout;
  copy.fusion = package.fusion;
  return copy;
}

/// Copies a layer without its launches and candidates.
static Layer copyHead(const Layer &layer) {
  return {layer.name,  layer.problem, layer.solver, layer.config, layer.source,
          layer.flops, layer.bytes,   {},           {},           {},
          {}};
}

Package dropCandidates(const Package &package) {
  Package copy = copyHead(package);
  copy.inputs = package.inputs;
  copy.outputs = package.outputs;
  copy.arenaBytes = package.arenaBytes;
  LaunchCollector collector(copy);
  collector.setSource(package);
  for (const Layer &layer : package.layers) {
    copy.layers.push_back(copyHead(layer));
    for (const Launch &launch : layer.launches)
      copy.layers.back().launches.push_back(collector.copy(launch));
  }
  return copy;
}

Package extractCandidate(const Package &package, const Layer &layer,
                         const Candidate &candidate,
                         std::vector<TensorInfo> inputs,
                         std::vector<TensorInfo> outputs) {
  Package copy = copyHead(package);
  copy.inputs = std::move(inputs);
  copy.outputs = std::move(outputs);
  copy.arenaBytes = candidate.workspaceBytes;
  LaunchCollector collector(copy);
  collector.setSource(package);
  Layer &only = copy.layers.emplace_back(copyHead(layer));
  only.solver = candidate.solver;
  only.config = candidate.config;
  for (const Launch &launch : candidate.launches)
    only.launches.push_back(collector.copy(launch));
  return copy;
}

} // namespace tarpon::runtime
