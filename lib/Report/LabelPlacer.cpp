//===- LabelPlacer.cpp - Labels that do not cover each other -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "LabelPlacer.h"

#include "llvm/ADT/STLExtras.h"

using namespace tarpon;
using namespace tarpon::report;
using page::Box;
using page::Spot;

// A text in the page's font takes about as much.
static constexpr double kLetter = 7, kAscent = 11, kHeight = 15;
static constexpr double kMarkRadius = 8;

static bool overlap(const Box &a, const Box &b) {
  return a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height &&
         b.y < a.y + a.height;
}

/// Returns the box of a text of that width.
static Box getBox(const LabelPlace &place, double width) {
  double left = place.spot.x;
  if (place.anchor == "end")
    left -= width;
  else if (place.anchor == "middle")
    left -= width / 2;
  return {left, place.spot.y - kAscent, width, kHeight};
}

void LabelPlacer::addMark(Spot spot) {
  taken.push_back({spot.x - kMarkRadius, spot.y - kMarkRadius, 2 * kMarkRadius,
                   2 * kMarkRadius});
}

bool LabelPlacer::isFree(const Box &box) const {
  return box.x >= area.x && box.x + box.width <= area.x + area.width &&
         box.y >= area.y && box.y + box.height <= area.y + area.height &&
         llvm::none_of(taken,
                       [&](const Box &other) { return overlap(box, other); });
}

/// Returns the place in a direction, whose x and y are -1, 0 or 1.
static LabelPlace makePlace(Spot mark, Spot direction) {
  constexpr double kBeside = 13, kAbove = 14, kBelow = 21, kMiddle = 4;
  LabelPlace place = {{mark.x + kBeside * direction.x, mark.y + kMiddle},
                      "middle"};
  if (direction.x != 0)
    place.anchor = direction.x > 0 ? "start" : "end";
  if (direction.y != 0)
    place.spot.y = direction.y > 0 ? mark.y + kBelow : mark.y - kAbove;
  return place;
}

std::optional<LabelPlace> LabelPlacer::place(Spot mark, size_t letters,
                                             llvm::ArrayRef<Spot> directions) {
  double width = kLetter * static_cast<double>(letters);
  for (Spot direction : directions) {
    LabelPlace place = makePlace(mark, direction);
    Box box = getBox(place, width);
    if (!isFree(box))
      continue;
    taken.push_back(box);
    return place;
  }
  return std::nullopt;
}
