//===- Fusion.h - Which operations share a launch ---------------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_PASSES_FUSION_H
#define TARPON_PASSES_FUSION_H

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace tarpon {

/// The fusion setting of a model, as --fusion, tuning files and packages spell
/// it.
enum class Fusion : uint8_t {
  On,        ///< elementwise operations are fused with those in front of them
  Producers, ///< also operations with those that read them (Producer.h)
  Off        ///< every operation is a launch of its own
};

/// All settings, in the order in which they are listed.
inline constexpr std::array<Fusion, 3> kFusions = {
    Fusion::On, Fusion::Producers, Fusion::Off};

/// The settings that are tried where one is picked. Producers seldom pay
/// (docs/gpu-kit.md): who wants them tried lists them.
inline constexpr std::array<Fusion, 2> kTriedFusions = {Fusion::On,
                                                        Fusion::Off};

/// "on", "producers" or "off".
std::string_view getFusionName(Fusion fusion);

/// Returns the setting of that name, or none.
std::optional<Fusion> parseFusion(std::string_view name);

} // namespace tarpon

#endif // TARPON_PASSES_FUSION_H
