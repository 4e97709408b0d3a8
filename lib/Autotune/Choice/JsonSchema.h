//===- JsonSchema.h - Checks a document against a schema --------*- C++ -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//
//
// The keywords of JSON Schema (draft 2020-12) that docs/tuning.schema.json
// uses. A schema with any other keyword is refused, so that no rule is silently
// skipped.
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_LIB_AUTOTUNE_CHOICE_JSONSCHEMA_H
#define TARPON_LIB_AUTOTUNE_CHOICE_JSONSCHEMA_H

#include "tarpon/Runtime/Result.h"

#include <nlohmann/json.hpp>

namespace tarpon {

/// Checks a document. The error names the first place that breaks the schema,
/// and how: "candidates[0].layers[3].median_ms: expected a number, got a
/// string".
runtime::Status checkJson(const nlohmann::json &document,
                          const nlohmann::json &schema);

} // namespace tarpon

#endif // TARPON_LIB_AUTOTUNE_CHOICE_JSONSCHEMA_H
