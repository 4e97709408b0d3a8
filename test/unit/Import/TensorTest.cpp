//===- TensorTest.cpp - Data of initialisers and tensor files ---*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TestModel.h"
#include "tarpon/Import/OnnxTensor.h"

#include "llvm/Support/FileSystem.h"

#include "gmock/gmock.h"
#include "gtest/gtest.h"

#include <atomic>
#include <chrono>
#include <cmath>
#include <fstream>
#include <thread>

using namespace tarpon;
using namespace tarpon::test;
using testing::EndsWith;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

namespace {

onnx::TensorProto &addTensor(TestModel &model, int type,
                             std::vector<int64_t> shape) {
  onnx::TensorProto &tensor = *model.getGraph().add_initializer();
  tensor.set_name("w");
  tensor.set_data_type(type);
  tensor.mutable_dims()->Add(shape.begin(), shape.end());
  return tensor;
}

TEST(Initialisers, AllTypes) {
  struct Case {
    int type;
    const char *raw;
    const char *printed;
  };
  const Case cases[] = {
      {onnx::TensorProto::FLOAT, "0000803f", "dense<1.000000e+00>"},
      {onnx::TensorProto::FLOAT16, "003c", "tensor<1xf16>"},
      {onnx::TensorProto::BFLOAT16, "803f", "tensor<1xbf16>"},
      {onnx::TensorProto::DOUBLE, "000000000000f03f", "tensor<1xf64>"},
      {onnx::TensorProto::INT8, "ff", "dense<-1> : tensor<1xi8>"},
      {onnx::TensorProto::UINT8, "ff", "dense<255> : tensor<1xui8>"},
      {onnx::TensorProto::INT16, "ffff", "dense<-1> : tensor<1xi16>"},
      {onnx::TensorProto::UINT16, "ffff", "tensor<1xui16>"},
      {onnx::TensorProto::INT32, "ffffffff", "dense<-1> : tensor<1xi32>"},
      {onnx::TensorProto::UINT32, "ffffffff", "tensor<1xui32>"},
      {onnx::TensorProto::INT64, "ffffffffffffffff", "dense<-1>"},
      {onnx::TensorProto::UINT64, "ffffffffffffffff", "tensor<1xui64>"},
      {onnx::TensorProto::BOOL, "02", "dense<true> : tensor<1xi1>"},
      {17, "b8", "dense<-1.000000e+00> : tensor<1xf8E4M3FN>"},
      {18, "b8", "dense<-5.000000e-01> : tensor<1xf8E4M3FNUZ>"},
      {19, "bc", "dense<-1.000000e+00> : tensor<1xf8E5M2>"},
      {20, "bc", "dense<-5.000000e-01> : tensor<1xf8E5M2FNUZ>"},
      {21, "0f", "dense<15> : tensor<1xui4>"},
      {22, "0f", "dense<-1> : tensor<1xi4>"},
      {23, "0a", "dense<-1.000000e+00> : tensor<1xf4E2M1FN>"},
      {24, "80", "dense<2.000000e+00> : tensor<1xf8E8M0FNU>"},
      {25, "03", "dense<3> : tensor<1xui2>"},
      {26, "03", "dense<-1> : tensor<1xi2>"},
  };
  for (const Case &test : cases) {
    TestModel model;
    std::string raw;
    for (const char *at = test.raw; *at; at += 2)
      raw += static_cast<char>(std::stoi(std::string(at, 2), nullptr, 16));
    addTensor(model, test.type, {1}).set_raw_data(raw);
    EXPECT_THAT(model.output("w").import().ir, HasSubstr(test.printed));
  }
}

TEST(Initialisers, TypedFields) {
  TestModel model;
  model.bytes("w", {2}, onnx::TensorProto::INT8, {-3, 7});
  EXPECT_THAT(model.output("w").import().ir,
              HasSubstr("dense<[-3, 7]> : tensor<2xi8>"));
  TestModel half;
  half.bytes("w", {1}, onnx::TensorProto::FLOAT16, {0x3c00});
  EXPECT_THAT(half.output("w").import().ir, HasSubstr("dense<1.000000e+00>"));
}

/// The first element has the lower bits.
TEST(Initialisers, NarrowElementsAreUnpacked) {
  struct Case {
    int type;
    std::vector<int> bytes;
    const char *printed;
  };
  for (const Case &test :
       {Case{21, {0x21, 0x0f}, "dense<[1, 2, 15]> : tensor<3xui4>"},
        Case{22, {0x78, 0xff}, "dense<[-8, 7, -1]> : tensor<3xi4>"},
        Case{23,
             {0x21, 0x07},
             "dense<[5.000000e-01, 1.000000e+00, 6.000000e+00]>"},
        Case{25, {0x1b}, "dense<[3, 2, 1]> : tensor<3xui2>"},
        Case{26, {0x1b}, "dense<[-1, -2, 1]> : tensor<3xi2>"}}) {
    TestModel typed, raw;
    typed.bytes("w", {3}, test.type, test.bytes);
    EXPECT_THAT(typed.output("w").import().ir, HasSubstr(test.printed));
    addTensor(raw, test.type, {3})
        .set_raw_data(std::string(test.bytes.begin(), test.bytes.end()));
    EXPECT_THAT(raw.output("w").import().ir, HasSubstr(test.printed));
  }
}

/// Larger constants are resources, whose bytes have their signs.
TEST(Initialisers, ManyNarrowElements) {
  TestModel model;
  std::vector<int> packed(50, 0x7f);
  model.bytes("w", {100}, 22, packed).ints("i", {2, 3});
  model.node("Gather", "w i", "y");
  EXPECT_THAT(model.output("y").import().ir,
              HasSubstr("dense<[-1, 7]> : tensor<2xi4>"));
}

TEST(Initialisers, BrokenData) {
  TestModel size;
  EXPECT_EQ(size.floats("w", {3}, {1, 2}).output("w").error(),
            "MODEL: initialiser 'w': the shape needs 12 bytes of data, but "
            "there are 8\n");
  TestModel negative;
  EXPECT_EQ(negative.floats("w", {-3}, {}).output("w").error(),
            "MODEL: initialiser 'w': the shape has a negative dimension or is "
            "too large\n");
  TestModel type;
  addTensor(type, 8, {1});
  EXPECT_EQ(type.output("w").error(),
            "MODEL: initialiser 'w': unsupported data type 8 (STRING)\n");
  TestModel packed;
  EXPECT_EQ(packed.bytes("w", {5}, 22, {1, 2}).output("w").error(),
            "MODEL: initialiser 'w': the shape needs 3 bytes of data, but "
            "there are 2\n");
  TestModel segment;
  addTensor(segment, onnx::TensorProto::FLOAT, {1}).mutable_segment();
  EXPECT_EQ(segment.output("w").error(),
            "MODEL: initialiser 'w': segmented tensors are not supported\n");
}

TEST(Initialisers, NonFinite) {
  TestModel nan;
  EXPECT_EQ(nan.floats("w", {2}, {1, NAN}).output("w").error(),
            "MODEL: initialiser 'w' contains NaN\n");
  for (auto [type, bits] :
       {std::pair(10, 0x7e00), std::pair(16, 0x7fc0), std::pair(17, 0x7f),
        std::pair(18, 0x80), std::pair(19, 0x7d), std::pair(24, 0xff)}) {
    TestModel model;
    EXPECT_EQ(model.bytes("w", {1}, type, {bits}).output("w").error(),
              "MODEL: initialiser 'w' contains NaN\n");
  }
}

TEST(Initialisers, InfIsNoWeight) {
  const std::string expected = "the weight 'w' contains Inf\n";
  for (int constant : {0, 1}) {
    TestModel product;
    product.input("x", {1, 2});
    if (constant) {
      onnx::TensorProto value;
      value.set_data_type(onnx::TensorProto::FLOAT);
      value.add_dims(2);
      value.add_dims(1);
      value.add_float_data(1);
      value.add_float_data(-INFINITY);
      product.node("Constant", "", "w").attr("value", value);
    } else {
      product.floats("w", {2, 1}, {1, -INFINITY});
    }
    product.node("MatMul", "x w", "y").output("y");
    EXPECT_THAT(product.error(), EndsWith(expected));
  }
  TestModel conv;
  conv.input("x", {1, 1, 2, 2}).floats("w", {1, 1, 1, 1}, {INFINITY});
  EXPECT_THAT(conv.node("Conv", "x w", "y").output("y").error(),
              EndsWith(expected));
  TestModel norm;
  norm.input("x", {1, 1}).floats("w", {1}, {INFINITY}).floats("v", {1}, {1});
  EXPECT_THAT(
      norm.node("BatchNormalization", "x v v v w", "y").output("y").error(),
      EndsWith(expected));
}

TEST(Initialisers, InfIsABoundOrMask) {
  TestModel clip;
  clip.input("x", {2}).floats("lo", {}, {-INFINITY}).floats("hi", {}, {6});
  Imported bounds = clip.node("Clip", "x lo hi", "y").output("y").import();
  EXPECT_EQ(bounds.diagnostics, "");
  EXPECT_THAT(bounds.ir, HasSubstr("low = 0xFFF0000000000000"));
  TestModel open;
  open.input("x", {2}).floats("lo", {}, {-INFINITY});
  open.floats("hi", {}, {INFINITY}).node("Clip", "x lo hi", "y").output("y");
  EXPECT_THAT(open.import().ir, Not(HasSubstr("tarpon.clip")));
  // A product elsewhere in the model does not mind.
  TestModel mask;
  mask.input("x", {1, 2}).floats("m", {2}, {0, -INFINITY});
  mask.floats("w", {2, 2}, {1, 2, 3, 4}).node("MatMul", "x w", "z");
  mask.node("Add", "z m", "y").output("y");
  EXPECT_EQ(mask.import().diagnostics, "");
}

//===----------------------------------------------------------------------===//
// External data
//===----------------------------------------------------------------------===//

class ExternalData : public testing::Test {
protected:
  void reference(const char *key, const std::string &value) {
    auto &entry = *tensor.add_external_data();
    entry.set_key(key);
    entry.set_value(value);
  }
  std::string error() {
    std::string text = model.error();
    const std::string prefix = "MODEL: initialiser 'w': ";
    EXPECT_EQ(text.substr(0, prefix.size()), prefix);
    return text.substr(prefix.size());
  }

  TestModel model;
  onnx::TensorProto &tensor =
      addTensor(model.output("w"), onnx::TensorProto::UINT8, {2});
  void SetUp() override {
    tensor.set_data_location(onnx::TensorProto::EXTERNAL);
    model.getFolder().write("w.bin", "abcd");
  }
};

TEST_F(ExternalData, ReadsAPart) {
  reference("location", "w.bin");
  reference("offset", "1");
  reference("length", "2");
  Imported result = model.import();
  EXPECT_THAT(result.ir, HasSubstr("dense<[98, 99]> : tensor<2xui8>"));
  // The digest covers the data.
  model.getFolder().write("w.bin", "abcx");
  EXPECT_NE(model.import().info.sha256, result.info.sha256);
}

TEST_F(ExternalData, WrongSize) {
  reference("location", "w.bin");
  EXPECT_EQ(error(), "the shape needs 2 bytes of data, but there are 4\n");
}

/// Writes the first byte of a file again and again while it lives.
class Writer {
public:
  explicit Writer(const std::string &path)
      : thread([this, path] {
          std::fstream file(path, std::ios::in | std::ios::out);
          for (char byte = static_cast<char>(file.get()); !isOver;
               file.seekp(0).put(byte).flush())
            std::this_thread::sleep_for(std::chrono::microseconds(200));
        }) {}
  ~Writer() {
    isOver = true;
    thread.join();
  }

private:
  std::atomic<bool> isOver = false;
  std::thread thread;
};

/// The hash, or some weights, may be of other bytes than the rest.
TEST_F(ExternalData, FilesThatAreBeingWrittenAreRefused) {
  constexpr size_t kBytes = 16 << 20;
  tensor.set_dims(0, kBytes);
  model.getFolder().write("w.bin", std::string(kBytes, 'a'));
  reference("location", "w.bin");
  Writer writer(model.getFolder().getPath("w.bin"));
  EXPECT_THAT(model.error(), StartsWith("MODEL: external data '"));
  EXPECT_THAT(model.error(), EndsWith("was changed while it was read\n"));
}

TEST_F(ExternalData, ModelsThatAreBeingWrittenAreRefused) {
  constexpr size_t kBytes = 16 << 20;
  tensor.Clear();
  tensor.set_name("w");
  tensor.add_dims(kBytes);
  tensor.set_data_type(onnx::TensorProto::UINT8);
  tensor.set_raw_data(std::string(kBytes, 'a'));
  std::string path = model.getFolder().getPath("m.onnx");
  model.getFolder().write("m.onnx", model.getProto().SerializeAsString());
  Writer writer(path);
  EXPECT_EQ(importFile(path).diagnostics,
            "MODEL: the file was changed while it was read\n");
}

TEST_F(ExternalData, MissingFile) {
  reference("location", "none.bin");
  EXPECT_THAT(error(), EndsWith("none.bin' does not exist\n"));
}

TEST_F(ExternalData, NotAFile) {
  ASSERT_FALSE(llvm::sys::fs::create_directory(model.getFolder().getPath("d")));
  reference("location", "d");
  EXPECT_THAT(error(), EndsWith("d' is not a file\n"));
}

TEST_F(ExternalData, OutsideTheFolder) {
  EXPECT_FALSE(llvm::sys::fs::create_link("/etc/passwd",
                                          model.getFolder().getPath("link")));
  for (const char *path : {"/etc/passwd", "../x", "a/../../x", "link"}) {
    tensor.clear_external_data();
    reference("location", path);
    EXPECT_EQ(error(), std::string("external data '") + path +
                           "' lies outside the model's folder\n");
  }
}

TEST_F(ExternalData, BeyondTheEnd) {
  reference("location", "w.bin");
  reference("offset", "5");
  EXPECT_EQ(error(), "external data offset 5 is beyond the end of 'w.bin' (4 "
                     "bytes)\n");
  tensor.mutable_external_data(1)->set_value("3");
  reference("length", "18446744073709551615");
  EXPECT_EQ(error(),
            "external data of 18446744073709551615 bytes at offset 3 is beyond "
            "the end of 'w.bin' (4 bytes)\n");
}

TEST_F(ExternalData, BadEntries) {
  EXPECT_EQ(error(), "external data has no location\n");
  reference("offset", "-1");
  EXPECT_EQ(error(), "external data has the invalid entry 'offset' = '-1'\n");
}

//===----------------------------------------------------------------------===//
// Tensor files
//===----------------------------------------------------------------------===//

TEST(TensorFile, Reads) {
  TemporaryFolder folder;
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::INT32);
  proto.add_dims(2);
  proto.add_int32_data(5);
  proto.add_int32_data(-6);
  folder.write("t.pb", proto.SerializeAsString());
  auto tensor = readOnnxTensorFile(folder.getPath("t.pb"));
  ASSERT_TRUE(tensor);
  EXPECT_EQ(tensor->dtype, runtime::DType::I32);
  EXPECT_THAT(tensor->shape, testing::ElementsAre(2));
  EXPECT_EQ(reinterpret_cast<const int32_t *>(tensor->data.data())[1], -6);
}

TEST(TensorFile, Errors) {
  TemporaryFolder folder;
  std::string path = folder.getPath("t.pb");
  EXPECT_EQ(readOnnxTensorFile(path).message(),
            "cannot read '" + path + "': No such file or directory");
  folder.write("t.pb", "garbage");
  EXPECT_EQ(readOnnxTensorFile(path).message(),
            "'" + path +
                "' is not an ONNX tensor: it is truncated or not a protobuf");
  folder.write("t.pb", "");
  EXPECT_EQ(readOnnxTensorFile(path).message(),
            "'" + path + "': unsupported data type 0 (UNDEFINED)");
  onnx::TensorProto proto;
  proto.set_data_type(onnx::TensorProto::INT32);
  proto.set_data_location(onnx::TensorProto::EXTERNAL);
  folder.write("t.pb", proto.SerializeAsString());
  EXPECT_EQ(readOnnxTensorFile(path).message(),
            "'" + path + "': external data is not allowed here");
  // A SequenceProto of one tensor: a name, its type and the tensor.
  folder.write("t.pb", std::string("\x0a\x01s\x10\x01\x1a\x02\x10\x01", 9));
  EXPECT_EQ(readOnnxTensorFile(path).message(),
            "'" + path + "' holds a sequence or an optional, not a tensor");
}

} // namespace
