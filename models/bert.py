# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""BERT-base (Devlin et al. 2018) as an encoder: ids and a mask of tokens in, their features out."""

from __future__ import annotations

import numpy as np
import onnx
from onnx import TensorProto

from builder import ModelBuilder, Value
from transformer import OPSET, Tokens, gelu, norm, number, project

WORDS, PLACES, WIDTH, DEPTH, HEADS, HIDDEN = 30_522, 512, 768, 12, 12, 3072

# The paper's 110 million, without the pooler and the embedding of segments.
PARAMETERS = 108_890_112

EPSILON = 1e-12


def mask_scores(b: ModelBuilder, mask: Value) -> Value:
    """0 for tokens that count and the least float for others, to be added to scores."""
    wide = b.node("Unsqueeze", [mask.name, b.integers("axes", [1, 2])], 0)
    seen = b.node("Cast", [wide.name], 0, to=TensorProto.BOOL)
    least = number(b, float(np.finfo(np.float32).min))
    return b.node("Where", [seen.name, number(b, 0), least], 0)


def build(batch: int | None = None) -> onnx.ModelProto:
    """BERT-base, of up to 512 tokens."""
    b = ModelBuilder("bert", batch, opset=OPSET)
    tokens = Tokens(b, WORDS, PLACES, WIDTH, HEADS)
    mask = mask_scores(b, tokens.integers_input("attention_mask"))
    x = norm(b, tokens.embed(), EPSILON)
    for _ in range(DEPTH):
        scores = b.add(tokens.scores(project(b, x, WIDTH), project(b, x, WIDTH)), mask)
        mixed = tokens.mix(scores, project(b, x, WIDTH))
        x = norm(b, b.add(project(b, mixed, WIDTH), x), EPSILON)
        hidden = project(b, gelu(b, project(b, x, HIDDEN)), WIDTH)
        x = norm(b, b.add(hidden, x), EPSILON)
    tokens.output(x)
    return b.model()
