//===- ConvTransposeOp.cpp - Transposed convolution -------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Inference.h"
#include "tarpon/IR/TarponOps.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::detail;

static LogicalResult checkChannels(const Reporter &report,
                                   RankedTensorType input,
                                   RankedTensorType filter, int64_t group) {
  int64_t channels = input.getDimSize(1);
  // C4
  if (!isGroupOf(group, channels, channels))
    return report("expects a positive group that divides ", channels,
                  " input channels, got ", group);
  // C5
  if (filter.getDimSize(0) != channels)
    return report("expects a filter with ", channels, " input channels, got ",
                  filter.getDimSize(0));
  return success();
}

/// The spatial dimensions of the result.
static FailureOr<SmallVector<int64_t>>
inferSpread(const Reporter &report, ArrayRef<int64_t> spatial,
            const SlidingWindow &window, ArrayRef<int64_t> outputPadding) {
  SmallVector<int64_t> result;
  std::optional<size_t> empty =
      window.appendSpread(spatial, outputPadding, result);
  if (!empty)
    return result;
  return report("expects a result of at least one place and of 63 bits in "
                "spatial dimension ",
                *empty, ", got pads of ", window.pads[*empty], " and ",
                window.pads[spatial.size() + *empty]);
}

LogicalResult
ConvTransposeOp::inferReturnTypes(MLIRContext *,
                                  std::optional<Location> location,
                                  Adaptor adaptor, Types &types) {
  Reporter report{location, getOperationName()};
  if (failed(checkStatic(report, adaptor.getOperands())))
    return failure();
  RankedTensorType input = getTensorType(adaptor.getInput());
  RankedTensorType filter = getTensorType(adaptor.getFilter());
  // C1
  int64_t rank = input.getRank();
  if (rank < 3 || rank > 5 || filter.getRank() != rank)
    return report("expects input and filter of the same rank, 3 to 5, got ",
                  rank, " and ", filter.getRank());
  // C2, C3
  SlidingWindow window{filter.getShape().drop_front(2), adaptor.getStrides(),
                       adaptor.getPads(), adaptor.getDilations()};
  if (failed(checkWindow(report, rank, window)) ||
      failed(checkEntries(report, "output_padding", adaptor.getOutputPadding(),
                          rank - 2, 0)))
    return failure();
  // C4, C5
  int64_t group = adaptor.getGroup();
  if (failed(checkChannels(report, input, filter, group)))
    return failure();
  // C6
  FailureOr<SmallVector<int64_t>> spatial =
      inferSpread(report, input.getShape().drop_front(2), window,
                  adaptor.getOutputPadding());
  if (failed(spatial))
    return failure();
  // C7, C8
  if (failed(checkMultiplied(report, input.getElementType(),
                             filter.getElementType())))
    return failure();
  // C9
  if (failed(checkRowMajor(report, "filter", filter)))
    return failure();
  // C10
  if (failed(checkScales(report, input.getElementType(),
                         filter.getElementType(), /*axis=*/1)))
    return failure();

  SmallVector<int64_t> shape{input.getDimSize(0), filter.getDimSize(1) * group};
  shape.append(*spatial);
  types.push_back(RankedTensorType::get(
      shape, getAccumulatedType(input.getElementType()), input.getEncoding()));
  return success();
}

bool ConvTransposeOp::isParameterOperand(unsigned index) { return index == 1; }
bool ConvTransposeOp::accumulates() { return true; }
int64_t ConvTransposeOp::getFilterOperand() { return 1; }
int64_t ConvTransposeOp::getFilterChannelAxis() { return 1; }
