// RUN: graph-opt %s | FileCheck %s
// RUN: graph-opt %s | graph-opt - | FileCheck %s

// CHECK: module @gpu attributes {tarpon.target = #tarpon.target<"gfx942:cu=304">}
module @gpu attributes {tarpon.target = #tarpon.target<"gfx942:cu=304">} {
}

// CHECK: module @cpu attributes {tarpon.target = #tarpon.target<"x86-64-v3", {threads = 2 : i64}>}
module @cpu attributes {tarpon.target = #tarpon.target<"x86-64-v3", {threads = 2}>} {
}

// CHECK: module @emulated attributes {tarpon.target = #tarpon.target<"gfx1100", {device = "emulated"}>}
module @emulated attributes {tarpon.target = #tarpon.target<"gfx1100", {device = "emulated"}>} {
}
