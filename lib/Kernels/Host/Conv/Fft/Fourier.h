//===- Fourier.h - Fourier transforms in one dimension -------- -*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// Transforms of 4 to 64 points whose elements are vectors of channels: code is
// emitted as for scalars, with the twiddle factors as constants (Cooley and
// Tukey, "An Algorithm for the Machine Calculation of Complex Fourier Series",
// Mathematics of Computation 19, 1965). As many points as the registers hold
// are transformed at once; longer transforms pass through memory in between.
//
// n real numbers are transformed as n / 2 complex ones, x[2 j] + i x[2 j + 1],
// and the result is separated again (Sorensen, Jones, Heideman and Burrus,
// "Real-Valued Fast Fourier Transform Algorithms", IEEE Transactions on ASSP
// 35(6), 1987). Of the spectrum, which is symmetric, n / 2 pairs are kept: pair
// 0 holds the real numbers at frequencies 0 and n / 2, pair k the complex one
// at k. Factors of two are left in the pairs: see getPairScale.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_KERNELS_HOST_CONV_FFT_FOURIER_H
#define TARPON_LIB_KERNELS_HOST_CONV_FFT_FOURIER_H

#include "tarpon/Kernels/Common/KernelBuilder.h"

namespace tarpon::fft {

using mlir::Value;

/// A vector of complex numbers, or two of real ones.
struct Complex {
  Value re, im;
};

/// The factor of a spectrum with which the transform of n real numbers and the
/// inverse one cancel.
double getPairScale(int64_t n, int64_t pair);

class Fourier {
public:
  using Load = llvm::function_ref<Complex(int64_t index)>;
  using Store = llvm::function_ref<void(int64_t index, Complex value)>;

  /// `memory` holds memoryVectors(n) vectors for the longest transform.
  Fourier(KernelBuilder &b, Value memory) : b(b), memory(memory) {}
  static int64_t memoryVectors(int64_t points) { return 4 * points; }

  /// Transforms n complex numbers. All are loaded before any is stored. The
  /// inverse does not divide by n.
  void emitComplex(int64_t n, bool inverse, Load load, Store store) {
    emitComplex(n, inverse, load, store, memory);
  }
  /// Transforms n / 2 pairs of neighbouring real numbers to n / 2 pairs of the
  /// spectrum.
  void emitReal(int64_t n, Load load, Store store);
  /// The inverse of emitReal.
  void emitRealInverse(int64_t n, Load load, Store store);

  /// Keeps the compiler from moving loads and stores across, which would use
  /// too many registers; emits no instruction.
  void emitFence();

private:
  using Values = mlir::SmallVector<Complex>;

  void emitComplex(int64_t n, bool inverse, Load load, Store store,
                   Value scratch);
  bool fitsRegisters(int64_t n) const;
  int64_t chooseRadix(int64_t n) const;
  Values transform(llvm::ArrayRef<Complex> x, double sign);
  std::pair<Complex, Complex> butterfly(Complex a, Complex c, double angle);
  Complex multiply(Complex x, double angle);
  void recombine(int64_t n, bool inverse, Load load, Store store);
  Complex at(Value base, int64_t index);
  void put(Complex value, Value base, int64_t index);
  Value negate(Value value);

  KernelBuilder &b;
  Value memory;
};

} // namespace tarpon::fft

#endif // TARPON_LIB_KERNELS_HOST_CONV_FFT_FOURIER_H
