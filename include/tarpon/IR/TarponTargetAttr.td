//===- TarponTargetAttr.td - The attribute #tarpon.target --*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONTARGETATTR_TD
#define TARPON_IR_TARPONTARGETATTR_TD

include "tarpon/IR/TarponBase.td"
include "mlir/IR/AttrTypeBase.td"

def Tarpon_TargetAttr : AttrDef<Tarpon_Dialect, "Target"> {
  let mnemonic = "target";
  let summary = "The target that code is generated for";
  let description = [{
    The name of a target, as `--target` takes it, with its options. Passes that
    depend on the target read the attribute `tarpon.target` of the function, or
    of an op around it:

    ```mlir
    module attributes {tarpon.target = #tarpon.target<"gfx942:cu=304">} { ... }
    module attributes {tarpon.target = #tarpon.target<"x86-64-v3", {threads = 2}>} { ... }
    ```
    Constraints:
    - (C1) an option is `threads`, a positive i64, or `cpu` or `device`, strings.
    - (C2) if the program has registered targets, one of them has that name and
      takes these options.
  }];
  let parameters = (ins "::mlir::StringAttr":$name,
                        OptionalParameter<"::mlir::DictionaryAttr">:$options);
  let assemblyFormat = "`<` $name (`,` $options^)? `>`";
  let genVerifyDecl = 1;
}

#endif // TARPON_IR_TARPONTARGETATTR_TD
