//===- Scheduler.cpp - Runs the waves of all workgroups -------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Each wave of a workgroup runs until it waits at a barrier or has finished;
// when all of them have stopped, they must have stopped at the same barrier, or
// be finished.
//
//===----------------------------------------------------------------------===//

#include "Wave.h"

#include <algorithm>
#include <numeric>
#include <random>

using namespace tarpon;
using namespace tarpon::emulator;
using runtime::Error;
using runtime::Result;

std::string emulator::describeSite(const Program &program, uint32_t index) {
  const Site &site = program.sites[index];
  std::string text = "'" + site.op + "'";
  return site.location.empty() ? text : text + " at " + site.location;
}

std::string emulator::describeWorkgroup(const Workgroup &group) {
  const int64_t *grid = group.machine.arguments.grid;
  if (grid[1] == 1 && grid[2] == 1)
    return "workgroup " + std::to_string(group.id[0]);
  return "workgroup (" + std::to_string(group.id[0]) + ", " +
         std::to_string(group.id[1]) + ", " + std::to_string(group.id[2]) + ")";
}

void Wave::fail(const Instr &instr, int lane, const std::string &message) {
  state = State::Failed;
  Machine &machine = group->machine;
  if (!machine.error.empty())
    return;
  machine.error = "kernel " + machine.program.name + ": " +
                  describeWorkgroup(*group) + ", wave " + std::to_string(index);
  if (lane >= 0)
    machine.error += ", lane " + std::to_string(lane);
  machine.error +=
      ": " + describeSite(machine.program, instr.site) + " " + message;
}

void emulator::runWave(Wave &wave) {
  wave.state = Wave::State::Running;
  const Program &program = wave.group->machine.program;
  const Instr *code = program.code.data();
  uint64_t limit = program.options.maxInstructions;
  while (wave.state == Wave::State::Running) {
    const Instr &instr = code[wave.pc++];
    if (++wave.steps > limit)
      return wave.fail(instr, -1,
                       "is executed after the limit of " +
                           std::to_string(limit) +
                           " instructions: the kernel seems to loop for ever");
    instr.run(wave, instr);
  }
}

namespace {

/// The order of waves or workgroups: by their numbers, or shuffled by a seed.
class Order {
public:
  explicit Order(uint64_t seed) : shuffled(seed != 0), random(seed) {}

  void reset(std::vector<uint32_t> &indices, size_t count) {
    indices.resize(count);
    std::iota(indices.begin(), indices.end(), 0);
    // The result of std::shuffle depends on the library.
    if (shuffled)
      for (size_t i = count; i > 1; --i)
        std::swap(indices[i - 1], indices[random() % i]);
  }

private:
  bool shuffled;
  std::mt19937_64 random;
};

class Launcher {
public:
  Launcher(const Program &program, const EmulatedLaunch &launch)
      : machine{program, launch, {}}, order(program.options.seed) {}

  Result<EmulationReport> run();

private:
  runtime::Status check() const;
  runtime::Status addBuffers();
  void addShadow(Buffer &buffer, uint32_t granule);
  void makeWaves();
  void setArguments(Wave &wave);
  void runGroup(Workgroup &group);
  bool runToBarrier(Workgroup &group);
  bool checkBarrier(Workgroup &group);

  Machine machine;
  Order order;
  std::vector<Wave> waves;
  std::vector<std::unique_ptr<uint8_t[]>> frames;
  std::vector<uint8_t> lds;
  std::vector<uint32_t> waveOrder;
  /// The number of each argument's buffer, or 0.
  std::vector<unsigned> bufferOf;
};

} // namespace

static std::string describeArgument(size_t index) {
  return "argument " + std::to_string(index);
}

runtime::Status Launcher::check() const {
  const Program &program = machine.program;
  const EmulatedLaunch &launch = machine.arguments;
  std::string kernel = "kernel " + program.name;
  for (int64_t size : launch.grid)
    if (size < 1)
      return Error{kernel + " is launched with an empty grid"};
  int64_t threads = 1;
  for (int i = 0; i < 3; ++i) {
    threads *= launch.block[i];
    if (launch.block[i] < 1 || threads > 1024)
      return Error{kernel + " is launched with a block that has not between 1 "
                            "and 1024 threads"};
    if (program.knownBlock[i] && program.knownBlock[i] != launch.block[i])
      return Error{kernel + " is launched with a block of " +
                   std::to_string(launch.block[i]) + " in dimension " +
                   std::to_string(i) + ", and its known_block_size has " +
                   std::to_string(program.knownBlock[i])};
  }
  if (launch.arguments.size() != program.arguments.size())
    return Error{kernel + " takes " + std::to_string(program.arguments.size()) +
                 " arguments, and is launched with " +
                 std::to_string(launch.arguments.size())};
  for (size_t i = 0; i < launch.arguments.size(); ++i) {
    size_t kind = launch.arguments[i].index();
    bool matches = kind == 0   ? program.isPointer[i]
                   : kind == 1 ? program.arguments[i].elem == Elem::I32
                   : kind == 2 ? program.arguments[i].elem == Elem::I64
                               : program.arguments[i].elem == Elem::F32;
    if (!matches || (kind != 0 && program.isPointer[i]))
      return Error{kernel + " is launched with another type of " +
                   describeArgument(i) + " than it has"};
  }
  return runtime::success();
}

void Launcher::addShadow(Buffer &buffer, uint32_t granule) {
  if (!machine.program.options.checkMemory)
    return;
  buffer.granuleShift = std::countr_zero(granule);
  buffer.shadow.allocate((buffer.bytes >> buffer.granuleShift) + 1);
}

runtime::Status Launcher::addBuffers() {
  const Program &program = machine.program;
  machine.buffers.emplace_back();
  lds.resize(program.ldsBytes);
  for (const LdsGlobal &global : program.lds) {
    Buffer &buffer = machine.buffers.emplace_back();
    buffer.data = lds.data() + global.offset;
    buffer.bytes = global.bytes;
    buffer.lds = true;
    buffer.name = "LDS @" + global.name;
    addShadow(buffer, program.ldsGranule);
  }
  const auto &arguments = machine.arguments.arguments;
  size_t first = machine.buffers.size();
  bufferOf.assign(arguments.size(), 0);
  for (size_t i = 0; i < arguments.size(); ++i) {
    const auto *argument = std::get_if<EmulatedBuffer>(&arguments[i]);
    if (!argument)
      continue;
    auto *data = static_cast<uint8_t *>(argument->data);
    for (size_t other = first; other < machine.buffers.size(); ++other) {
      const Buffer &buffer = machine.buffers[other];
      if (buffer.data == data && buffer.bytes == argument->bytes)
        bufferOf[i] = other;
      else if (data < buffer.data + buffer.bytes &&
               buffer.data < data + argument->bytes)
        return Error{"kernel " + program.name + " is launched with " +
                     describeArgument(i) + ", which overlaps " + buffer.name +
                     ": give both as one buffer and offsets"};
    }
    if (bufferOf[i])
      continue;
    bufferOf[i] = machine.buffers.size();
    Buffer &buffer = machine.buffers.emplace_back();
    buffer.data = data;
    buffer.bytes = argument->bytes;
    buffer.uninitialized = argument->uninitialized;
    buffer.name = describeArgument(i);
    addShadow(buffer, program.globalGranule);
  }
  return runtime::success();
}

void Launcher::makeWaves() {
  const Program &program = machine.program;
  const int64_t *block = machine.arguments.block;
  unsigned lanes = program.options.waveSize;
  int64_t threads = block[0] * block[1] * block[2];
  size_t count = (threads + lanes - 1) / lanes;
  waves.resize(count);
  for (size_t i = 0; i < count; ++i) {
    Wave &wave = waves[i];
    frames.emplace_back(new uint8_t[program.frameBytes + 64]());
    uint8_t *frame = frames.back().get();
    wave.frame = frame + (-reinterpret_cast<uintptr_t>(frame) & 63);
    wave.lanes = lanes;
    wave.index = i;
    for (unsigned lane = 0; lane < lanes; ++lane) {
      int64_t thread = i * lanes + lane;
      if (thread < threads)
        wave.launchMask |= uint64_t(1) << lane;
      wave.threadIds[0].push_back(thread % block[0]);
      wave.threadIds[1].push_back(thread / block[0] % block[1]);
      wave.threadIds[2].push_back(thread / (block[0] * block[1]));
    }
    for (const Constant &constant : program.constants)
      for (unsigned lane = 0; lane < lanes; ++lane)
        std::memcpy(wave.frame + constant.offset + lane * constant.elemBytes,
                    &constant.bits, constant.elemBytes);
  }
}

void Launcher::setArguments(Wave &wave) {
  const auto &arguments = machine.arguments.arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    uint64_t bits = 0;
    if (const auto *buffer = std::get_if<EmulatedBuffer>(&arguments[i]))
      bits = makePointer(bufferOf[i], buffer->offset);
    else if (const auto *value = std::get_if<int32_t>(&arguments[i]))
      std::memcpy(&bits, value, 4);
    else if (const auto *value = std::get_if<int64_t>(&arguments[i]))
      std::memcpy(&bits, value, 8);
    else
      std::memcpy(&bits, &std::get<float>(arguments[i]), 4);
    const Reg &reg = machine.program.arguments[i];
    unsigned bytes = elemBytes(reg.elem);
    for (unsigned lane = 0; lane < wave.lanes; ++lane)
      std::memcpy(wave.frame + reg.offset + lane * bytes, &bits, bytes);
  }
}

/// Runs all waves to their next barrier. Returns false if all have finished, or
/// one has failed.
bool Launcher::runToBarrier(Workgroup &group) {
  order.reset(waveOrder, waves.size());
  bool waiting = false;
  for (uint32_t index : waveOrder) {
    Wave &wave = waves[index];
    if (wave.state == Wave::State::Finished)
      continue;
    runWave(wave);
    if (wave.state == Wave::State::Failed)
      return false;
    waiting |= wave.state == Wave::State::AtBarrier;
  }
  return waiting && checkBarrier(group);
}

/// Checks that all waves wait at the same op.
bool Launcher::checkBarrier(Workgroup &group) {
  auto waiting = std::find_if(waves.begin(), waves.end(), [](const Wave &wave) {
    return wave.state == Wave::State::AtBarrier;
  });
  for (Wave &wave : waves) {
    if (wave.state == Wave::State::Finished) {
      waiting->fail(*waiting->barrier, -1,
                    "is never reached by wave " + std::to_string(wave.index) +
                        ", which has finished");
      return false;
    }
    if (wave.barrier != waiting->barrier) {
      waiting->fail(*waiting->barrier, -1,
                    "waits for wave " + std::to_string(wave.index) +
                        ", which waits at " +
                        describeSite(machine.program, wave.barrier->site));
      return false;
    }
  }
  ++machine.report.barriers;
  group.ldsEpoch = ++machine.epoch;
  // A barrier with imm 0 does not order global memory.
  if (waiting->barrier->imm)
    group.globalEpoch = group.ldsEpoch;
  return true;
}

void Launcher::runGroup(Workgroup &group) {
  group.start = group.ldsEpoch = group.globalEpoch = ++machine.epoch;
  group.proxyFences.resize(waves.size());
  for (Wave &wave : waves) {
    wave.group = &group;
    wave.state = Wave::State::Running;
    wave.pc = 0;
    wave.exec = wave.launchMask;
    wave.masks.clear();
    wave.pending.clear();
    wave.pendingGroups.clear();
    wave.held = {};
    wave.heldGroups.clear();
    wave.accumulators.assign(machine.program.accumulators, {});
    wave.registerFence = 0;
    wave.release = {};
    wave.seen.clear();
    wave.acquired.clear();
    wave.steps = 0;
    wave.matrixInstructions = 0;
  }
  while (runToBarrier(group)) {
  }
  ++machine.report.workgroups;
  for (const Wave &wave : waves) {
    ++machine.report.waves;
    machine.report.instructions += wave.steps;
    machine.report.matrixInstructions += wave.matrixInstructions;
  }
}

Result<EmulationReport> Launcher::run() {
  if (runtime::Status status = check(); !status)
    return status.error();
  if (runtime::Status status = addBuffers(); !status)
    return status.error();
  makeWaves();
  for (Wave &wave : waves)
    setArguments(wave);
  const int64_t *grid = machine.arguments.grid;
  std::vector<uint32_t> groups;
  order.reset(groups, grid[0] * grid[1] * grid[2]);
  for (uint32_t index : groups) {
    Workgroup group{machine};
    group.id[0] = index % grid[0];
    group.id[1] = index / grid[0] % grid[1];
    group.id[2] = index / (grid[0] * grid[1]);
    runGroup(group);
    if (!machine.error.empty())
      return Error{machine.error};
  }
  return machine.report;
}

Result<EmulationReport> emulator::runLaunch(const Program &program,
                                            const EmulatedLaunch &launch) {
  return Launcher(program, launch).run();
}
