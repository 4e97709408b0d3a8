//===- Topology.cpp - Reads GPUs' architectures from the driver -----------===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#include "Topology.h"

#include <filesystem>
#include <fstream>
#include <map>

using namespace tarpon;
using namespace tarpon::hip;
using runtime::Error;
using runtime::Result;
namespace fs = std::filesystem;

std::string hip::getChipName(int64_t version) {
  static constexpr char kDigits[] = "0123456789abcdef";
  int64_t stepping = version % 100;
  return "gfx" + std::to_string(version / 10000) +
         std::to_string(version / 100 % 100) + kDigits[stepping & 15];
}

/// Reads lines of "name value".
static std::map<std::string, int64_t> readProperties(const fs::path &path) {
  std::map<std::string, int64_t> properties;
  std::ifstream file(path);
  std::string name;
  int64_t value = 0;
  while (file >> name >> value)
    properties[name] = value;
  return properties;
}

Result<std::string> hip::findChip(const std::string &topology,
                                  const PciLocation &location) {
  std::error_code error;
  for (fs::directory_iterator it(topology, error), end; !error && it != end;
       it.increment(error)) {
    auto node = readProperties(it->path() / "properties");
    // CPUs are nodes, too.
    if (node["gfx_target_version"] == 0)
      continue;
    int64_t id = node["location_id"];
    if (node["domain"] == location.domain && (id >> 8 & 255) == location.bus &&
        (id >> 3 & 31) == location.device)
      return getChipName(node["gfx_target_version"]);
  }
  return Error{"the driver's list of GPUs (" + topology +
               ") has none at PCI bus " + std::to_string(location.domain) +
               ":" + std::to_string(location.bus) + ":" +
               std::to_string(location.device)};
}
