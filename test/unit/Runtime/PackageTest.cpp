//===- PackageTest.cpp - Tests of package files -----------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Package.h"
#include "TestPackages.h"
#include "tarpon/Runtime/PackageBytes.h"

#include <elf.h>
#include <fstream>
#include <functional>
#include <gmock/gmock.h>
#include <limits>
#include <sys/stat.h>
#include <zlib.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using testing::HasSubstr;
using testing::StartsWith;

namespace {

class PackageTest : public testing::Test {
protected:
  TempFolder folder;
  std::string path = folder.file("model.tpn");

  void write(const Package &package) {
    Status status = writePackage(package, path);
    ASSERT_TRUE(status) << status.message();
  }

  /// The message with which the file at `path` is refused.
  std::string refusal() {
    Result<Package> package = readPackage(path);
    return package ? "it was accepted" : package.message();
  }

  std::string damage(const std::string &why) {
    return "package '" + path + "' is damaged: " + why;
  }
};

} // namespace

/// A shared object without kernels, for tests that the real ones would make
/// slow.
static std::vector<char> makeSmallElf() {
  std::vector<char> bytes(sizeof(Elf64_Ehdr) + sizeof(Elf64_Shdr));
  std::memcpy(bytes.data(),
              "\x7f"
              "ELF\2\1\1",
              7);
  auto &header = *reinterpret_cast<Elf64_Ehdr *>(bytes.data());
  header.e_shoff = sizeof(Elf64_Ehdr);
  header.e_shnum = 1;
  header.e_shentsize = sizeof(Elf64_Shdr);
  return bytes;
}

static void putInt(std::vector<char> &bytes, size_t offset, uint64_t value,
                   size_t width) {
  std::memcpy(bytes.data() + offset, &value, width);
}

/// Makes the header's own checksum right again after a change.
static void fixHeader(std::vector<char> &bytes) {
  putInt(bytes, 124,
         crc32_z(0, reinterpret_cast<const Bytef *>(bytes.data()), 124), 4);
}

/// A file around this metadata, with right sizes and checksums.
static std::vector<char> wrapMetadata(const std::string &metadata) {
  std::vector<char> bytes(128, 0);
  std::memcpy(bytes.data(), "\x89TPN\r\n\x1a\n", 8);
  std::vector<char> section(metadata.begin(), metadata.end());
  section.resize((section.size() + 63) / 64 * 64);
  putInt(bytes, 8, 3, 4); // The format version.
  putInt(bytes, 16, metadata.size(), 8);
  putInt(bytes, 48,
         crc32_z(0, reinterpret_cast<const Bytef *>(section.data()),
                 section.size()),
         4);
  fixHeader(bytes);
  bytes.insert(bytes.end(), section.begin(), section.end());
  return bytes;
}

TEST_F(PackageTest, RoundTrips) {
  Package package = makeTestPackage(100);
  package.cpuFeatures = {"avx2", "fma"};
  package.modelName = "name with \"quotes\" and \n";
  package.inputs[0].dtype = DType::U8;
  package.inputs[0].quantized = true;
  package.inputs[0].scale = 0.1f;
  package.inputs[0].zeroPoint = 128;
  package.layers[0].launches[0].params = {std::numeric_limits<int64_t>::min(),
                                          std::numeric_limits<int64_t>::max(),
                                          floatParam(-1.5f)};
  write(package);
  Result<Package> back = readPackage(path);
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(back->modelName, package.modelName);
  EXPECT_EQ(back->modelSha256, package.modelSha256);
  EXPECT_EQ(back->arch, package.arch);
  EXPECT_EQ(back->cpuFeatures, package.cpuFeatures);
  EXPECT_EQ(back->dtype, "fp32");
  EXPECT_EQ(back->layout, "nchw");
  EXPECT_EQ(back->fusion, "on");
  EXPECT_EQ(back->constants, package.constants);
  EXPECT_EQ(back->kernels, package.kernels);
  EXPECT_EQ(back->arenaBytes, package.arenaBytes);
  ASSERT_EQ(back->inputs.size(), 1u);
  EXPECT_EQ(back->inputs[0].dtype, DType::U8);
  EXPECT_EQ(back->inputs[0].shape, package.inputs[0].shape);
  EXPECT_TRUE(back->inputs[0].quantized);
  EXPECT_EQ(back->inputs[0].scale, 0.1f);
  EXPECT_EQ(back->inputs[0].zeroPoint, 128);
  EXPECT_FALSE(back->outputs[0].quantized);
  ASSERT_EQ(back->layers.size(), 2u);
  const Layer &layer = back->layers[1];
  EXPECT_EQ(layer.name, "second");
  EXPECT_EQ(layer.problem, "problem-2");
  EXPECT_EQ(layer.solver, "test");
  EXPECT_EQ(layer.config, "{}");
  EXPECT_EQ(layer.source, "default");
  EXPECT_EQ(layer.flops, 30);
  EXPECT_EQ(layer.bytes, 40);
  const Launch &launch = back->layers[0].launches[0];
  EXPECT_EQ(launch.symbol, "scaleAndAdd");
  EXPECT_EQ(launch.params, package.layers[0].launches[0].params);
  EXPECT_EQ(launch.tasks, 100);
  EXPECT_EQ(launch.scratchBytes, 4);
  ASSERT_EQ(launch.buffers.size(), 3u);
  EXPECT_EQ(launch.buffers[0].space, BufferSpace::Input);
  EXPECT_EQ(launch.buffers[1].space, BufferSpace::Constant);
  EXPECT_EQ(launch.buffers[2].space, BufferSpace::Arena);
}

TEST_F(PackageTest, BytesAreThoseOfTheFile) {
  Package package = makeTestPackage(100);
  write(package);
  std::ifstream file(path, std::ios::binary);
  std::string text((std::istreambuf_iterator<char>(file)), {});
  Result<std::string> bytes = serializePackage(package);
  ASSERT_TRUE(bytes) << bytes.message();
  EXPECT_TRUE(*bytes == text);
  package.outputs.clear();
  bytes = serializePackage(package);
  ASSERT_FALSE(bytes);
  EXPECT_THAT(bytes.message(), StartsWith("the package is malformed: "));
}

TEST_F(PackageTest, RoundTripsWithoutLayers) {
  Package package;
  write(package);
  Result<Package> back = readPackage(path);
  ASSERT_TRUE(back) << back.message();
  EXPECT_TRUE(back->layers.empty());
  EXPECT_TRUE(back->kernels.empty());
}

TEST_F(PackageTest, NamesThatAreNotUtf8AreKeptReadable) {
  Package package;
  package.modelName = "caf\xe9";
  write(package);
  Result<Package> back = readPackage(path);
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(back->modelName, "caf\xef\xbf\xbd");
}

TEST_F(PackageTest, SizesOfTensors) {
  TensorInfo info{"x", DType::F16, {2, 3, 5}};
  EXPECT_EQ(info.numElements(), 30);
  EXPECT_EQ(info.numBytes(), 60);
  info.shape = {};
  EXPECT_EQ(info.numElements(), 1);
  EXPECT_EQ(countElements({0, 1 << 30}, DType::F32), 0);
  EXPECT_EQ(countElements({7, 9}, DType::F32), 63);
  EXPECT_FALSE(countElements({-1}, DType::F32));
  EXPECT_FALSE(countElements({int64_t(1) << 62, 4}, DType::I8));
  EXPECT_FALSE(countElements({int64_t(1) << 62}, DType::I8));
  EXPECT_FALSE(countElements({int64_t(1) << 40, int64_t(1) << 40}, DType::I8));
  EXPECT_FALSE(countElements({0, int64_t(1) << 62, 4}, DType::I8));
}

//===----------------------------------------------------------------------===//
// Damage
//===----------------------------------------------------------------------===//

/// The executor takes ranges of code objects as they are.
TEST_F(PackageTest, RefusesCodeObjectsOfNoGpu) {
  Package package = makeTestPackage(20);
  package.codeObjects.push_back({"anything", -64, 1 << 20, 64});
  Status status = validatePackage(package);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(), "it has code objects but names no chip");
}

TEST_F(PackageTest, RefusesEveryFlippedByte) {
  Package package = makeTestPackage(20);
  package.kernels = makeSmallElf();
  write(package);
  std::vector<char> good = readBytes(path);
  for (size_t offset = 0; offset < good.size(); ++offset) {
    std::vector<char> bad = good;
    bad[offset] ^= 0x10;
    writeBytes(path, bad);
    Result<Package> back = readPackage(path);
    ASSERT_FALSE(back) << "byte " << offset;
    ASSERT_THAT(back.message(), HasSubstr("'" + path + "'"));
  }
}

TEST_F(PackageTest, RefusesEveryTruncation) {
  Package package = makeTestPackage(20);
  package.kernels = makeSmallElf();
  write(package);
  std::vector<char> good = readBytes(path);
  for (size_t size = 0; size < good.size(); ++size) {
    writeBytes(path, {good.begin(), good.begin() + ptrdiff_t(size)});
    Result<Package> back = readPackage(path);
    ASSERT_FALSE(back) << size << " bytes";
    ASSERT_THAT(back.message(), HasSubstr("'" + path + "'"));
  }
}

TEST_F(PackageTest, NamesTheDamagedPart) {
  write(makeTestPackage(20));
  const std::vector<char> good = readBytes(path);
  auto refuseFlip = [&](size_t offset) {
    std::vector<char> bad = good;
    bad[offset] ^= 1;
    writeBytes(path, bad);
    return refusal();
  };
  EXPECT_EQ(refuseFlip(0), "'" + path + "' is not a Tarpon package");
  EXPECT_EQ(refuseFlip(20),
            damage("the checksum of its header does not match"));
  EXPECT_EQ(refuseFlip(140),
            damage("the checksum of its metadata does not match"));
  EXPECT_EQ(refuseFlip(good.size() - 1),
            damage("the checksum of its kernels does not match"));
  uint64_t metadataBytes;
  std::memcpy(&metadataBytes, good.data() + 16, sizeof(metadataBytes));
  EXPECT_EQ(refuseFlip(128 + (metadataBytes + 63) / 64 * 64),
            damage("the checksum of its constants does not match"));

  auto refuseSize = [&](size_t size) {
    std::vector<char> bad = good;
    bad.resize(size);
    writeBytes(path, bad);
    return refusal();
  };
  EXPECT_EQ(refuseSize(0), "'" + path + "' is not a Tarpon package");
  EXPECT_EQ(refuseSize(40), damage("it ends inside its header"));
  EXPECT_EQ(refuseSize(140), damage("it ends inside its metadata"));
  EXPECT_EQ(refuseSize(128 + (metadataBytes + 63) / 64 * 64 + 1),
            damage("it ends inside its constants"));
  EXPECT_EQ(refuseSize(good.size() - 1), damage("it ends inside its kernels"));
  EXPECT_EQ(refuseSize(good.size() + 5), damage("5 bytes follow its end"));
}

TEST_F(PackageTest, RefusesAnotherVersion) {
  write(Package());
  std::vector<char> bytes = readBytes(path);
  putInt(bytes, 8, 7, 4);
  fixHeader(bytes);
  writeBytes(path, bytes);
  EXPECT_EQ(refusal(), "package '" + path +
                           "' has format version 7, and this build of Tarpon "
                           "reads version 3");
}

TEST_F(PackageTest, HugeSizesAreNotAllocated) {
  write(Package());
  for (uint64_t size : {uint64_t(1) << 40, ~uint64_t(0), ~uint64_t(0) - 63}) {
    std::vector<char> bytes = readBytes(path);
    putInt(bytes, 32, size, 8);
    fixHeader(bytes);
    writeBytes(path, bytes);
    EXPECT_EQ(refusal(), damage("it ends inside its constants"));
  }
}

TEST_F(PackageTest, RefusesWhatIsNotAFile) {
  path = "/nonexistent/model.tpn";
  EXPECT_EQ(refusal(),
            "cannot read '/nonexistent/model.tpn': No such file or directory");
  path = "/tmp";
  EXPECT_EQ(refusal(), "cannot read '/tmp': not a regular file");
  TempFolder other;
  path = other.file("pipe");
  ASSERT_EQ(mkfifo(path.c_str(), 0600), 0);
  EXPECT_EQ(refusal(), "cannot read '" + path + "': not a regular file");
}

TEST_F(PackageTest, ChecksTheTypesOfAllMetadata) {
  auto refuse = [&](const std::string &metadata) {
    writeBytes(path, wrapMetadata(metadata));
    return refusal();
  };
  EXPECT_EQ(refuse("{"), damage("its metadata is not JSON"));
  EXPECT_EQ(refuse("[]"), damage("in its metadata, '' is not an object"));
  EXPECT_EQ(refuse("{}"), damage("in its metadata, 'model' is missing"));
  EXPECT_EQ(refuse(R"({"model": {"name": 3}})"),
            damage("in its metadata, 'model.name' is not a string"));
  std::string head = R"({"model": {"name": "", "sha256": ""}, "arch": "",
    "cpu_features": [], "dtype": "", "layout": "", "fusion": "", )";
  EXPECT_EQ(refuse(head + R"("inputs": {}})"),
            damage("in its metadata, 'inputs' is not an array"));
  EXPECT_EQ(refuse(head + R"("inputs": [{"name": "x", "dtype": "f9"}]})"),
            damage("in its metadata, 'inputs[0].dtype' is not a dtype"));
  EXPECT_EQ(refuse(head + R"("inputs": [{"name": "x", "dtype": "f32",
                              "shape": [1, 2.5]}]})"),
            damage("in its metadata, 'inputs[0].shape[1]' is not a 64-bit "
                   "integer"));
  EXPECT_EQ(refuse(head + R"("inputs": [{"name": "x", "dtype": "f32",
                              "shape": [18446744073709551615]}]})"),
            damage("in its metadata, 'inputs[0].shape[0]' is not a 64-bit "
                   "integer"));
  std::string tail = head + R"("inputs": [], "outputs": [], "layers": [)";
  EXPECT_EQ(refuse(tail + R"({"name": "l", "problem": "", "solver": "",
      "config": "", "source": "", "flops": null}]})"),
            damage("in its metadata, 'layers[0].flops' is not a number"));
  EXPECT_EQ(refuse(tail + R"({"name": "l", "problem": "", "solver": "",
      "config": "", "source": "", "flops": 0, "bytes": 0, "launches":
      [{"symbol": "s", "buffers": [{"space": "moon", "offset": 0}]}]}]})"),
            damage("in its metadata, 'layers[0].launches[0].buffers[0].space' "
                   "is not constant, arena, input or output"));
  EXPECT_EQ(refuse(tail + R"(], "arena_bytes": 1e3})"),
            damage("in its metadata, 'arena_bytes' is not a 64-bit integer"));
  EXPECT_EQ(refuse(tail + R"(], "arena_bytes": -1})"),
            damage("it has an arena of -1 bytes"));
  // Deep nesting must not overflow a stack.
  EXPECT_EQ(refuse(std::string(1 << 20, '[')),
            damage("its metadata is not JSON"));
}

//===----------------------------------------------------------------------===//
// Validation
//===----------------------------------------------------------------------===//

TEST_F(PackageTest, ValidatesEveryNumber) {
  Package good = makeTestPackage(20);
  ASSERT_TRUE(validatePackage(good));
  auto refuse = [&](const std::function<void(Package &)> &change) {
    Package bad = good;
    change(bad);
    Status status = validatePackage(bad);
    EXPECT_FALSE(writePackage(bad, path));
    EXPECT_FALSE(std::filesystem::exists(path));
    return status ? "it was accepted" : status.message();
  };
  auto refuseBuffer = [&](BufferSpace space, int64_t offset) {
    return refuse([&](Package &package) {
      package.layers[1].launches[0].buffers[0] = {space, offset};
    });
  };
  EXPECT_EQ(refuseBuffer(BufferSpace::Constant, 192),
            "layer 'second' refers to byte 192 of 128 constant bytes");
  EXPECT_EQ(refuseBuffer(BufferSpace::Arena, -64),
            "layer 'second' refers to byte -64 of 128 arena bytes");
  EXPECT_EQ(refuseBuffer(BufferSpace::Constant, 32),
            "layer 'second' refers to the misaligned constant offset 32");
  EXPECT_EQ(refuseBuffer(BufferSpace::Input, 1),
            "layer 'second' refers to input 1 of 1");
  EXPECT_EQ(refuseBuffer(BufferSpace::Output, -1),
            "layer 'second' refers to output -1 of 1");
  EXPECT_EQ(refuseBuffer(static_cast<BufferSpace>(9), 0),
            "layer 'second' has a buffer in an unknown space");

  auto refuseLaunch = [&](const std::function<void(Launch &)> &change) {
    return refuse(
        [&](Package &package) { change(package.layers[0].launches[0]); });
  };
  EXPECT_EQ(refuseLaunch([](Launch &launch) { launch.symbol = ""; }),
            "layer 'first' has a launch without a kernel symbol");
  EXPECT_EQ(refuseLaunch([](Launch &launch) { launch.tasks = -1; }),
            "layer 'first' has a launch of -1 tasks");
  EXPECT_EQ(refuseLaunch([](Launch &launch) { launch.scratchBytes = -5; }),
            "layer 'first' has a launch with -5 bytes of scratch");

  EXPECT_EQ(refuse([](Package &package) { package.layers[0].flops = NAN; }),
            "layer 'first' has a negative or infinite count of flops or bytes");
  EXPECT_EQ(refuse([](Package &package) { package.arenaBytes = -1; }),
            "it has an arena of -1 bytes");
  EXPECT_EQ(refuse([](Package &package) { package.inputs[0].shape = {-1}; }),
            "input 'data' has a negative or too large shape");
  EXPECT_EQ(refuse([](Package &package) { package.inputs[0].usedPerRow = 21; }),
            "input 'data' has rows of which 21 elements are used");
  EXPECT_EQ(refuse([](Package &package) { package.inputs[0].usedPerRow = -1; }),
            "input 'data' has rows of which -1 elements are used");
  EXPECT_EQ(refuse([](Package &package) { package.kernels.clear(); }),
            "it has launches but no kernels");
  EXPECT_EQ(refuse([](Package &package) { package.kernels[1] = 'X'; }),
            "its kernels are not an ELF shared object");
}

TEST_F(PackageTest, ValidatesQuantisation) {
  auto refuse = [](DType dtype, float scale, int64_t zeroPoint) {
    Package package;
    package.outputs = {{"y", dtype, {1}, true, scale, zeroPoint}};
    Status status = validatePackage(package);
    return status ? "it was accepted" : status.message();
  };
  EXPECT_EQ(refuse(DType::I8, 1, -128), "it was accepted");
  EXPECT_EQ(refuse(DType::U8, 1, 255), "it was accepted");
  EXPECT_EQ(refuse(DType::F32, 1, 0),
            "output 'y' is quantised but neither i8 nor u8");
  EXPECT_EQ(refuse(DType::I8, 0, 0),
            "output 'y' has a scale that is not positive and finite");
  EXPECT_EQ(refuse(DType::I8, NAN, 0),
            "output 'y' has a scale that is not positive and finite");
  EXPECT_EQ(refuse(DType::I8, 1, 128),
            "output 'y' has a zero point outside its dtype");
  EXPECT_EQ(refuse(DType::U8, 1, -1),
            "output 'y' has a zero point outside its dtype");
}

/// Outputs "y", of which dimension `dim` has its size in output `output`, and
/// "y.size".
static Package makeSizedPackage(int64_t dim, int64_t output) {
  Package package;
  package.outputs = {{"y", DType::F32, {2, 3}}, {"y.size", DType::I64, {1}}};
  package.outputs[0].sizeDim = dim;
  package.outputs[0].sizeOutput = output;
  return package;
}

TEST_F(PackageTest, SizesThatDependOnDataAreOutputs) {
  write(makeSizedPackage(1, 1));
  Result<Package> back = readPackage(path);
  ASSERT_TRUE(back) << back.message();
  EXPECT_EQ(back->outputs[0].sizeDim, 1);
  EXPECT_EQ(back->outputs[0].sizeOutput, 1);
  EXPECT_EQ(back->outputs[1].sizeOutput, -1);
  auto refuse = [](int64_t dim, int64_t output) {
    Status status = validatePackage(makeSizedPackage(dim, output));
    return status ? "it was accepted" : status.message();
  };
  EXPECT_EQ(refuse(2, 1),
            "output 'y' has a size that depends on data in the dimension 2");
  EXPECT_EQ(refuse(-1, 1),
            "output 'y' has a size that depends on data in the dimension -1");
  EXPECT_EQ(refuse(0, 2),
            "output 'y' has its size in output 2, which is not one i64");
  EXPECT_EQ(refuse(0, 0),
            "output 'y' has its size in output 0, which is not one i64");
  EXPECT_EQ(refuse(0, -1),
            "output 'y' has its size in output -1, which is not one i64");
}

//===----------------------------------------------------------------------===//
// Writing
//===----------------------------------------------------------------------===//

TEST_F(PackageTest, AFailedWriteLeavesWhatWasThere) {
  Package package = makeTestPackage(20);
  write(package);
  std::vector<char> before = readBytes(path);
  package.arenaBytes = -1;
  Status status = writePackage(package, path);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(),
            "cannot write '" + path +
                "': the package is malformed: it has an arena of -1 bytes");
  EXPECT_EQ(readBytes(path), before);
}

TEST_F(PackageTest, WritesNeitherInPlaceNorBesideIt) {
  write(Package());
  write(makeTestPackage(20));
  std::filesystem::path folder = std::filesystem::path(path).parent_path();
  int files = 0;
  for ([[maybe_unused]] const auto &entry :
       std::filesystem::directory_iterator(folder))
    ++files;
  EXPECT_EQ(files, 1) << "a temporary file was left";
}

TEST_F(PackageTest, SaysWhyItCannotWrite) {
  Status status = writePackage(Package(), "/nonexistent/x.tpn");
  ASSERT_FALSE(status);
  EXPECT_EQ(status.message(),
            "cannot write '/nonexistent/x.tpn': No such file or directory");
  std::string folder = std::filesystem::path(path).parent_path();
  status = writePackage(Package(), folder);
  ASSERT_FALSE(status);
  EXPECT_THAT(status.message(), StartsWith("cannot write '" + folder + "': "));
  EXPECT_FALSE(std::filesystem::exists(folder + ".tmp"));
}
