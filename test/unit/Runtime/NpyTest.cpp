//===- NpyTest.cpp - Tests of .npy files ------------------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "tarpon/Runtime/Npy.h"
#include "TestPackages.h"

#include <gmock/gmock.h>

using namespace tarpon::runtime;
using namespace tarpon::runtime::test;
using testing::HasSubstr;

namespace {

class NpyTest : public testing::Test {
protected:
  TempFolder folder;
  std::string path = folder.file("x.npy");

  /// Writes a version 1 file with this header and that many zeros.
  void writeRaw(const std::string &header, size_t elementBytes) {
    std::vector<char> bytes = {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0};
    bytes.push_back(static_cast<char>(header.size() & 0xff));
    bytes.push_back(static_cast<char>(header.size() >> 8));
    bytes.insert(bytes.end(), header.begin(), header.end());
    bytes.resize(bytes.size() + elementBytes);
    writeBytes(path, bytes);
  }

  std::string refusal(const std::string &header, size_t elementBytes) {
    writeRaw(header, elementBytes);
    return refusal();
  }

  std::string refusal() {
    Result<HostTensor> tensor = readNpy(path);
    return tensor ? "it was accepted" : tensor.message();
  }

  std::string problem(const std::string &why) {
    return "cannot read '" + path + "': " + why;
  }
};

} // namespace

TEST_F(NpyTest, RoundTripsEveryDtype) {
  EXPECT_FALSE(hasNumPyType(DType::BF16));
  for (DType dtype : kDTypes) {
    for (const std::vector<int64_t> &shape :
         {std::vector<int64_t>{}, {5}, {2, 3, 4}, {0, 3}}) {
      HostTensor tensor = makeTensor(dtype, shape);
      fillRandom(tensor, 1);
      ASSERT_TRUE(writeNpy(tensor, path));
      Result<HostTensor> back = readNpy(path);
      ASSERT_TRUE(back) << back.message();
      EXPECT_EQ(back->dtype, hasNumPyType(dtype) ? dtype : DType::F32);
      EXPECT_EQ(back->shape, shape);
      EXPECT_EQ(compareTensors(*back, tensor)->maxAbsError, 0);
    }
  }
}

TEST_F(NpyTest, WritesWhatNumPyReads) {
  HostTensor tensor = makeTensor(DType::F32, {7});
  ASSERT_TRUE(writeNpy(tensor, path));
  std::vector<char> bytes = readBytes(path);
  ASSERT_EQ(bytes.size() % 64, 28u) << "the elements start at a multiple of 64";
  std::string text(bytes.data() + 12, bytes.size() - 12 - 28);
  EXPECT_THAT(text, HasSubstr("{'descr': '<f4', 'fortran_order': False, "
                              "'shape': (7, ), }"));
  EXPECT_EQ(text.back(), '\n');
}

TEST_F(NpyTest, ReadsNumPysSpelling) {
  writeRaw("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), } \n",
           24);
  Result<HostTensor> tensor = readNpy(path);
  ASSERT_TRUE(tensor) << tensor.message();
  EXPECT_EQ(tensor->shape, (std::vector<int64_t>{2, 3}));
  writeRaw("{'shape':(),'descr':\"|u1\",'fortran_order':True}", 1);
  tensor = readNpy(path);
  ASSERT_TRUE(tensor) << tensor.message();
  EXPECT_EQ(tensor->dtype, DType::U8);
  // One dimension is in both orders, and one byte has no byte order.
  writeRaw("{'descr': '<i1', 'fortran_order': True, 'shape': (3,)}", 3);
  EXPECT_TRUE(readNpy(path));
  writeRaw("{'descr': '=i8', 'fortran_order': False, 'shape': (1,)}", 8);
  EXPECT_EQ(readNpy(path)->dtype, DType::I64);
}

TEST_F(NpyTest, RefusesMalformedFiles) {
  writeBytes(path, {});
  EXPECT_EQ(refusal(), problem("it is not a .npy file"));
  writeBytes(path, std::vector<char>(100, 'x'));
  EXPECT_EQ(refusal(), problem("it is not a .npy file"));
  writeBytes(path, {'\x93', 'N', 'U', 'M', 'P', 'Y', 3, 0, 0, 0, 0, 0});
  EXPECT_EQ(refusal(), problem("its format version is 3, and versions 1 and 2 "
                               "are supported"));
  writeBytes(path, {'\x93', 'N', 'U', 'M', 'P', 'Y', 1, 0, 9, 9, 'x', 'x'});
  EXPECT_EQ(refusal(), problem("it ends inside its header"));
  writeBytes(path, {'\x93', 'N', 'U', 'M', 'P', 'Y', 2, 0, '\xff', '\xff',
                    '\xff', '\xff'});
  EXPECT_EQ(refusal(), problem("it ends inside its header"));
  writeBytes(path, {'\x93', 'N', 'U', 'M', 'P', 'Y', 2, 0, 0, 0});
  EXPECT_EQ(refusal(), problem("it ends inside its header"));
}

TEST_F(NpyTest, RefusesMalformedHeaders) {
  for (const char *header :
       {"", "{", "{}", "x", "{'descr': '<f4'}", "{'descr': '<f4",
        "{'descr': '<f4', 'fortran_order': 0, 'shape': (1,)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': 1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (1 2)}",
        "{'descr': '<f4', 'fortran_order': False, 'shape': (x,)}",
        // NOLINTNEXTLINE(bugprone-suspicious-missing-comma): it is one header.
        "{'descr': '<f4', 'fortran_order': False, 'shape': "
        "(99999999999999999999,)}",
        "{'descr': '<f4', 'descr': '<f4', 'shape': (1,)}",
        "{'descr': '<f4' 'fortran_order': False, 'shape': (1,)}",
        "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,)}",
        "{'color': 'red', 'descr': '<f4', 'fortran_order': False, 'shape': "
        "(1,)}"})
    EXPECT_EQ(refusal(header, 4), problem("its header is malformed")) << header;
}

TEST_F(NpyTest, RefusesWhatItCannotHold) {
  auto refuse = [&](const std::string &description, const std::string &order,
                    const std::string &shape) {
    return refusal("{'descr': '" + description + "', 'fortran_order': " +
                       order + ", 'shape': " + shape + "}",
                   4);
  };
  EXPECT_EQ(refuse(">f4", "False", "(1,)"),
            problem("its elements are big endian ('>f4')"));
  EXPECT_EQ(refuse("<c8", "False", "(1,)"),
            problem("elements of type '<c8' are not supported"));
  EXPECT_EQ(refuse("|O", "False", "(1,)"),
            problem("elements of type '|O' are not supported"));
  EXPECT_EQ(refuse("<f4", "True", "(1, 1)"),
            problem("it is in Fortran order, and only C order is supported"));
  EXPECT_EQ(refuse("<f4", "False", "(-1,)"),
            problem("its shape -1 is negative or too large"));
  EXPECT_EQ(refuse("<f4", "False", "(4611686018427387904, 4)"),
            problem("its shape 4611686018427387904x4 is negative or too "
                    "large"));
  EXPECT_EQ(refuse("<f4", "False", "(1000000000, 2)"),
            problem("its shape 1000000000x2 needs 8000000000 bytes of elements,"
                    " and it has 4"));
  EXPECT_EQ(refuse("<f2", "False", "(1,)"),
            problem("its shape 1 needs 2 bytes of elements, and it has 4"));
}

TEST_F(NpyTest, SaysWhyItCannotReadOrWrite) {
  path = "/nonexistent/x.npy";
  EXPECT_EQ(refusal(), problem("No such file or directory"));
  for (DType dtype : {DType::F32, DType::BF16}) {
    Status status = writeNpy(makeTensor(dtype, {1}), path);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.message(),
              "cannot write '/nonexistent/x.npy': No such file or directory");
  }
}
