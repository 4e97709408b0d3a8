# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Cases of the operators of com.microsoft that compute attention."""

from __future__ import annotations

from typing import Any

import numpy as np

from microsoft_case import Const, Input, MicrosoftCase, Numbers, scale, zero

BATCH, HEADS, WIDTH = 2, 3, 32
HIDDEN = HEADS * WIDTH


def angles(positions: int, width: int = WIDTH) -> list[Const]:
    steps = np.arange(positions)[:, None] * 0.7 ** np.arange(width // 2)
    return [Const(f(steps).astype(np.float32)) for f in (np.cos, np.sin)]


def rotary_cases(n: Numbers) -> list[MicrosoftCase]:
    flat, heads = n.floats(BATCH, 4, HIDDEN), n.floats(BATCH, HEADS, 4, WIDTH)
    places = n.ints(12, BATCH, 4, dtype=np.int64)
    first = np.array([3], np.int64)
    cache = angles(12)

    def case(name: str, x: np.ndarray, ids: np.ndarray, caches: list[Const], **a: Any):
        return MicrosoftCase(
            f"rotary_{name}", "RotaryEmbedding", [x, ids, *caches], a
        )

    return [
        case("flat", flat, places, cache),
        case("first", flat, first, cache),
        case("heads", heads, places, cache),
        case("interleaved", heads, first, cache, interleaved=1),
        case("scale", flat, places, cache, scale=3.0),
        case(
            "part",
            flat,
            places,
            angles(12, 4),
            num_heads=HEADS,
            rotary_embedding_dim=4,
        ),
    ]


def projected_cases(n: Numbers) -> list[MicrosoftCase]:
    x, weights = n.floats(BATCH, 4, 10), Const(0.3 * n.floats(10, 3 * HIDDEN))
    wide = Const(0.3 * n.floats(10, 2 * HIDDEN + 2 * HEADS))
    bias, wide_bias = Const(n.floats(3 * HIDDEN)), Const(n.floats(2 * HIDDEN + 2 * HEADS))
    past = n.floats(2, BATCH, HEADS, 5, WIDTH)
    table = np.ones((BATCH, 4), np.int32)
    table[1, 2:] = 0
    cube = n.ints(2, BATCH, 4, 4)
    cube[..., 0] = 1
    ends = np.array([3, 4], np.int32)
    limits = np.array([4, 3, 0, 1], np.int32)

    def case(name: str, *inputs: Input, present: bool = False, **a: Any):
        outputs = ["y", "present"] if present else ["y"]
        return MicrosoftCase(
            f"attention_{name}",
            "Attention",
            list(inputs),
            {"num_heads": HEADS} | a,
            outputs,
        )

    q = [
        n.bytes(BATCH, 4, 10),
        Const(n.weights(10, 3 * HIDDEN)),
        bias,
        scale(0.01),
    ]
    columns = Const(n.random.uniform(0.002, 0.01, 3 * HIDDEN).astype(np.float32))
    q_zero = Const(np.zeros(3 * HIDDEN, np.int8))
    return [
        case("plain", x, weights, bias),
        case("no_bias", x, weights, None, scale=0.2),
        case("causal", x, weights, bias, unidirectional=1),
        case("table", x, weights, bias, table),
        case("filter", x, weights, bias, table, mask_filter_value=-1.5),
        case("cube", x, weights, bias, cube),
        case("ends", x, weights, bias, ends),
        case("limits", x, weights, bias, limits),
        case("causal_table", x, weights, bias, table, unidirectional=1),
        case("added", x, weights, bias, None, None, n.floats(1, HEADS, 4, 4)),
        case("past", x, weights, bias, None, past, present=True, unidirectional=1),
        case("present", x, weights, bias, present=True),
        case(
            "values",
            x,
            wide,
            wide_bias,
            qkv_hidden_sizes=[HIDDEN, HIDDEN, 2 * HEADS],
        ),
        MicrosoftCase(
            "attention_quantised",
            "QAttention",
            [*q, scale(0.005), table, zero(120), zero(1, np.int8)],
            {"num_heads": HEADS},
        ),
        MicrosoftCase(
            "attention_quantised_past",
            "QAttention",
            [*q, columns, None, zero(120), q_zero, past],
            {"num_heads": HEADS, "unidirectional": 1},
            ["y", "present"],
        ),
    ]


def multi_head_cases(n: Numbers) -> list[MicrosoftCase]:
    q, k = n.floats(BATCH, 4, HIDDEN), n.floats(BATCH, 6, HIDDEN)
    v, wide = n.floats(BATCH, 6, HIDDEN), n.floats(BATCH, 6, 2 * HEADS)
    bias, wide_bias = Const(n.floats(3 * HIDDEN)), Const(n.floats(2 * HIDDEN + 2 * HEADS))
    past = [n.floats(BATCH, HEADS, 5, WIDTH) for _ in range(2)]
    table = np.ones((BATCH, 6), np.int32)
    table[0, 4:] = 0
    cube = n.ints(2, BATCH, 4, 6)
    cube[..., 1] = 1
    heads = [n.floats(BATCH, HEADS, 6, WIDTH) for _ in range(2)]
    new = [n.floats(BATCH, 4, HIDDEN) for _ in range(2)]

    def case(name: str, *inputs: Input, present: bool = False, **a: Any):
        outputs = ["y", "k", "v"] if present else ["y"]
        return MicrosoftCase(
            f"multi_head_{name}",
            "MultiHeadAttention",
            list(inputs),
            {"num_heads": HEADS} | a,
            outputs,
        )

    return [
        case("cross", q, k, v),
        case("bias", q, k, v, bias),
        case("values", q, k, wide, wide_bias, scale=0.2),
        case("lengths", q, k, v, bias, np.array([3, 6], np.int32)),
        case("table", q, k, v, None, table),
        case("filter", q, k, v, None, table, mask_filter_value=-2.0),
        case("cube", q, k, v, None, cube),
        case("added", q, k, v, None, None, n.floats(BATCH, 1, 4, 6)),
        case("added_table", q, k, v, None, table, n.floats(1, HEADS, 4, 6)),
        case("causal", q, *new, unidirectional=1),
        case("heads", q, *heads),
        case("past", q, *new, None, None, None, *past, present=True),
        case(
            "past_causal",
            q,
            *new,
            bias,
            None,
            n.floats(1, 1, 4, 9),
            *past,
            present=True,
            unidirectional=1,
        ),
    ]


class Step:
    """The inputs of a step of GroupQueryAttention."""

    def __init__(self, n: Numbers, batch: int, new: int, room: int) -> None:
        self.shared = 2
        self.heads = 4
        shape = (batch, self.shared, room, WIDTH)
        self.query = n.floats(batch, new, self.heads * WIDTH)
        self.pairs = [n.floats(batch, new, self.shared * WIDTH) for _ in range(2)]
        self.past = [n.floats(*shape) if room else None for _ in range(2)]
        self.new = new

    def case(
        self,
        name: str,
        last: list[int],
        *more: Input,
        total: int | None = None,
        present: bool = True,
        packed: bool = False,
        known: bool = True,
        **attributes: Any,
    ) -> MicrosoftCase:
        """A step whose batch entries have these indices of their last keys."""
        total_ = np.array(total or max(last) + 1, np.int32)
        rows = [self.query, *self.pairs]
        if packed:
            rows = [np.concatenate(rows, axis=2), None, None]
        inputs = [
            *rows,
            *self.past,
            np.array(last, np.int32),
            Const(total_) if known else total_,
            *more,
        ]
        heads = {"num_heads": self.heads, "kv_num_heads": self.shared}
        return MicrosoftCase(
            f"group_query_{name}",
            "GroupQueryAttention",
            inputs,
            heads | attributes,
            ["y", "k", "v"] if present else ["y", "_k", "_v"],
        )


def group_query_cases(n: Numbers) -> list[MicrosoftCase]:
    cache = angles(16)
    half = angles(16, 16)
    prompt, token = Step(n, 2, 5, 0), Step(n, 1, 1, 6)
    several, ragged = Step(n, 1, 3, 6), Step(n, 2, 1, 6)
    buffer, buffers = Step(n, 1, 1, 12), Step(n, 2, 1, 12)
    rotary = {"do_rotary": 1}
    sink = Const(n.floats(4))
    return [
        prompt.case("prompt", [4, 4]),
        prompt.case("prompt_packed", [4, 4], *cache, packed=True, **rotary),
        prompt.case("prompt_window", [4, 4], local_window_size=2),
        prompt.case("prompt_rotary", [4, 4], *cache, **rotary),
        prompt.case("prompt_half", [4, 4], *half, **rotary),
        prompt.case(
            "prompt_interleaved", [4, 4], *cache, rotary_interleaved=1, **rotary
        ),
        prompt.case("prompt_softcap", [4, 4], softcap=1.5, scale=0.5),
        prompt.case("prompt_smooth", [4, 4], smooth_softmax=1),
        prompt.case("prompt_sink", [4, 4], None, None, None, None, sink),
        prompt.case("prompt_both_ways", [4, 4], causal=0),
        prompt.case("ragged_both_ways", [4, 2], causal=0),
        prompt.case(
            "prompt_added", [4, 4], None, None, None, n.floats(1, 4, 5, 5), softcap=2.0
        ),
        token.case("token", [6]),
        token.case("token_unknown", [6], present=False, known=False),
        token.case("token_rotary", [6], *cache, **rotary),
        token.case("token_window", [6], local_window_size=3),
        token.case(
            "token_positions", [6], *cache, np.array([[9]], np.int64), **rotary
        ),
        several.case("several", [8], *cache, **rotary),
        several.case("several_window", [8], local_window_size=4),
        ragged.case("ragged", [6, 3], *cache, present=False, **rotary),
        buffer.case("buffer", [7], *cache, present=False, total=8, **rotary),
        # The mask of a longer sequence.
        buffer.case("buffer_padded", [7], *cache, present=False, total=12, **rotary),
        buffer.case("buffer_unknown", [7], *cache, present=False, known=False, **rotary),
        buffers.case(
            "buffers_unknown",
            [7, 11],
            *cache,
            present=False,
            known=False,
            local_window_size=5,
            **rotary,
        ),
        buffers.case(
            "buffers_added",
            [7, 9],
            None,
            None,
            None,
            n.floats(2, 1, 1, 10),
            present=False,
        ),
    ]


def attention_cases() -> list[MicrosoftCase]:
    n = Numbers(3)
    groups = (rotary_cases, projected_cases, multi_head_cases, group_query_cases)
    return [case for group in groups for case in group(n)]
