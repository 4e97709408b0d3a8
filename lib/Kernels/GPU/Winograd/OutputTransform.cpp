//===- OutputTransform.cpp - Transforms products to results ---------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Common/VectorAccess.h"
#include "Winograd.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

#include <algorithm>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuwinograd;

namespace {

class OutputKernel {
public:
  OutputKernel(LaunchBuilder &launch, const Problem &problem,
               const Transform &transform, const TensorDesc &from, int64_t at);
  void emit(KernelBuilder &b) const;
  std::string symbol() const;
  int64_t tasks() const { return work.tasks(); }

private:
  using Values = SmallVector<Value>;
  void emitTile(KernelBuilder &b, const VectorOutput::Bound &out,
                const TileWork::Place &place) const;
  /// Loads the products of one column of points.
  Values loadColumn(KernelBuilder &b, Value offset, int64_t column) const;
  /// Stores contiguous pixels, from column x of row y on.
  void storeRow(KernelBuilder &b, const VectorOutput::Bound &out, Value image,
                Value channel, Value y, Value x, ValueRange pixels) const;
  /// Stores one vector of channels.
  void storePixel(KernelBuilder &b, const VectorOutput::Bound &out, Value image,
                  Value channel, Value y, Value x, Value pixel) const;
  /// Stores, for each channel, its elements of `pixels` at once.
  void storePlanes(KernelBuilder &b, const VectorOutput::Bound &out,
                   Value image, Value channel, Value y, Value x,
                   ValueRange pixels) const;

  Transform transform;
  double scale;
  bool planes, wholeRows;
  int64_t vector;
  TileWork work;
  int64_t source;
  int64_t height, width, channels, pointBytes;
  VectorOutput output;
};

} // namespace

/// The vector of 16 bytes of the result, limited by the sums that fit the
/// registers. In nchw, of 16 bytes of the products.
static int64_t chooseOutputVector(const TensorDesc &result) {
  int64_t most = 16 / runtime::dtypeBytes(result.dtype);
  bool planes = result.layout.kind == Layout::NCHW;
  return chooseVector(result.shape[1],
                      planes ? 4 : std::clamp<int64_t>(most, 4, 8));
}

OutputKernel::OutputKernel(LaunchBuilder &launch, const Problem &problem,
                           const Transform &transform, const TensorDesc &from,
                           int64_t at)
    : transform(transform), scale(1 / getInputScale(problem.operands[0].dtype)),
      planes(problem.result.layout.kind == Layout::NCHW),
      wholeRows(problem.result.shape[3] % transform.outTile() == 0),
      vector(chooseOutputVector(problem.result)),
      work(launch, getTileGrid(problem, transform), from.shape[2] / vector,
           planes),
      source(launch.addBuffer({BufferSlot::Workspace, at})),
      height(launch.addParam(problem.result.shape[2])),
      width(launch.addParam(problem.result.shape[3])),
      channels(launch.addParam(from.shape[2])),
      pointBytes(launch.addParam(from.shape[1] * from.shape[2] *
                                 runtime::dtypeBytes(from.dtype))),
      output(launch, problem) {}

std::string OutputKernel::symbol() const {
  std::string text =
      "gpu_winograd_f" + std::to_string(transform.outTile()) + "_output";
  text += planes ? "_nchw" : "_nhwc";
  text += std::to_string(vector);
  text += planes && wholeRows ? "_rows" : "";
  text += scale == 1 ? "" : "_x" + std::to_string(static_cast<int>(scale));
  return joinSymbol({text, output.symbolPart()});
}

OutputKernel::Values OutputKernel::loadColumn(KernelBuilder &b, Value offset,
                                              int64_t column) const {
  Values values;
  int64_t size = transform.inTile();
  Type type = vector == 1 ? b.f32() : Type(b.vec(b.f32(), vector));
  for (int64_t row = 0; row < size; ++row) {
    // The part that all lanes share comes first.
    Value base = b.offset(b.getBuffer(source),
                          b.mul(b.getParam(pointBytes), row * size + column));
    values.push_back(b.load(b.offset(base, offset), type));
  }
  return values;
}

void OutputKernel::storePixel(KernelBuilder &b, const VectorOutput::Bound &out,
                              Value image, Value channel, Value y, Value x,
                              Value pixel) const {
  Ints ints(b);
  Value row = b.add(b.mul(image, ints.param(height)), y);
  Value index = b.add(b.mul(row, ints.param(width)), x);
  VectorPlace place;
  place.lanes = vector;
  place.lanesAreChannels = true;
  place.pixel = ints.widen(index);
  place.element = place.channel = ints.widen(channel);
  place.offset = ints.widen(b.add(b.mul(index, ints.param(channels)), channel));
  out.store(b, place, pixel);
}

void OutputKernel::storePlanes(KernelBuilder &b, const VectorOutput::Bound &out,
                               Value image, Value channel, Value y, Value x,
                               ValueRange pixels) const {
  Ints ints(b);
  Value firstPlane = b.add(b.mul(image, ints.param(channels)), channel);
  auto lanes = static_cast<int64_t>(pixels.size());
  for (int64_t i = 0; i < vector; ++i) {
    Values elements;
    for (Value pixel : pixels)
      elements.push_back(vector == 1 ? pixel
                                     : vector::ExtractOp::create(b, pixel, i));
    Value value = lanes == 1 ? elements.back()
                             : vector::FromElementsOp::create(
                                   b, b.vec(b.f32(), lanes), elements);
    Value row = b.add(b.mul(ints.add(firstPlane, i), ints.param(height)), y);
    VectorPlace place;
    place.lanes = lanes;
    place.channel = ints.widen(ints.add(channel, i));
    place.offset = ints.widen(b.add(b.mul(row, ints.param(width)), x));
    out.store(b, place, value);
  }
}

void OutputKernel::storeRow(KernelBuilder &b, const VectorOutput::Bound &out,
                            Value image, Value channel, Value y, Value x,
                            ValueRange pixels) const {
  Ints ints(b);
  if (planes && wholeRows)
    return storePlanes(b, out, image, channel, y, x, pixels);
  for (auto [i, pixel] : llvm::enumerate(pixels)) {
    Value column = ints.add(x, static_cast<int64_t>(i));
    b.ifThen(b.slt(column, ints.param(width)), [&, pixel = pixel] {
      if (planes)
        storePlanes(b, out, image, channel, y, column, pixel);
      else
        storePixel(b, out, image, channel, y, column, pixel);
    });
  }
}

void OutputKernel::emitTile(KernelBuilder &b, const VectorOutput::Bound &out,
                            const TileWork::Place &place) const {
  Ints ints(b);
  Value channel = ints.mul(place.vector, vector);
  Value element = b.add(b.mul(place.tile, ints.param(channels)), channel);
  Value offset = ints.widen(ints.mul(element, 4));
  SmallVector<Values> columns;
  for (int64_t column = 0; column < transform.inTile(); ++column)
    columns.push_back(transform.emitOutput(b, loadColumn(b, offset, column)));
  Value firstY = ints.mul(place.y, transform.outTile());
  Value x = ints.mul(place.x, transform.outTile());
  for (int64_t row = 0; row < transform.outTile(); ++row) {
    Values values;
    for (const Values &column : columns)
      values.push_back(column[row]);
    Values pixels = transform.emitOutput(b, values);
    if (scale != 1)
      for (Value &pixel : pixels)
        pixel = b.mulF(pixel, b.cstLike(pixel.getType(), scale));
    Value y = ints.add(firstY, row);
    b.ifThen(b.slt(y, ints.param(height)),
             [&] { storeRow(b, out, place.image, channel, y, x, pixels); });
  }
}

void OutputKernel::emit(KernelBuilder &b) const {
  VectorOutput::Bound out = output.bind(b);
  work.emit(b, [&](const TileWork::Place &place) { emitTile(b, out, place); });
}

void gpuwinograd::planOutputTransform(SolutionPlan &plan,
                                      const Problem &problem,
                                      const Transform &transform,
                                      int64_t products) {
  LaunchBuilder launch(plan);
  OutputKernel kernel(launch, problem, transform,
                      getProducts(problem, transform).result, products);
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      kernel.tasks());
  plan.launches.back().kernel.workgroup = kWorkgroup;
}
