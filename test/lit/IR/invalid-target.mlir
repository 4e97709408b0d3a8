// RUN: graph-opt %s -split-input-file -verify-diagnostics

// C1
// expected-error@+1 {{expects positive threads, a cpu or a device as options of a target, got "threads" = 0 : i64}}
module attributes {tarpon.target = #tarpon.target<"host", {threads = 0}>} {
}

// -----

// C1
// expected-error@+1 {{expects positive threads, a cpu or a device as options of a target, got "color" = "red"}}
module attributes {tarpon.target = #tarpon.target<"host", {color = "red"}>} {
}

// -----

// C2
// expected-error@+1 {{unknown target 'vax', expected host, gfx90a, gfx942, gfx950, gfx1100, gfx1201, sm_80, sm_89, sm_90a or sm_100a}}
module attributes {tarpon.target = #tarpon.target<"vax">} {
}

// -----

// C2
// expected-error@+1 {{'gfx942:red' is not a GPU target, expected gfx942:cu=N with N compute units}}
module attributes {tarpon.target = #tarpon.target<"gfx942:red">} {
}

// -----

// C2
// expected-error@+1 {{unknown CPU 'vax'}}
module attributes {tarpon.target = #tarpon.target<"host", {cpu = "vax"}>} {
}

// -----

// C2
// expected-error@+1 {{unknown device 'tube' of gfx942, expected hip or emulated}}
module attributes {tarpon.target = #tarpon.target<"gfx942", {device = "tube"}>} {
}
