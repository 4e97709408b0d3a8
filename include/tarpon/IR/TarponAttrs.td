//===- TarponAttrs.td - Attributes and enums ----------------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONATTRS_TD
#define TARPON_IR_TARPONATTRS_TD

include "tarpon/IR/TarponBase.td"
include "mlir/IR/AttrTypeBase.td"
include "mlir/IR/EnumAttr.td"
include "mlir/IR/TensorEncoding.td"

def Tarpon_LayoutKind : I32EnumAttr<"LayoutKind", "order of the dimensions in memory", [
    I32EnumAttrCase<"NCHW", 0, "nchw">,
    I32EnumAttrCase<"NHWC", 1, "nhwc">,
    I32EnumAttrCase<"Blocked", 2, "blocked">]> {
  let cppNamespace = "::tarpon";
  let genSpecializedAttr = 0;
}

def Tarpon_LayoutAttr : AttrDef<Tarpon_Dialect, "Layout", [
    DeclareAttrInterfaceMethods<VerifiableTensorEncoding>]> {
  let mnemonic = "layout";
  let summary = "The memory layout of a tensor of logical shape N, C, spatial...";
  let description = [{
    - `nchw`: row-major in the logical shape. It is the same as no encoding, and
      printed types leave it out.
    - `nhwc`: channels innermost: N, spatial..., C.
    - `nchwXc` for a block size X: N, ceil(C/X), spatial..., X. Channels beyond C
      hold unspecified values.

    Ranks other than 4 use the same words (`nhwc` of a rank-3 tensor is N, W,
    C). `<nhwc, pitch = P>` is a slice of an nhwc tensor of P channels: that
    many elements lie between neighbouring pixels. A pitch of 0 stands for the
    number of channels.
    Constraints:
    - (C1) the block size is 4, 8, 16, 32 or 64, and 1 if not blocked.
    - (C2) as an encoding it needs a tensor of rank 3 or more: smaller ones
      have no layout but nchw.
    - (C3) as an encoding it is not nchw, which has one spelling: none.
    - (C4) only nhwc has a pitch, which is not negative.
    - (C5) as an encoding a pitch is more than the channels of the tensor.
  }];
  let parameters = (ins "::tarpon::LayoutKind":$kind, "int64_t":$block, "int64_t":$pitch);
  let builders = [AttrBuilder<(ins "::tarpon::LayoutKind":$kind), [{
    return $_get($_ctxt, kind, int64_t(1), int64_t(0));
  }]>, AttrBuilder<(ins "::tarpon::LayoutKind":$kind, "int64_t":$block), [{
    return $_get($_ctxt, kind, block, int64_t(0));
  }]>];
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
  let extraClassDeclaration = [{
    /// "nchw", "nhwc", "nchw16c"; does not include a pitch.
    std::string getName() const;
    /// The same layout with another pitch.
    LayoutAttr withPitch(int64_t pitch) const;
    /// The layout of that name, or null.
    static LayoutAttr parseName(::mlir::MLIRContext *context, ::llvm::StringRef name);
  }];
}

/// C++ values, which these attributes hold as they are.
def Tarpon_ProblemParameter
    : AttrParameter<"::tarpon::Problem", "a problem", "const ::tarpon::Problem &">;
def Tarpon_PerfConfigParameter
    : AttrParameter<"::tarpon::PerfConfig", "a perf config", "const ::tarpon::PerfConfig &">;

def Tarpon_ProblemAttr : AttrDef<Tarpon_Dialect, "Problem"> {
  let mnemonic = "problem";
  let summary = "The problem that a fused region poses, or that a launch solves";
  let description = [{
    The problem itself (tarpon/Problem/Problem.h), computed once from a region and
    carried to its launch and its layer. Its text is the problem's key, and behind
    it the scales that the key leaves out, of each quantised tensor, operands first:
    one scale with the zero point, unless that is 0, or one scale for each index of
    a dimension.

    ```mlir
    #tarpon.problem<"relu(1x8xf32)->1x8xf32">
    #tarpon.problem<"relu(1x8xu8q)->1x8xu8q", 5.000000e-01 : 128, 2.500000e-01>
    #tarpon.problem<"convert(2x8xf32:const)->2x8xi8q", {5.000000e-01, 2.500000e-01} along 0>
    ```
    Constraints:
    - (C1) a graph can pose the problem (see findFault).
    - (C2) a quantised tensor has one scale, or one for each index of one of its
      dimensions. Scales are positive numbers.
    - (C3) the zero point is a value of the tensor's dtype.
  }];
  let parameters = (ins Tarpon_ProblemParameter:$value);
  let hasCustomAssemblyFormat = 1;
  let genVerifyDecl = 1;
}

def Tarpon_SolutionAttr : AttrDef<Tarpon_Dialect, "Solution"> {
  let mnemonic = "solution";
  let summary = "The solver that computes a fused region, and its perf config";
  let description = [{
    The solver's id, the perf config in its text form, and where the choice comes
    from: `#tarpon.solution<"conv-igemm-v1", "tile_m=14,tile_n=32", "measured">`.
  }];
  let parameters = (ins "::mlir::StringAttr":$solver,
                        Tarpon_PerfConfigParameter:$config,
                        "::mlir::StringAttr":$source);
  let hasCustomAssemblyFormat = 1;
}

#endif // TARPON_IR_TARPONATTRS_TD
