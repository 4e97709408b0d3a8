//===- NormSpace.cpp - The groups of a normalisation ----------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "NormSpace.h"

#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace tarpon;
using namespace tarpon::reference;

int64_t NormSpace::getGroupSize() const {
  int64_t size = 1;
  for (auto [dim, extent] : llvm::enumerate(sizes))
    size *= kept[dim] ? 1 : extent;
  return size;
}

std::vector<int64_t> NormSpace::getGroups() const {
  std::vector<int64_t> groups = sizes;
  for (size_t dim = 0; dim < groups.size(); ++dim)
    if (!kept[dim])
      groups[dim] = 1;
  return groups;
}

std::string NormSpace::symbolPart() const {
  std::string part = splitsChannels ? "s" : "k";
  for (bool isKept : kept)
    part.push_back(isKept ? '1' : '0');
  return part;
}

SmallVector<Value> NormSpace::toPlace(KernelBuilder &b, ArrayRef<Value> indices,
                                      ArrayRef<Value> extents) const {
  SmallVector<Value> place(indices);
  if (!splitsChannels)
    return place;
  place[1] = b.add(b.mul(indices[1], extents[2]), indices[2]);
  place.erase(place.begin() + 2);
  return place;
}

TensorDesc NormSpace::spread(const TensorDesc &desc, const TensorDesc &x,
                             bool followsElements) const {
  TensorDesc spread = desc;
  int64_t rank =
      followsElements ? x.rank() : static_cast<int64_t>(sizes.size());
  // A vector of channels, and a matrix of images and groups.
  bool isVector = desc.rank() == 1 && kept.size() > 1 && !kept[0] && kept[1];
  bool isAffine = desc.rank() == 1 && followsElements && kept[0] && kept[1] &&
                  desc.shape[0] == x.shape[1] && splitsChannels;
  if (isVector || isAffine)
    spread.shape.resize(rank - 1, 1);
  else if (desc.rank() == 2 && splitsChannels)
    spread.shape.resize(rank, 1);
  return spread;
}

NormSpace reference::getNormSpace(const Problem &problem) {
  NormSpace space;
  const std::vector<int64_t> &shape = problem.operands[0].shape;
  space.sizes = shape;
  space.kept.assign(shape.size(), false);
  if (problem.op == OpKind::LayerNorm) {
    std::fill_n(space.kept.begin(), problem.integer("axis"), true);
  } else if (problem.op == OpKind::GroupNorm) {
    int64_t groups = problem.integer("groups");
    space.splitsChannels = true;
    space.sizes[1] = groups;
    space.sizes.insert(space.sizes.begin() + 2, shape[1] / groups);
    space.kept.assign(space.sizes.size(), false);
    space.kept[0] = space.kept[1] = true;
  } else {
    // Batch normalisation has statistics per channel, or per place in an image.
    bool spatial = problem.integer("spatial") != 0;
    std::fill(space.kept.begin() + 1, space.kept.end(), !spatial);
    space.kept[1] = true;
  }
  return space;
}
