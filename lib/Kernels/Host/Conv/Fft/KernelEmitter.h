//===- KernelEmitter.h - Emits kernels in the frequency domain  -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_FFT_KERNELEMITTER_H
#define TARPON_LIB_KERNELS_HOST_CONV_FFT_KERNELEMITTER_H

#include "Host/Conv/Winograd/KernelEmitter.h"
#include "TileTransform.h"

namespace tarpon::fft {

/// A tile of the output: its image, and its place in rows and columns of tiles.
struct TilePlace {
  Value image, y, x;
};

/// Reads tiles and stores them; KernelEmitter.cpp.
class TileIO {
public:
  /// `zeros` points to a line of zeros, `line` to lines for a row of pixels.
  TileIO(KernelBuilder &b, const KernelSpec &spec,
         const winograd::Context &context, Value zeros, Value line);

  /// Reads the input of a tile: channels from `channel` on of the group that
  /// starts at `input` in its first image.
  class Reader final : public RowReader {
  public:
    Reader(TileIO &io, Value input, const TilePlace &place, Value channel);
    Value exists(Value y) override;
    void open(Value y) override;
    Value load(int64_t x) override;

  private:
    TileIO &io;
    Value image, channel, top, left, row;
  };

  /// The number of the tile's rows that exist.
  Value countRows(const TilePlace &place);
  /// Stores row y of the tile: channels from `channel` of all groups on, of
  /// which `channels` exist.
  void storeRow(const TilePlace &place, Value y, Value pixels, Value channel,
                Value channels);

  winograd::ChannelReader &getReader() { return reader; }

private:
  KernelBuilder &b;
  const KernelSpec &spec;
  const winograd::Context &context;
  Value zeros, line, outTileH, outTileW;
  winograd::ChannelReader reader;
  igemm::ResultEmitter result;
};

} // namespace tarpon::fft

#endif // TARPON_LIB_KERNELS_HOST_CONV_FFT_KERNELEMITTER_H
