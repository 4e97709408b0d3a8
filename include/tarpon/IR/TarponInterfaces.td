//===- TarponInterfaces.td - The interfaces of ops ---------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONINTERFACES_TD
#define TARPON_IR_TARPONINTERFACES_TD

include "mlir/IR/OpBase.td"

def Tarpon_ElementwiseInterface : OpInterface<"ElementwiseInterface"> {
  let cppNamespace = "::tarpon";
  let description = [{
    The op computes each element of its result from the elements of its operands
    at the same place (after NumPy broadcasting). Such an op can be an epilogue:
    it can run on the accumulators of the op that produces one of its operands.
  }];
}

def Tarpon_LayoutInterface : OpInterface<"LayoutInterface"> {
  let cppNamespace = "::tarpon";
  let description = [{
    The op's requirements on the layout of its data operands and result. Ops
    without this interface take row-major tensors only.
  }];
  let methods = [
    InterfaceMethod<[{
      Returns true if the op can compute in the given layout (of all data
      operands and the result). nchw is always supported.
    }], "bool", "supportsLayout", (ins "::tarpon::LayoutAttr":$layout), "", [{
      return true;
    }]>,
    InterfaceMethod<[{
      Returns true if conversions to a supported layout are worth it. Otherwise
      the op computes in the layout of its data.
    }], "bool", "prefersLayout", (ins), "", [{
      return true;
    }]>,
    InterfaceMethod<[{
      Returns true for operands that the layout choice does not change: filters,
      per-channel vectors.
    }], "bool", "isParameterOperand", (ins "unsigned":$index), "", [{
      return false;
    }]>
  ];
}

def Tarpon_QuantizableInterface : OpInterface<"QuantizableInterface"> {
  let cppNamespace = "::tarpon";
  let description = [{
    The op's role in a low-precision graph. Ops without this interface compute
    in f32, between converts.
  }];
  let methods = [
    InterfaceMethod<[{
      True for ops that multiply and accumulate (conv, matmul): they give f32,
      and read low-precision data and filters if they have a filter operand.
      False for ops that pass elements on or select among them (max pool,
      concat, reshape): they give the type they read.
    }], "bool", "accumulates", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      True for ops that do not accumulate, but give means: they vary less than
      what was read, so that their 8-bit type has a range of its own.
    }], "bool", "averages", (ins), "", [{ return false; }]>,
    InterfaceMethod<[{
      The index of the operand that holds filters, quantised per channel along
      dimension getFilterChannelAxis(); -1 if none.
    }], "int64_t", "getFilterOperand", (ins), "", [{ return -1; }]>,
    InterfaceMethod<[{
      The dimension of the filter operand that counts output channels.
    }], "int64_t", "getFilterChannelAxis", (ins), "", [{ return 0; }]>
  ];
}

#endif // TARPON_IR_TARPONINTERFACES_TD
