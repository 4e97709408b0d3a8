//===- PlanMemory.cpp - Place results and workspaces in an arena -*- C++
//-*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time is counted in ops of the function. Greedy by size comes within a few per
// cent of the optimum on networks (Pisarchyk and Lee, "Efficient Memory
// Management for Deep Neural Net Inference", 2020).
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/Views.h"
#include "tarpon/Passes/Passes.h"
#include "tarpon/Runtime/KernelABI.h"

#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace tarpon;

namespace tarpon {
#define GEN_PASS_DEF_PLANMEMORYPASS
#include "tarpon/Passes/Passes.h.inc"
} // namespace tarpon

namespace {

/// Memory that is in use from the op number `first` to the op number `last`.
struct Buffer {
  /// The storage of results, or else the launch whose workspace it is.
  Value storage;
  LaunchOp launch;
  int64_t size;
  unsigned first, last;
  int64_t offset = 0;

  bool overlapsInTime(const Buffer &other) const {
    return first <= other.last && other.first <= last;
  }
  int64_t end() const { return offset + size; }
};

} // namespace

//===----------------------------------------------------------------------===//
// Lifetimes
//===----------------------------------------------------------------------===//

/// What one value, with all views of it, is used for.
struct ValueUses {
  unsigned last;
  unsigned numReturns = 0;
  bool returnsView = false;
};

static ValueUses getUses(Value value,
                         const llvm::DenseMap<Operation *, unsigned> &times) {
  ValueUses uses{times.lookup(value.getDefiningOp())};
  SmallVector<Value> views = {value};
  while (!views.empty()) {
    Value view = views.pop_back_val();
    for (Operation *user : view.getUsers()) {
      uses.last = std::max(uses.last, times.lookup(user));
      if (isa<ReshapeOp, SliceOp, JoinOp>(user))
        views.push_back(user->getResult(0));
      if (!isa<func::ReturnOp>(user))
        continue;
      ++uses.numReturns;
      uses.returnsView |= view != value;
    }
  }
  return uses;
}

static int64_t getBufferSize(int64_t bytes) {
  return llvm::alignTo(bytes + runtime::kBufferTailPadding,
                       runtime::kBufferAlignment);
}

static int64_t getBytes(Value value) {
  auto type = cast<RankedTensorType>(value.getType());
  return getTensorDesc(type, /*constant=*/false).numBytes();
}

/// The buffers of all launches; results with memory of their own are marked and
/// left out.
static SmallVector<Buffer> collectBuffers(func::FuncOp function) {
  llvm::DenseMap<Operation *, unsigned> times;
  for (auto [time, op] : llvm::enumerate(function.getBody().front()))
    times[&op] = time;
  SmallVector<Buffer> buffers;
  llvm::DenseMap<Value, size_t> bufferOf;
  auto addResult = [&](OpResult result, unsigned time) {
    ValueUses uses = getUses(result, times);
    Value storage = getView(result).storage;
    if (storage == result && uses.numReturns == 1 && !uses.returnsView) {
      cast<LaunchOp>(result.getOwner())
          .setResultOffset(result.getResultNumber(), -1);
    } else if (auto [known, isNew] =
                   bufferOf.try_emplace(storage, buffers.size());
               isNew) {
      buffers.push_back({storage, nullptr, getBufferSize(getBytes(storage)),
                         time, uses.last});
    } else {
      Buffer &buffer = buffers[known->second];
      buffer.last = std::max(buffer.last, uses.last);
    }
  };
  for (auto launch : function.getBody().front().getOps<LaunchOp>()) {
    unsigned time = times[launch];
    // One that nothing reads is written all the same.
    for (OpResult result : launch->getResults())
      addResult(result, time);
    if (launch.getWorkspaceBytes() != 0)
      buffers.push_back({Value(), launch,
                         getBufferSize(launch.getWorkspaceBytes()), time,
                         time});
  }
  return buffers;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// The start of the smallest gap between buffers (sorted by offset) that holds
/// `size` bytes, or the end of them all.
static int64_t findGap(ArrayRef<const Buffer *> neighbours, int64_t size) {
  int64_t best = -1, bestSize = 0, end = 0;
  for (const Buffer *neighbour : neighbours) {
    int64_t gap = neighbour->offset - end;
    if (gap >= size && (best < 0 || gap < bestSize)) {
      best = end;
      bestSize = gap;
    }
    end = std::max(end, neighbour->end());
  }
  return best < 0 ? end : best;
}

/// Gives all buffers their offsets and returns the size of the arena.
static int64_t placeBuffers(MutableArrayRef<Buffer> buffers) {
  SmallVector<Buffer *> order;
  for (Buffer &buffer : buffers)
    order.push_back(&buffer);
  llvm::stable_sort(order, [](const Buffer *lhs, const Buffer *rhs) {
    return lhs->size > rhs->size;
  });
  int64_t arenaBytes = 0;
  SmallVector<const Buffer *> placed;
  for (Buffer *buffer : order) {
    auto neighbours = llvm::filter_to_vector(placed, [&](const Buffer *other) {
      return buffer->overlapsInTime(*other);
    });
    buffer->offset = findGap(neighbours, buffer->size);
    arenaBytes = std::max(arenaBytes, buffer->end());
    auto *at = llvm::upper_bound(placed, buffer->offset,
                                 [](int64_t offset, const Buffer *other) {
                                   return offset < other->offset;
                                 });
    placed.insert(at, buffer);
  }
  return arenaBytes;
}

/// Writes down where results and workspaces lie.
static void setOffsets(func::FuncOp function, ArrayRef<Buffer> buffers) {
  Builder builder(function.getContext());
  llvm::DenseMap<Value, int64_t> offsets;
  for (const Buffer &buffer : buffers) {
    if (buffer.storage)
      offsets[buffer.storage] = buffer.offset;
    else
      LaunchOp(buffer.launch)
          .setWorkspaceOffsetAttr(builder.getI64IntegerAttr(buffer.offset));
  }
  for (auto launch : function.getBody().front().getOps<LaunchOp>())
    for (OpResult result : launch->getResults()) {
      View view = getView(result);
      auto storage = offsets.find(view.storage);
      if (storage == offsets.end())
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      int64_t elementBytes =
          runtime::dtypeBytes(getTensorDesc(type, /*constant=*/false).dtype);
      LaunchOp(launch).setResultOffset(result.getResultNumber(),
                                       storage->second +
                                           view.offset * elementBytes);
    }
}

namespace {

struct PlanMemoryPass : tarpon::impl::PlanMemoryPassBase<PlanMemoryPass> {
  void runOnOperation() override {
    func::FuncOp function = getOperation();
    if (function.isExternal())
      return;
    for (Operation &op : function.getBody().front().without_terminator())
      if (!isa<ConstantOp, JoinOp, ReshapeOp, SliceOp, LaunchOp>(op)) {
        op.emitOpError("has no place in memory: it is not a launch");
        return signalPassFailure();
      }
    SmallVector<Buffer> buffers = collectBuffers(function);
    int64_t bytes = placeBuffers(buffers);
    Builder builder(&getContext());
    setOffsets(function, buffers);
    for (const Buffer &buffer : buffers)
      bufferBytes += buffer.size;
    arenaBytes += bytes;
    function->setAttr(kArenaBytesAttrName, builder.getI64IntegerAttr(bytes));
  }
};

} // namespace
