//===- TarponRecurrentOps.td - Recurrent layers ------------*- tablegen -*-===//
//
// Part of Tarpon, under the Apache License v2.0 with LLVM Exceptions.
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
//===----------------------------------------------------------------------===//

#ifndef TARPON_IR_TARPONRECURRENTOPS_TD
#define TARPON_IR_TARPONRECURRENTOPS_TD

include "tarpon/IR/TarponOpBase.td"

// One op computes the steps of a recurrent layer. The products with the input,
// which do not depend on the steps before, are a tarpon.matmul of all time
// steps at once: `gates` holds them, with the biases added. D directions run
// over S steps of a batch of B, with H hidden units of N gates each.
defvar recurrentDescription = [{
    `gates` [S, B, D*N*H] are the products with the input, one direction behind
    the other; `recurrent` [D, N*H, H] is multiplied with the hidden state;
    `hidden` [D, B, H] is the initial one. `lengths` [B] holds the number of
    steps of each element of the batch: its state does not change after them,
    and its results are 0. A direction whose entry of `reversed` is 1 runs from
    the last step of each element to its first.

    `activations` has one entry per direction and activation of the cell, a
    number of RecurrentActivation; `alphas` and `betas` hold its parameters. The
    arguments of all activations are bounded by -`clip` and `clip`, unless that
    is 0.

    The result [S + states, D, B, H] holds the hidden states of all steps, then
    the final states.

    Constraints:
    - (C1) gates has rank 3, recurrent rank 3 with equal sizes as above.
    - (C2) all operands but lengths hold floats of one type and have the shapes
      above; lengths holds integers.
    - (C3) reversed has one entry of 0 or 1 per direction; activations, alphas
      and betas have one per direction and activation of the cell.
    - (C4) clip is not negative.

}];

class Tarpon_RecurrentOp<string mnemonic, dag operands, dag more>
    : Tarpon_GraphOp<mnemonic> {
  let arguments = !con(operands, (ins DenseI64ArrayAttr:$reversed,
                                      DenseI64ArrayAttr:$activations,
                                      DenseF32ArrayAttr:$alphas,
                                      DenseF32ArrayAttr:$betas,
                                      F32Attr:$clip), more);
}

def Tarpon_LstmOp : Tarpon_RecurrentOp<"lstm",
    (ins Tarpon_Tensor:$gates, Tarpon_Tensor:$recurrent, Tarpon_Tensor:$lengths,
         Tarpon_Tensor:$hidden, Tarpon_Tensor:$cell, Tarpon_Tensor:$peepholes),
    (ins DefaultValuedAttr<I64Attr, "0">:$input_forget)> {
  let summary = "The recurrence of a long short-term memory";
  let description = !strconcat(recurrentDescription, [{
    The gates are i, o, f, c (N = 4) with activations f, g, h; `cell` [D, B, H] is
    the initial cell state, `peepholes` [D, 3*H] are those of i, o, f. The final
    states are hidden and cell.
      i = f(gate + R h + P cell)    f = f(gate + R h + P cell), or 1 - i with
      c = g(gate + R h)                 `input_forget`
      cell = f * cell + i * c       o = f(gate + R h + P cell)
      h = o * h(cell)
  }]);
}

def Tarpon_GruOp : Tarpon_RecurrentOp<"gru",
    (ins Tarpon_Tensor:$gates, Tarpon_Tensor:$recurrent, Tarpon_Tensor:$lengths,
         Tarpon_Tensor:$hidden, Tarpon_Tensor:$bias),
    (ins DefaultValuedAttr<I64Attr, "0">:$linear_before_reset)> {
  let summary = "The recurrence of a gated recurrent unit";
  let description = !strconcat(recurrentDescription, [{
    The gates are z, r, h (N = 3) with activations f, g; `bias` [D, H] is the
    recurrent one of gate h. The final state is the hidden one.
      z = f(gate + R h)             r = f(gate + R h)
      n = g(gate + R (r * h) + bias), or with `linear_before_reset`
          g(gate + r * (R h + bias))
      h = (1 - z) * n + z * h
  }]);
}

def Tarpon_RnnOp : Tarpon_RecurrentOp<"rnn",
    (ins Tarpon_Tensor:$gates, Tarpon_Tensor:$recurrent, Tarpon_Tensor:$lengths,
         Tarpon_Tensor:$hidden),
    (ins)> {
  let summary = "The recurrence of a simple recurrent layer";
  let description = !strconcat(recurrentDescription, [{
    One gate (N = 1) with activation f: h = f(gate + R h). The final state is the
    hidden one.
  }]);
}

#endif // TARPON_IR_TARPONRECURRENTOPS_TD
