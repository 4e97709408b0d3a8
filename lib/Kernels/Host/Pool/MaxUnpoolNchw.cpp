//===- MaxUnpoolNchw.cpp - Unpools maxima, plane by plane -----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// One channel of one image is a task: its elements are written, in order, to
// their places in scratch memory, which is then stored in vectors.
//
//===----------------------------------------------------------------------===//

#include "Common/TensorAccess.h"
#include "Common/VectorAccess.h"
#include "Host/Solvers.h"

using namespace mlir;
using namespace tarpon;

namespace {

class MaxUnpoolNchw final : public Solver {
public:
  StringRef id() const override { return "max-unpool-nchw-v1"; }
  Applicability isApplicable(const Problem &problem,
                             const TargetInfo &target) const override;
  double expectedFraction(const Problem & /*problem*/,
                          const TargetInfo & /*target*/) const override {
    return 0.3;
  }
  SolutionPlan plan(const Problem &problem, const TargetInfo &target,
                    const PerfConfig &config) const override;
};

struct MaxUnpoolNchwKernel {
  FlatTensor input;
  VectorOutput output;
  int64_t indices;                    ///< buffer of i64
  int64_t elements, pixels, channels; ///< parameters: of a plane

  void emit(KernelBuilder &b) const;
  void emitPlane(KernelBuilder &b, const BoundFlatTensor &in,
                 Value plane) const;
  Value pixelPointer(KernelBuilder &b, Value pixel) const {
    return b.offset(b.getScratch(), b.mul(pixel, 4));
  }
};

} // namespace

void MaxUnpoolNchwKernel::emitPlane(KernelBuilder &b, const BoundFlatTensor &in,
                                    Value plane) const {
  Value count = b.getParam(elements), size = b.getParam(pixels);
  Value start = b.mul(plane, count), origin = b.mul(plane, size);
  b.forLoop(count, [&](Value i) {
    Value from = b.add(start, i);
    Value index =
        b.load(b.offset(b.getBuffer(indices), b.mul(from, 8)), b.getI64Type());
    Value pixel = b.sub(index, origin);
    b.ifThen(b.ult(pixel, size),
             [&] { b.store(in.load(b, from, 1), pixelPointer(b, pixel)); });
  });
}

void MaxUnpoolNchwKernel::emit(KernelBuilder &b) const {
  BoundFlatTensor in = input.bind(b);
  VectorOutput::Bound out = output.bind(b);
  int64_t lanes = b.lanes();
  Value size = b.getParam(pixels);
  VectorType type = b.vec(b.getF32Type(), lanes);
  b.forTasks([&](Value plane) {
    // The last vector may reach behind the plane.
    Value zero = b.cstLike(type, 0);
    b.forLoop(b.cst(0), size, b.cst(lanes),
              [&](Value i) { b.store(zero, pixelPointer(b, i)); });
    emitPlane(b, in, plane);
    forVectors(b, b.cst(0), size, lanes, [&](Value i, Value mask) {
      VectorPlace place;
      place.offset = b.add(b.mul(plane, size), i);
      place.channel = b.rem(plane, b.getParam(channels));
      place.lanes = lanes;
      place.mask = mask;
      out.store(b, place, b.load(pixelPointer(b, i), type));
    });
  });
}

Applicability MaxUnpoolNchw::isApplicable(const Problem &problem,
                                          const TargetInfo & /*target*/) const {
  if (problem.op != OpKind::MaxUnpool)
    return Applicability::no("is not the inverse of a maximum pool");
  for (const TensorDesc &desc :
       {problem.operands[0], problem.operands[1], problem.result})
    if (desc.layout.kind != Layout::NCHW)
      return Applicability::no("needs operands and result in nchw");
  if (!isVectorizable(problem.operands[0]))
    return notVectorizable("the operand");
  return VectorOutput::check(problem);
}

SolutionPlan MaxUnpoolNchw::plan(const Problem &problem,
                                 const TargetInfo & /*target*/,
                                 const PerfConfig & /*config*/) const {
  const TensorDesc &input = problem.operands[0], &result = problem.result;
  SolutionPlan plan;
  LaunchBuilder launch(plan);
  int64_t pixels = result.spatialSize();
  MaxUnpoolNchwKernel kernel{
      .input = FlatTensor(launch, {BufferSlot::Operand, 0}, input),
      .output = VectorOutput(launch, problem),
      .indices = launch.addOperand(1),
      .elements = launch.addParam(input.spatialSize()),
      .pixels = launch.addParam(pixels),
      .channels = launch.addParam(result.shape[1])};
  std::string symbol =
      joinSymbol({getOpName(problem.op), kernel.input.symbolPart(),
                  kernel.output.symbolPart()});
  launch.finish(
      symbol, [kernel](KernelBuilder &b) { kernel.emit(b); },
      result.shape[0] * result.shape[1], 4 * llvm::alignTo(pixels, 64));
  return plan;
}

const Solver &tarpon::getMaxUnpoolNchw() {
  static const MaxUnpoolNchw solver;
  return solver;
}
