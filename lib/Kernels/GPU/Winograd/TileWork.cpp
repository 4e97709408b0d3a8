//===- TileWork.cpp - Distributes tiles of images to lanes ----------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "TileWork.h"

#include "llvm/Support/MathExtras.h"

#include <tuple>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::gpuwinograd;

/// Neighbouring tiles of a run: 32 pixels, 64 bytes of f16.
static constexpr int64_t kRun = 16;

static int64_t countPlaces(const TileGrid &grid, int64_t vectors, bool planes) {
  int64_t tiles = planes ? llvm::alignTo(grid.tiles(), kRun) : grid.tiles();
  return tiles * vectors;
}

TileWork::TileWork(LaunchBuilder &launch, const TileGrid &grid, int64_t vectors,
                   bool planes)
    : planes(planes), numPlaces(countPlaces(grid, vectors, planes)),
      places(launch.addParam(numPlaces)), tiles(launch.addParam(grid.tiles())),
      vectors(launch, vectors), tilesX(launch, grid.tilesX),
      tilesY(launch, grid.tilesY) {}

int64_t TileWork::tasks() const {
  return static_cast<int64_t>(llvm::divideCeil(numPlaces, kWorkgroup));
}

void TileWork::emit(KernelBuilder &b,
                    function_ref<void(const Place &)> body) const {
  Ints ints(b);
  Value index = b.add(ints.mul(ints.from(b.getBegin()), kWorkgroup),
                      ints.from(b.getLane()));
  Place place;
  auto emitTile = [&] {
    Value rest;
    std::tie(rest, place.x) = tilesX.bind(b).divRem(b, place.tile);
    std::tie(place.image, place.y) = tilesY.bind(b).divRem(b, rest);
    body(place);
  };
  b.ifThen(b.slt(index, ints.param(places)), [&] {
    if (!planes) {
      std::tie(place.tile, place.vector) = vectors.bind(b).divRem(b, index);
      return emitTile();
    }
    Value run;
    std::tie(run, place.vector) =
        vectors.bind(b).divRem(b, ints.div(index, kRun));
    place.tile = b.add(ints.mul(run, kRun), ints.rem(index, kRun));
    b.ifThen(b.slt(place.tile, ints.param(tiles)), emitTile);
  });
}
