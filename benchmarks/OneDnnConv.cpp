//===- OneDnnConv.cpp - Times oneDNN's convolutions -----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// A contestant of benchmarks/convs. Reads requests from stdin, a line each, and
// answers each with a line of JSON:
//   conv DTYPE ACTIVATION N C H W K R S STRIDE_H STRIDE_W TOP LEFT BOTTOM RIGHT
//        DILATION_H DILATION_W GROUPS       prepares a convolution
//   time MILLISECONDS                       times it for about so long
// DTYPE is fp32, or int8: u8 activations, s8 weights with a scale for each
// channel. Layouts and the algorithm are the library's choice, and nothing is
// reordered: the buffers are taken to hold what it wants. The number of threads
// is OpenMP's.
//
//===----------------------------------------------------------------------===//

#include "Sampling.h"

#include <dnnl.hpp>

#include <array>
#include <cstring>
#include <iostream>
#include <memory>
#include <random>
#include <sstream>

using namespace dnnl;
using tarpon::benchmarks::countReplicas;
using tarpon::benchmarks::sampleRound;

namespace {

struct Shape {
  std::string dtype, activation;
  memory::dim n, c, h, w, k, r, s, strideH, strideW, top, left, bottom, right,
      dilationH, dilationW, groups;

  bool parse(std::istream &in) {
    in >> dtype >> activation;
    for (memory::dim *field :
         {&n, &c, &h, &w, &k, &r, &s, &strideH, &strideW, &top, &left, &bottom,
          &right, &dilationH, &dilationW, &groups})
      in >> *field;
    return !in.fail() && (dtype == "fp32" || dtype == "int8");
  }

  bool isInt8() const { return dtype == "int8"; }
  memory::dim outHeight() const {
    return (h + top + bottom - dilationH * (r - 1) - 1) / strideH + 1;
  }
  memory::dim outWidth() const {
    return (w + left + right - dilationW * (s - 1) - 1) / strideW + 1;
  }
};

/// One convolution with as many sets of buffers as are used in turn.
class Convolution {
public:
  Convolution(const engine &engine, const Shape &shape);

  void run(stream &stream) {
    primitive.execute(stream, arguments[next]);
    stream.wait();
    next = (next + 1) % arguments.size();
  }

  std::string implementation() const { return description.impl_info_str(); }

private:
  void addReplica(const engine &engine);

  convolution_forward::primitive_desc description;
  convolution_forward primitive;
  std::vector<std::unordered_map<int, memory>> arguments;
  size_t next = 0;
};

} // namespace

//===----------------------------------------------------------------------===//
// The primitive
//===----------------------------------------------------------------------===//

static void addActivation(post_ops &operations, const std::string &name) {
  if (name == "relu")
    operations.append_eltwise(1, algorithm::eltwise_relu, 0, 0);
  else if (name == "relu6")
    operations.append_eltwise(1, algorithm::eltwise_clip, 0, 6);
  else if (name == "leaky")
    operations.append_eltwise(1, algorithm::eltwise_relu, 0.1f, 0);
}

static primitive_attr makeAttributes(const Shape &shape) {
  primitive_attr attributes;
  if (shape.isInt8()) {
    constexpr int kPerChannel = 1 << 1;
    std::vector<float> scales(static_cast<size_t>(shape.k));
    for (size_t i = 0; i < scales.size(); ++i)
      scales[i] = 0.001f * static_cast<float>(1 + i % 7);
    attributes.set_output_scales(kPerChannel, scales);
  }
  post_ops operations;
  addActivation(operations, shape.activation);
  attributes.set_post_ops(operations);
  return attributes;
}

static convolution_forward::primitive_desc describe(const engine &engine,
                                                    const Shape &shape) {
  using type = memory::data_type;
  type activations = shape.isInt8() ? type::u8 : type::f32;
  type weights = shape.isInt8() ? type::s8 : type::f32;
  memory::dims filter = {shape.k, shape.c / shape.groups, shape.r, shape.s};
  if (shape.groups > 1)
    filter = {shape.groups, shape.k / shape.groups, shape.c / shape.groups,
              shape.r, shape.s};
  auto any = memory::format_tag::any;
  convolution_forward::desc wanted(
      prop_kind::forward_inference, algorithm::convolution_auto,
      {{shape.n, shape.c, shape.h, shape.w}, activations, any},
      {filter, weights, any}, {{shape.k}, type::f32, any},
      {{shape.n, shape.k, shape.outHeight(), shape.outWidth()},
       activations,
       any},
      {shape.strideH, shape.strideW},
      {shape.dilationH - 1, shape.dilationW - 1}, {shape.top, shape.left},
      {shape.bottom, shape.right});
  return {wanted, makeAttributes(shape), engine};
}

//===----------------------------------------------------------------------===//
// Buffers
//===----------------------------------------------------------------------===//

/// Random numbers in (-1, 1), or random bytes.
static void fill(memory &buffer, unsigned seed) {
  std::minstd_rand random(seed);
  size_t size = buffer.get_desc().get_size();
  auto *bytes = static_cast<char *>(buffer.get_data_handle());
  if (buffer.get_desc().data_type() != memory::data_type::f32) {
    for (size_t i = 0; i < size; ++i)
      bytes[i] = static_cast<char>(random() >> 8);
    return;
  }
  for (size_t i = 0; i + sizeof(float) <= size; i += sizeof(float)) {
    float value = static_cast<float>(random() % 2001) / 1000 - 1;
    std::memcpy(bytes + i, &value, sizeof(value));
  }
}

void Convolution::addReplica(const engine &engine) {
  memory source(description.src_desc(), engine),
      weights(description.weights_desc(), engine),
      bias(description.bias_desc(), engine),
      result(description.dst_desc(), engine);
  if (arguments.empty()) {
    fill(source, 1);
    fill(weights, 2);
    fill(bias, 3);
  } else {
    auto copy = [&](int argument, memory &to) {
      std::memcpy(to.get_data_handle(),
                  arguments[0].at(argument).get_data_handle(),
                  to.get_desc().get_size());
    };
    copy(DNNL_ARG_SRC, source);
    copy(DNNL_ARG_WEIGHTS, weights);
    copy(DNNL_ARG_BIAS, bias);
  }
  std::memset(result.get_data_handle(), 0, result.get_desc().get_size());
  arguments.push_back({{DNNL_ARG_SRC, source},
                       {DNNL_ARG_WEIGHTS, weights},
                       {DNNL_ARG_BIAS, bias},
                       {DNNL_ARG_DST, result}});
}

Convolution::Convolution(const engine &engine, const Shape &shape)
    : description(describe(engine, shape)), primitive(description) {
  size_t bytes = description.src_desc().get_size() +
                 description.dst_desc().get_size() +
                 description.weights_desc().get_size() +
                 description.bias_desc().get_size();
  for (int64_t i = countReplicas(static_cast<int64_t>(bytes)); i > 0; --i)
    addReplica(engine);
}

//===----------------------------------------------------------------------===//
// The server
//===----------------------------------------------------------------------===//

namespace {
class Server {
public:
  /// One answer, without the end of the line.
  std::string answer(const std::string &request);

private:
  engine cpu{engine::kind::cpu, 0};
  stream order{cpu};
  std::unique_ptr<Convolution> current;
};
} // namespace

std::string Server::answer(const std::string &request) {
  std::istringstream words(request);
  std::string verb;
  words >> verb;
  if (verb == "conv") {
    Shape shape;
    if (!shape.parse(words))
      return R"({"error": "not a shape"})";
    current.reset();
    current = std::make_unique<Convolution>(cpu, shape);
    current->run(order);
    return R"({"implementation": ")" + current->implementation() + "\"}";
  }
  double milliseconds = 0;
  if (verb != "time" || !(words >> milliseconds) || !current)
    return R"({"error": "not a request"})";
  auto samples = sampleRound([&] { current->run(order); }, milliseconds);
  return R"({"samples_ms": )" + tarpon::benchmarks::toJson(samples) + "}";
}

int main() {
  Server server;
  for (std::string request; std::getline(std::cin, request);) {
    std::string text;
    try {
      text = server.answer(request);
    } catch (const dnnl::error &error) {
      text = std::string(R"({"error": ")") + error.what() + "\"}";
    }
    std::cout << text << '\n' << std::flush;
  }
  return 0;
}
