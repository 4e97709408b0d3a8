//===- Fourier.cpp - Fourier transforms in one dimension ------------------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Fourier.h"

#include "mlir/Dialect/LLVMIR/LLVMDialect.h"

#include <cmath>
#include <numbers>
#include <tuple>

using namespace mlir;
using namespace tarpon;
using namespace tarpon::fft;

static constexpr double kPi = std::numbers::pi;

/// The transform of pair n / 4 omits the factor of two that the other pairs
/// get, and its inverse expects it.
double fft::getPairScale(int64_t n, int64_t pair) {
  auto points = static_cast<double>(n);
  if (pair == 0)
    return 1 / points;
  return pair == n / 4 ? 2 / points : 0.5 / points;
}

//===----------------------------------------------------------------------===//
// Arithmetic
//===----------------------------------------------------------------------===//

Value Fourier::negate(Value value) {
  return b.subF(b.cstLike(value.getType(), 0), value);
}

/// x e^(i angle).
Complex Fourier::multiply(Complex x, double angle) {
  if (angle == 0)
    return x;
  Value re = b.cstLike(x.re.getType(), std::cos(angle));
  Value im = b.cstLike(x.re.getType(), std::sin(angle));
  Value negative = b.cstLike(x.re.getType(), -std::sin(angle));
  return {b.fma(x.im, negative, b.mulF(x.re, re)),
          b.fma(x.im, re, b.mulF(x.re, im))};
}

/// a + c e^(i angle) and a - c e^(i angle); the angle is a multiple of pi / 4.
std::pair<Complex, Complex> Fourier::butterfly(Complex a, Complex c,
                                               double angle) {
  auto eighths = static_cast<int64_t>(std::lround(angle / (kPi / 4)));
  if (eighths == 0)
    return {{b.addF(a.re, c.re), b.addF(a.im, c.im)},
            {b.subF(a.re, c.re), b.subF(a.im, c.im)}};
  if (eighths == 2) // i c
    return {{b.subF(a.re, c.im), b.addF(a.im, c.re)},
            {b.addF(a.re, c.im), b.subF(a.im, c.re)}};
  if (eighths == -2)
    return {{b.addF(a.re, c.im), b.subF(a.im, c.re)},
            {b.subF(a.re, c.im), b.addF(a.im, c.re)}};
  // Both parts of the factor have the same magnitude.
  double root = std::sqrt(0.5);
  double re = std::abs(eighths) == 1 ? root : -root;
  bool same = (eighths > 0) == (re > 0);
  Value x = same ? b.subF(c.re, c.im) : b.addF(c.re, c.im);
  Value y = same ? b.addF(c.im, c.re) : b.subF(c.im, c.re);
  Value plus = b.cstLike(x.getType(), re), minus = b.cstLike(x.getType(), -re);
  return {{b.fma(x, plus, a.re), b.fma(y, plus, a.im)},
          {b.fma(x, minus, a.re), b.fma(y, minus, a.im)}};
}

/// Transforms up to eight points in registers; `sign` is that of the exponent.
Fourier::Values Fourier::transform(ArrayRef<Complex> x, double sign) {
  size_t n = x.size();
  if (n == 1)
    return {x[0]};
  Values even, odd, result(n);
  for (size_t i = 0; i < n; ++i)
    (i % 2 ? odd : even).push_back(x[i]);
  even = transform(even, sign);
  odd = transform(odd, sign);
  for (size_t k = 0; k < n / 2; ++k) {
    double angle =
        sign * 2 * kPi * static_cast<double>(k) / static_cast<double>(n);
    std::tie(result[k], result[k + n / 2]) = butterfly(even[k], odd[k], angle);
  }
  return result;
}

//===----------------------------------------------------------------------===//
// Memory
//===----------------------------------------------------------------------===//

void Fourier::emitFence() {
  LLVM::FenceOp::create(b, LLVM::AtomicOrdering::seq_cst, "singlethread");
}

Complex Fourier::at(Value base, int64_t index) {
  int64_t bytes = 4 * b.lanes();
  Type type = b.vec(b.f32(), b.lanes());
  return {b.load(b.offset(base, 2 * index * bytes), type),
          b.load(b.offset(base, (2 * index + 1) * bytes), type)};
}

void Fourier::put(Complex value, Value base, int64_t index) {
  int64_t bytes = 4 * b.lanes();
  b.store(value.re, b.offset(base, 2 * index * bytes));
  b.store(value.im, b.offset(base, (2 * index + 1) * bytes));
}

/// The registers hold n complex numbers, and the temporaries of one pair of
/// them.
bool Fourier::fitsRegisters(int64_t n) const {
  constexpr int64_t kTemporaries = 6;
  return 2 * n + kTemporaries <= b.getTarget().vectorRegisters;
}

int64_t Fourier::chooseRadix(int64_t n) const {
  return fitsRegisters(8) && n > 16 ? 8 : 4;
}

//===----------------------------------------------------------------------===//
// Transforms
//===----------------------------------------------------------------------===//

/// Decimation in time: transforms every `rest`-th element, each set into a row
/// of the scratch, and then across the rows.
void Fourier::emitComplex(int64_t n, bool inverse, Load load, Store store,
                          Value scratch) {
  double sign = inverse ? 1 : -1;
  if (fitsRegisters(n)) {
    Values x;
    for (int64_t i = 0; i < n; ++i)
      x.push_back(load(i));
    x = transform(x, sign);
    for (int64_t k = 0; k < n; ++k)
      store(k, x[k]);
    emitFence();
    return;
  }
  int64_t radix = chooseRadix(n), rest = n / radix;
  double step = sign * 2 * kPi / static_cast<double>(n);
  for (int64_t first = 0; first < rest; ++first) {
    Values x;
    for (int64_t i = 0; i < radix; ++i)
      x.push_back(load(first + rest * i));
    x = transform(x, sign);
    for (int64_t k = 0; k < radix; ++k)
      put(multiply(x[k], step * static_cast<double>(first * k)), scratch,
          first * radix + k);
    emitFence();
  }
  Value behind = b.offset(scratch, 2 * n * 4 * b.lanes());
  for (int64_t k = 0; k < radix; ++k)
    emitComplex(
        rest, inverse,
        [&](int64_t first) { return at(scratch, first * radix + k); },
        [&](int64_t j, Complex value) { store(k + radix * j, value); }, behind);
}

/// Converts between the transform of n / 2 complex numbers and the pairs of n
/// real ones, in either direction: with S = Z[k] + conj Z[n/2 - k] and T the
/// difference of the two times -i e^(-2 pi i k / n) (its conjugate for the
/// inverse), pair k is S + T, and its mirror the conjugate of S - T.
void Fourier::recombine(int64_t n, bool inverse, Load load, Store store) {
  int64_t half = n / 2;
  Complex first = load(0);
  store(0, {b.addF(first.re, first.im), b.subF(first.re, first.im)});
  Complex middle = load(half / 2);
  store(half / 2, {middle.re, negate(middle.im)});
  for (int64_t k = 1; k < half / 2; ++k) {
    Complex x = load(k), y = load(half - k);
    Complex sum = {b.addF(x.re, y.re), b.subF(x.im, y.im)};
    Complex difference = {b.subF(x.re, y.re), b.addF(x.im, y.im)};
    double angle =
        -kPi / 2 - 2 * kPi * static_cast<double>(k) / static_cast<double>(n);
    if (inverse)
      angle = -angle;
    Type type = x.re.getType();
    Value re = b.cstLike(type, std::cos(angle));
    Value im = b.cstLike(type, std::sin(angle));
    Value minusRe = b.cstLike(type, -std::cos(angle));
    Value minusIm = b.cstLike(type, -std::sin(angle));
    Value plusReal =
        b.fma(difference.im, minusIm, b.fma(difference.re, re, sum.re));
    Value plusImag = b.fma(difference.im, re, b.fma(difference.re, im, sum.im));
    Value minusReal =
        b.fma(difference.im, im, b.fma(difference.re, minusRe, sum.re));
    Value minusImag =
        b.fma(difference.im, minusRe, b.fma(difference.re, minusIm, sum.im));
    store(k, {plusReal, plusImag});
    store(half - k, {minusReal, negate(minusImag)});
  }
}

void Fourier::emitReal(int64_t n, Load load, Store store) {
  int64_t half = n / 2;
  if (fitsRegisters(half)) {
    Values x;
    for (int64_t i = 0; i < half; ++i)
      x.push_back(load(i));
    x = transform(x, -1);
    recombine(n, /*inverse=*/false, [&](int64_t i) { return x[i]; }, store);
    emitFence();
    return;
  }
  emitComplex(
      half, /*inverse=*/false, load,
      [&](int64_t k, Complex value) { put(value, memory, k); },
      b.offset(memory, 2 * half * 4 * b.lanes()));
  recombine(
      n, /*inverse=*/false, [&](int64_t i) { return at(memory, i); },
      [&](int64_t k, Complex value) {
        store(k, value);
        emitFence();
      });
}

void Fourier::emitRealInverse(int64_t n, Load load, Store store) {
  int64_t half = n / 2;
  if (fitsRegisters(half)) {
    Values x(half);
    recombine(n, /*inverse=*/true, load,
              [&](int64_t k, Complex value) { x[k] = value; });
    x = transform(x, 1);
    for (int64_t i = 0; i < half; ++i)
      store(i, x[i]);
    emitFence();
    return;
  }
  recombine(n, /*inverse=*/true, load, [&](int64_t k, Complex value) {
    put(value, memory, k);
    emitFence();
  });
  emitComplex(
      half, /*inverse=*/true, [&](int64_t i) { return at(memory, i); }, store,
      b.offset(memory, 2 * half * 4 * b.lanes()));
}
