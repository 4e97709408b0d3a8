// RUN: graph-opt %s -split-input-file -verify-diagnostics

// The constraints of the elementwise ops by their numbers.

// relu C1
func.func @relu_c1(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.relu' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.relu %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// clip C1
func.func @clip_c1(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.clip' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.clip %x {low = 0.0 : f64, high = 6.0 : f64} : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// leaky_relu C1
func.func @leaky_relu_c1(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.leaky_relu' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.leaky_relu %x {alpha = 0.5 : f32} : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// sigmoid C1
func.func @sigmoid_c1(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.sigmoid' op expects float elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.sigmoid %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// hard_sigmoid C1
func.func @hard_sigmoid_c1(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.hard_sigmoid' op expects float elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.hard_sigmoid %x {alpha = 0.5 : f32, beta = 0.5 : f32} : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// hard_swish C1
func.func @hard_swish_c1(%x: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.hard_swish' op expects float elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.hard_swish %x : (tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// unary result
func.func @unary_result(%x: tensor<4xf32>) {
  // expected-error@below {{'tarpon.relu' op inferred type(s) 'tensor<4xf32>' are incompatible with return type(s) of operation 'tensor<4xf16>'}}
  %y = tarpon.relu %x : (tensor<4xf32>) -> tensor<4xf16>
  return
}

// -----

// unary static
func.func @unary_static(%x: tensor<?xf32>) {
  // expected-error@below {{'tarpon.relu' op operand #0 must be statically shaped tensor of any type values, but got 'tensor<?xf32>'}}
  %y = tarpon.relu %x : (tensor<?xf32>) -> tensor<?xf32>
  return
}

// -----

// add C1
func.func @add_c1(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error@below {{'tarpon.add' op expects shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
  %y = tarpon.add %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// add C2
func.func @add_c2(%a: tensor<3xf32>, %b: tensor<3xf16>) {
  // expected-error@below {{'tarpon.add' op expects operands of the same element type, got 'f32' and 'f16'}}
  %y = tarpon.add %a, %b : (tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>
  return
}

// -----

// add C3
func.func @add_c3(%a: tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, %b: tensor<1x1x2x2xf32>) {
  // expected-error@below {{'tarpon.add' op expects operands of the same layout, got 'tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>' and 'tensor<1x1x2x2xf32>'}}
  %y = tarpon.add %a, %b : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<1x1x2x2xf32>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// add C4
func.func @add_c4(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %b: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.add' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.add %a, %b : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// sub C1
func.func @sub_c1(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error@below {{'tarpon.sub' op expects shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
  %y = tarpon.sub %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// sub C2
func.func @sub_c2(%a: tensor<3xf32>, %b: tensor<3xf16>) {
  // expected-error@below {{'tarpon.sub' op expects operands of the same element type, got 'f32' and 'f16'}}
  %y = tarpon.sub %a, %b : (tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>
  return
}

// -----

// sub C3
func.func @sub_c3(%a: tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, %b: tensor<1x1x2x2xf32>) {
  // expected-error@below {{'tarpon.sub' op expects operands of the same layout, got 'tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>' and 'tensor<1x1x2x2xf32>'}}
  %y = tarpon.sub %a, %b : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<1x1x2x2xf32>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// sub C4
func.func @sub_c4(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %b: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.sub' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.sub %a, %b : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// mul C1
func.func @mul_c1(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error@below {{'tarpon.mul' op expects shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
  %y = tarpon.mul %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// mul C2
func.func @mul_c2(%a: tensor<3xf32>, %b: tensor<3xf16>) {
  // expected-error@below {{'tarpon.mul' op expects operands of the same element type, got 'f32' and 'f16'}}
  %y = tarpon.mul %a, %b : (tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>
  return
}

// -----

// mul C3
func.func @mul_c3(%a: tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, %b: tensor<1x1x2x2xf32>) {
  // expected-error@below {{'tarpon.mul' op expects operands of the same layout, got 'tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>' and 'tensor<1x1x2x2xf32>'}}
  %y = tarpon.mul %a, %b : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<1x1x2x2xf32>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// mul C4
func.func @mul_c4(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %b: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.mul' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.mul %a, %b : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// div C1
func.func @div_c1(%a: tensor<2x3xf32>, %b: tensor<2xf32>) {
  // expected-error@below {{'tarpon.div' op expects shapes that broadcast, got 'tensor<2x3xf32>' and 'tensor<2xf32>'}}
  %y = tarpon.div %a, %b : (tensor<2x3xf32>, tensor<2xf32>) -> tensor<2x3xf32>
  return
}

// -----

// div C2
func.func @div_c2(%a: tensor<3xf32>, %b: tensor<3xf16>) {
  // expected-error@below {{'tarpon.div' op expects operands of the same element type, got 'f32' and 'f16'}}
  %y = tarpon.div %a, %b : (tensor<3xf32>, tensor<3xf16>) -> tensor<3xf32>
  return
}

// -----

// div C3
func.func @div_c3(%a: tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, %b: tensor<1x1x2x2xf32>) {
  // expected-error@below {{'tarpon.div' op expects operands of the same layout, got 'tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>' and 'tensor<1x1x2x2xf32>'}}
  %y = tarpon.div %a, %b : (tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>, tensor<1x1x2x2xf32>) -> tensor<1x4x2x2xf32, #tarpon.layout<nhwc>>
  return
}

// -----

// div C4
func.func @div_c4(%a: tensor<4x!quant.uniform<i8:f32, 0.5>>, %b: tensor<4x!quant.uniform<i8:f32, 0.5>>) {
  // expected-error@below {{'tarpon.div' op expects float or integer elements, got '!quant.uniform<i8:f32, 5.000000e-01>'}}
  %y = tarpon.div %a, %b : (tensor<4x!quant.uniform<i8:f32, 0.5>>, tensor<4x!quant.uniform<i8:f32, 0.5>>) -> tensor<4x!quant.uniform<i8:f32, 0.5>>
  return
}

// -----

// binary result
func.func @binary_result(%a: tensor<2x1xf32>, %b: tensor<3xf32>) {
  // expected-error@below {{'tarpon.add' op inferred type(s) 'tensor<2x3xf32>' are incompatible with return type(s) of operation 'tensor<2x1xf32>'}}
  %y = tarpon.add %a, %b : (tensor<2x1xf32>, tensor<3xf32>) -> tensor<2x1xf32>
  return
}
