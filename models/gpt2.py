# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""GPT-2 (Radford et al. 2019) of 124 million parameters: ids of tokens in, logits out."""

from __future__ import annotations

import numpy as np
import onnx

from builder import ModelBuilder, Value
from decomposed import Arithmetic
from transformer import OPSET, Tokens, norm, number, project

WORDS, PLACES, WIDTH, DEPTH, HEADS, HIDDEN = 50_257, 1024, 768, 12, 12, 3072

# The words' embeddings are the last layer's weights, too.
PARAMETERS = 124_439_808

EPSILON = 1e-5


def hide_future(b: ModelBuilder, tokens: Tokens, triangle: str, scores: Value) -> Value:
    """Leaves the scores of earlier tokens alone."""
    seen = tokens.slice_places(triangle, [2, 3], 0)
    least = number(b, float(np.finfo(np.float32).min))
    return b.node("Where", [seen.name, scores.name, least], 0)


def build(batch: int | None = None) -> onnx.ModelProto:
    """GPT-2, of up to 1024 tokens, without a cache."""
    b = ModelBuilder("gpt2", batch, opset=OPSET)
    tokens = Tokens(b, WORDS, PLACES, WIDTH, HEADS)
    triangle = b.constant("bias", np.tril(np.ones((1, 1, PLACES, PLACES), bool)))
    x = tokens.embed()
    for _ in range(DEPTH):
        y = project(b, norm(b, x, EPSILON), 3 * WIDTH)
        split = b.integers("split", [WIDTH] * 3)
        names = [b.unique("qkv") for _ in range(3)]
        b.nodes.append(onnx.helper.make_node("Split", [y.name, split], names, axis=2))
        query, key, value = (Value(name, WIDTH) for name in names)
        scores = hide_future(b, tokens, triangle, tokens.scores(query, key))
        x = b.add(x, project(b, tokens.mix(scores, value), WIDTH))
        y = project(b, norm(b, x, EPSILON), HIDDEN)
        x = b.add(x, project(b, Arithmetic(b).gelu_tanh(y), WIDTH))
    x = norm(b, x, EPSILON)
    tokens.output(tokens.compare(x))
    return b.model()
