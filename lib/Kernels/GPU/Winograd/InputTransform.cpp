//===- InputTransform.cpp - Transforms input tiles ------------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Winograd.h"

#include "mlir/Dialect/Vector/IR/VectorOps.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuwinograd;

namespace {

class InputKernel {
public:
  InputKernel(LaunchBuilder &launch, const Problem &problem,
              const Transform &transform, const TensorDesc &to, int64_t at);
  void emit(KernelBuilder &b) const;
  std::string symbol() const;
  int64_t tasks() const { return work.tasks(); }

private:
  using Values = SmallVector<Value>;
  void emitTile(KernelBuilder &b, const TileWork::Place &place) const;
  /// The vectors of one column of the tile, in f32.
  Values loadColumn(KernelBuilder &b, const TileWork::Place &place,
                    Value channel, int64_t column) const;
  /// Loads from an element of the input.
  Value load(KernelBuilder &b, Value element) const;
  void store(KernelBuilder &b, Value value, int64_t point, Value offset) const;

  Transform transform;
  DType dtype;
  bool planes;
  int64_t vector;
  TileWork work;
  int64_t source, to;
  int64_t height, width, padTop, padLeft, channels;
  /// The elements from one pixel, and in nchw from one channel, to the next.
  int64_t pixelStep, channelStep;
  int64_t imageStep, tileElements, pointBytes;
};

} // namespace

static bool isNchw(const TensorDesc &desc) {
  return desc.layout.kind == Layout::NCHW;
}

/// The vector of one 16-byte store, if the channels allow it.
static int64_t chooseInputVector(const TensorDesc &input) {
  return chooseVector(input.shape[1], 16 / runtime::dtypeBytes(input.dtype));
}

InputKernel::InputKernel(LaunchBuilder &launch, const Problem &problem,
                         const Transform &transform, const TensorDesc &desc,
                         int64_t at)
    : transform(transform), dtype(desc.dtype),
      planes(isNchw(problem.operands[0])),
      vector(chooseInputVector(problem.operands[0])),
      work(launch, getTileGrid(problem, transform), desc.shape[2] / vector,
           planes),
      source(launch.addOperand(0)),
      to(launch.addBuffer({BufferSlot::Workspace, at})) {
  const TensorDesc &input = problem.operands[0];
  std::vector<int64_t> pads = problem.ints("pads");
  int64_t pixels = input.spatialSize();
  height = launch.addParam(input.shape[2]);
  width = launch.addParam(input.shape[3]);
  padTop = launch.addParam(pads[0]);
  padLeft = launch.addParam(pads[1]);
  channels = launch.addParam(input.shape[1]);
  pixelStep = launch.addParam(planes ? 1 : input.pixelPitch());
  channelStep = launch.addParam(planes ? pixels : 1);
  imageStep =
      launch.addParam(pixels * (planes ? input.shape[1] : input.pixelPitch()));
  tileElements = launch.addParam(desc.shape[2]);
  pointBytes = launch.addParam(desc.shape[1] * desc.shape[2] *
                               runtime::dtypeBytes(dtype));
}

std::string InputKernel::symbol() const {
  return "gpu_winograd_f" + std::to_string(transform.outTile()) + "_input_" +
         std::string(runtime::dtypeName(dtype)) + (planes ? "_nchw" : "_nhwc") +
         std::to_string(vector);
}

Value InputKernel::load(KernelBuilder &b, Value element) const {
  Ints ints(b);
  Type type = b.storageType(dtype);
  auto loadFrom = [&](Value from, Type loaded) {
    Value bytes = ints.mul(from, runtime::dtypeBytes(dtype));
    return b.load(b.offset(b.getBuffer(source), ints.widen(bytes)), loaded);
  };
  if (vector == 1)
    return loadFrom(element, type);
  if (!planes)
    return loadFrom(element, b.vec(type, vector));
  Values values;
  Value step = ints.param(channelStep);
  for (int64_t i = 0; i < vector; ++i)
    values.push_back(loadFrom(b.add(element, ints.mul(step, i)), type));
  return vector::FromElementsOp::create(b, b.vec(type, vector), values);
}

InputKernel::Values InputKernel::loadColumn(KernelBuilder &b,
                                            const TileWork::Place &place,
                                            Value channel,
                                            int64_t column) const {
  Ints ints(b);
  int64_t size = transform.outTile();
  Value rows = ints.param(height), columns = ints.param(width);
  Value first = b.sub(ints.mul(place.y, size), ints.param(padTop));
  Value x =
      ints.add(b.sub(ints.mul(place.x, size), ints.param(padLeft)), column);
  Value isColumn =
      b.andI(b.ult(x, columns), b.slt(channel, ints.param(channels)));
  Value start = b.add(b.mul(place.image, ints.param(imageStep)),
                      b.mul(channel, ints.param(channelStep)));
  Values values;
  for (int64_t row = 0; row < transform.inTile(); ++row) {
    Value y = ints.add(first, row);
    Value isInside = b.andI(isColumn, b.ult(y, rows));
    Value pixel = b.add(b.mul(y, columns), x);
    Value element = b.add(start, b.mul(pixel, ints.param(pixelStep)));
    // An existing place is read in any case.
    Value loaded = load(b, b.select(isInside, element, ints.cst(0)));
    loaded = b.select(isInside, loaded, b.cstLike(loaded.getType(), 0));
    if (dtype == DType::F16) {
      Type wide = vector == 1 ? b.f32() : Type(b.vec(b.f32(), vector));
      loaded = arith::ExtFOp::create(b, wide, loaded);
    }
    values.push_back(loaded);
  }
  return values;
}

void InputKernel::store(KernelBuilder &b, Value value, int64_t point,
                        Value offset) const {
  if (double scale = getInputScale(dtype); scale != 1)
    value = b.mulF(value, b.cstLike(value.getType(), scale));
  // The part that all lanes share comes first.
  Value base = b.offset(b.getBuffer(to), b.mul(b.getParam(pointBytes), point));
  b.storeConverted(dtype, value, b.offset(base, offset));
}

void InputKernel::emitTile(KernelBuilder &b,
                           const TileWork::Place &place) const {
  Ints ints(b);
  int64_t size = transform.inTile();
  Value channel = ints.mul(place.vector, vector);
  SmallVector<Values> columns;
  for (int64_t column = 0; column < size; ++column)
    columns.push_back(
        transform.emitInput(b, loadColumn(b, place, channel, column)));
  Value element = b.add(b.mul(place.tile, ints.param(tileElements)), channel);
  Value offset = ints.widen(ints.mul(element, runtime::dtypeBytes(dtype)));
  for (int64_t row = 0; row < size; ++row) {
    Values values;
    for (const Values &column : columns)
      values.push_back(column[row]);
    for (auto [i, value] : llvm::enumerate(transform.emitInput(b, values)))
      store(b, value, row * size + static_cast<int64_t>(i), offset);
  }
}

void InputKernel::emit(KernelBuilder &b) const {
  work.emit(b, [&](const TileWork::Place &place) { emitTile(b, place); });
}

void gpuwinograd::planInputTransform(SolutionPlan &plan, const Problem &problem,
                                     const Transform &transform,
                                     int64_t transformed) {
  LaunchBuilder launch(plan);
  InputKernel kernel(launch, problem, transform,
                     getProducts(problem, transform).operands[0], transformed);
  launch.finish(
      kernel.symbol(), [kernel](KernelBuilder &b) { kernel.emit(b); },
      kernel.tasks());
  plan.launches.back().kernel.workgroup = kWorkgroup;
}
