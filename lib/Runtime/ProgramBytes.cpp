//===- ProgramBytes.cpp - Programs as bytes ---------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "ProgramBytes.h"

#include <algorithm>
#include <array>
#include <bit>

namespace tarpon::runtime {

static_assert(std::endian::native == std::endian::little,
              "integers are written as they lie");

//===----------------------------------------------------------------------===//
// Encoding
//===----------------------------------------------------------------------===//

namespace {

class ProgramWriter {
public:
  ProgramWriter(std::vector<std::string> &symbols, std::vector<char> &bytes)
      : symbols(symbols), bytes(bytes) {}

  void write(const Program &program);

private:
  void write(const std::vector<TensorInfo> &tensors);
  void write(const Layer &layer);
  void write(const Launch &launch);
  void write(const std::string &text);
  void write(const std::vector<int64_t> &numbers);
  template <typename Number>
  void writeNumber(Number number);
  int64_t findSymbol(const std::string &symbol);

  std::vector<std::string> &symbols;
  std::vector<char> &bytes;
};

} // namespace

template <typename Number>
void ProgramWriter::writeNumber(Number number) {
  auto eight = std::bit_cast<std::array<char, 8>>(number);
  bytes.insert(bytes.end(), eight.begin(), eight.end());
}

void ProgramWriter::write(const std::string &text) {
  writeNumber<uint64_t>(text.size());
  bytes.insert(bytes.end(), text.begin(), text.end());
}

void ProgramWriter::write(const std::vector<int64_t> &numbers) {
  writeNumber<uint64_t>(numbers.size());
  for (int64_t number : numbers)
    writeNumber(number);
}

int64_t ProgramWriter::findSymbol(const std::string &symbol) {
  auto known = std::find(symbols.begin(), symbols.end(), symbol);
  if (known == symbols.end())
    known = symbols.insert(known, symbol);
  return known - symbols.begin();
}

void ProgramWriter::write(const Launch &launch) {
  writeNumber(findSymbol(launch.symbol));
  writeNumber(launch.tasks);
  writeNumber(launch.scratchBytes);
  writeNumber<uint64_t>(launch.buffers.size());
  for (const BufferRef &buffer : launch.buffers) {
    writeNumber(static_cast<int64_t>(buffer.space));
    writeNumber(buffer.offset);
  }
  write(launch.params);
}

void ProgramWriter::write(const Layer &layer) {
  for (const std::string *text : {&layer.name, &layer.problem, &layer.solver,
                                  &layer.config, &layer.source})
    write(*text);
  writeNumber(layer.flops);
  writeNumber(layer.bytes);
  writeNumber<uint64_t>(layer.launches.size());
  for (const Launch &launch : layer.launches)
    write(launch);
}

void ProgramWriter::write(const std::vector<TensorInfo> &tensors) {
  for (const TensorInfo &tensor : tensors)
    write(tensor.shape);
}

void ProgramWriter::write(const Program &program) {
  write(program.inputs);
  write(program.outputs);
  writeNumber(program.arenaBytes);
  writeNumber<uint64_t>(program.layers.size());
  for (const Layer &layer : program.layers)
    write(layer);
}

void appendProgram(const Program &program, std::vector<std::string> &symbols,
                   std::vector<char> &bytes) {
  ProgramWriter(symbols, bytes).write(program);
}

//===----------------------------------------------------------------------===//
// Decoding
//===----------------------------------------------------------------------===//

/// The least bytes of a layer, which has five texts and three numbers, and of a
/// launch, which has five numbers.
static constexpr size_t kLayerBytes = 64, kLaunchBytes = 40;

namespace {

/// Reads what ProgramWriter writes. Behind the first error everything is zero
/// or empty.
class ProgramReader {
public:
  ProgramReader(const Package &package, std::span<const char> bytes)
      : package(package), bytes(bytes) {}

  Result<Program> read();

private:
  std::vector<TensorInfo> readTensors(std::vector<TensorInfo> tensors);
  Layer readLayer();
  Launch readLaunch();
  BufferRef readBuffer();
  std::string readText();
  std::vector<int64_t> readNumbers();
  template <typename Number>
  Number readNumber();
  size_t readCount(size_t bytesEach);
  void fail(const char *what);

  const Package &package;
  std::span<const char> bytes;
  std::string error;
};

} // namespace

void ProgramReader::fail(const char *what) {
  if (error.empty())
    error = what;
  bytes = {};
}

template <typename Number>
Number ProgramReader::readNumber() {
  std::array<char, 8> eight = {};
  if (bytes.size() < eight.size()) {
    fail("it ends inside a program");
    return std::bit_cast<Number>(eight);
  }
  std::copy_n(bytes.begin(), eight.size(), eight.begin());
  bytes = bytes.subspan(eight.size());
  return std::bit_cast<Number>(eight);
}

/// The items that follow take at least `bytesEach`, so that nothing is
/// allocated for more than there can be.
size_t ProgramReader::readCount(size_t bytesEach) {
  auto count = readNumber<uint64_t>();
  if (count <= bytes.size() / bytesEach)
    return count;
  fail("a list of a program is longer than the program");
  return 0;
}

std::string ProgramReader::readText() {
  size_t size = readCount(1);
  std::string text(bytes.data(), size);
  bytes = bytes.subspan(size);
  return text;
}

std::vector<int64_t> ProgramReader::readNumbers() {
  std::vector<int64_t> numbers(readCount(sizeof(int64_t)));
  for (int64_t &number : numbers)
    number = readNumber<int64_t>();
  return numbers;
}

BufferRef ProgramReader::readBuffer() {
  auto space = readNumber<int64_t>();
  if (space < 0 || space > static_cast<int64_t>(BufferSpace::Output)) {
    fail("a buffer of a program is in an unknown space");
    space = 0;
  }
  return {static_cast<BufferSpace>(space), readNumber<int64_t>()};
}

Launch ProgramReader::readLaunch() {
  Launch launch;
  auto symbol = readNumber<uint64_t>();
  if (symbol < package.symbols.size())
    launch.symbol = package.symbols[symbol];
  else
    fail("a launch of a program has a symbol that the package lacks");
  launch.tasks = readNumber<int64_t>();
  launch.scratchBytes = readNumber<int64_t>();
  launch.buffers.resize(readCount(2 * sizeof(int64_t)));
  for (BufferRef &buffer : launch.buffers)
    buffer = readBuffer();
  launch.params = readNumbers();
  return launch;
}

Layer ProgramReader::readLayer() {
  Layer layer;
  for (std::string *text : {&layer.name, &layer.problem, &layer.solver,
                            &layer.config, &layer.source})
    *text = readText();
  layer.flops = readNumber<double>();
  layer.bytes = readNumber<double>();
  layer.launches.resize(readCount(kLaunchBytes));
  for (Launch &launch : layer.launches)
    launch = readLaunch();
  return layer;
}

std::vector<TensorInfo>
ProgramReader::readTensors(std::vector<TensorInfo> tensors) {
  for (TensorInfo &tensor : tensors)
    tensor.shape = readNumbers();
  return tensors;
}

Result<Program> ProgramReader::read() {
  Program program;
  program.inputs = readTensors(package.inputs);
  program.outputs = readTensors(package.outputs);
  program.arenaBytes = readNumber<int64_t>();
  program.layers.resize(readCount(kLayerBytes));
  for (Layer &layer : program.layers)
    layer = readLayer();
  if (error.empty() && !bytes.empty())
    fail("bytes follow the end of a program");
  if (!error.empty())
    return Error{error};
  return program;
}

Result<Program> decodeProgram(const Package &package,
                              std::span<const char> bytes) {
  return ProgramReader(package, bytes).read();
}

} // namespace tarpon::runtime
