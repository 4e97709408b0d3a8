//===- PlanMemory.cpp - Places results and workspaces in an arena ---------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Time is counted in ops of the function. Placement is greedy by size, which
// comes within a few per cent of the optimum on networks (Pisarchyk and Lee,
// "Efficient Memory Management for Deep Neural Net Inference", 2020).
//
//===----------------------------------------------------------------------===//

#include "tarpon/IR/FusedProblem.h"
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

/// Memory that is in use from op number `first` to op number `last`.
struct Buffer {
  /// The launch whose workspace it is, or null for results.
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

/// The uses of one value and all views of it.
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
      if (isa<BitcastOp, ReshapeOp, SliceOp, JoinOp>(user))
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

namespace {

/// All buffers in the arena. Results with memory of their own have none.
class Buffers {
public:
  explicit Buffers(func::FuncOp function);

  std::vector<Buffer> list;
  /// The buffer in which storage lies.
  llvm::DenseMap<Value, size_t> ofStorage;

private:
  void addResult(OpResult result);
  std::optional<size_t> findOverwritable(LaunchOp launch, unsigned time) const;

  llvm::DenseMap<Operation *, unsigned> times;
};

} // namespace

Buffers::Buffers(func::FuncOp function) {
  for (auto [time, op] : llvm::enumerate(function.getBody().front()))
    times[&op] = time;
  for (auto launch : function.getBody().front().getOps<LaunchOp>()) {
    // A result that nothing reads is written all the same.
    for (OpResult result : launch->getResults())
      addResult(result);
    if (launch.getWorkspaceBytes() != 0)
      list.push_back({launch, getBufferSize(launch.getWorkspaceBytes()),
                      times[launch], times[launch]});
  }
}

void Buffers::addResult(OpResult result) {
  auto launch = cast<LaunchOp>(result.getOwner());
  unsigned time = times[launch];
  ValueUses uses = getUses(result, times);
  Value storage = getView(result).storage;
  if (storage == result && uses.numReturns == 1 && !uses.returnsView)
    return launch.setResultOffset(result.getResultNumber(), -1);
  auto [known, isNew] = ofStorage.try_emplace(storage, list.size());
  if (isNew && storage == result)
    if (std::optional<size_t> buffer = findOverwritable(launch, time))
      known->second = *buffer;
  if (known->second == list.size())
    list.push_back(
        {nullptr, getBufferSize(getBytes(storage)), time, uses.last});
  Buffer &buffer = list[known->second];
  buffer.last = std::max(buffer.last, uses.last);
}

/// Returns the buffer of an operand that the result of the launch may
/// overwrite: it is as large, and nothing else reads it, then or later.
std::optional<size_t> Buffers::findOverwritable(LaunchOp launch,
                                                unsigned time) const {
  for (int64_t input : launch.getMayOverwrite().value_or(ArrayRef<int64_t>())) {
    View view = getView(launch.getInputs()[input]);
    auto buffer = ofStorage.find(view.storage);
    if (buffer == ofStorage.end() || list[buffer->second].last != time ||
        getBytes(view.storage) != getBytes(launch.getResult()))
      continue;
    auto sharesBuffer = [&](Value other) {
      auto known = ofStorage.find(getView(other).storage);
      return known != ofStorage.end() && known->second == buffer->second;
    };
    if (llvm::count_if(launch.getInputs(), sharesBuffer) == 1)
      return buffer->second;
  }
  return std::nullopt;
}

//===----------------------------------------------------------------------===//
// Placement
//===----------------------------------------------------------------------===//

/// Returns the start of the smallest gap between buffers (sorted by offset)
/// that holds `size` bytes, or the end of them all.
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

/// Sets the offsets of all buffers and returns the size of the arena.
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

/// Sets the offset attributes of results and workspaces.
static void setOffsets(func::FuncOp function, const Buffers &buffers) {
  Builder builder(function.getContext());
  for (const Buffer &buffer : buffers.list)
    if (buffer.launch)
      LaunchOp(buffer.launch)
          .setWorkspaceOffsetAttr(builder.getI64IntegerAttr(buffer.offset));
  for (auto launch : function.getBody().front().getOps<LaunchOp>())
    for (OpResult result : launch->getResults()) {
      View view = getView(result);
      auto buffer = buffers.ofStorage.find(view.storage);
      if (buffer == buffers.ofStorage.end())
        continue;
      auto type = cast<RankedTensorType>(result.getType());
      int64_t elementBytes =
          runtime::dtypeBytes(getTensorDesc(type, /*constant=*/false).dtype);
      launch.setResultOffset(result.getResultNumber(),
                             buffers.list[buffer->second].offset +
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
      if (!isa<BitcastOp, ConstantOp, JoinOp, ReshapeOp, SliceOp, LaunchOp>(
              op)) {
        op.emitOpError("has no place in memory: it is not a launch");
        return signalPassFailure();
      }
    Buffers buffers(function);
    int64_t bytes = placeBuffers(buffers.list);
    Builder builder(&getContext());
    setOffsets(function, buffers);
    for (const Buffer &buffer : buffers.list)
      bufferBytes += buffer.size;
    arenaBytes += bytes;
    function->setAttr(kArenaBytesAttrName, builder.getI64IntegerAttr(bytes));
  }
};

} // namespace
