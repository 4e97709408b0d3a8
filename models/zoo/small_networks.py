# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The networks of small_modules.py."""

from __future__ import annotations

from functools import partial
from typing import Any, Callable

from library_networks import from_torchvision
from network import Input, Network, in_family

TORCHSCRIPT = {"exporter": "torchscript"}


def small(name: str, *arguments: Any) -> Callable[[], Any]:
    def make() -> Any:
        import small_modules

        return getattr(small_modules, name)(*arguments)

    return make


def floats(**shapes: tuple[int, ...]) -> dict[str, Any]:
    return {"inputs": tuple(Input(name, shape) for name, shape in shapes.items())}


WORDS = {"inputs": (Input("words", (1, 12), "int64", high=50),)}
STATE = floats(x=(1, 16), h=(1, 32), c=(1, 32))
SEQUENCES = floats(source=(1, 9, 16), target=(1, 5, 16))
LATENT = floats(z=(1, 32, 1, 1))

RECURRENT = in_family(
    "recurrent",
    ("lstm", small("Recurrent", "LSTM", 2, False), WORDS),
    ("lstm_batch", small("Recurrent", "LSTM", 1, False), {**WORDS, "batch": 3}),
    ("lstm_both_ways", small("Recurrent", "LSTM", 2, True), {**WORDS, **TORCHSCRIPT}),
    ("gru", small("Recurrent", "GRU", 2, False), WORDS),
    ("gru_both_ways", small("Recurrent", "GRU", 1, True), {**WORDS, **TORCHSCRIPT}),
    ("rnn", small("Recurrent", "RNN", 1, False), {**WORDS, **TORCHSCRIPT}),
    ("lstm_cell", small("Stepper"), STATE),
    ("lstm_cell_torchscript", small("Stepper"), {**STATE, **TORCHSCRIPT}),
    ("crnn", small("Crnn"), floats(x=(1, 1, 16, 48))),
    ("crnn_torchscript", small("Crnn"), {**floats(x=(1, 1, 16, 48)), **TORCHSCRIPT}),
    ("gru_attention", small("SequenceToSequence"), SEQUENCES),
    ("gru_attention_torchscript", small("SequenceToSequence"), {**SEQUENCES, **TORCHSCRIPT}),
)

SUPER_RESOLUTION = in_family(
    "super resolution",
    ("espcn_2", small("Espcn", 2), {"batch": 2}),
    ("espcn_3", small("Espcn", 3), TORCHSCRIPT),
    ("edsr_bicubic", small("Edsr", "bicubic")),
    ("edsr_bilinear", small("Edsr", "bilinear"), TORCHSCRIPT),
    image=32,
)

DETECTION = in_family(
    "detection",
    ("yolo_v8", small("YoloV8")),
    ("yolo_v8_batch", small("YoloV8"), {"batch": 2}),
    ("yolo_v8_torchscript", small("YoloV8"), TORCHSCRIPT),
    ("yolo_v5", small("YoloV5")),
    ("yolo_v5_torchscript", small("YoloV5"), TORCHSCRIPT),
    ("top_k_head", small("TopKHead")),
    ("top_k_head_torchscript", small("TopKHead"), TORCHSCRIPT),
    image=64,
)

GENERATIVE = in_family(
    "generative",
    ("dcgan", small("Generator"), LATENT),
    ("dcgan_torchscript", small("Generator"), {**LATENT, **TORCHSCRIPT}),
    ("style_transfer", small("StyleTransfer"), {"image": 32}),
    ("style_transfer_torchscript", small("StyleTransfer"), {"image": 32, **TORCHSCRIPT}),
    ("vq_autoencoder", small("Autoencoder"), {"image": 16}),
    (
        "diffusion",
        small("Diffusion"),
        {"inputs": (Input("x", (1, 4, 16, 16)), Input("step", (1,), "int64", high=1000))},
    ),
)

OTHERS = in_family(
    "other",
    (
        "graph_convolution",
        small("GraphConvolution"),
        {"inputs": (Input("nodes", (10, 16)), Input("edges", (2, 30), "int64", high=10))},
    ),
    (
        "dlrm",
        small("Recommender"),
        {"inputs": (Input("dense", (4, 13)), Input("categories", (4, 4), "int64", high=100))},
    ),
    ("point_net", small("PointNet"), floats(x=(1, 3, 64))),
    ("wave_net", small("WaveNet"), floats(x=(1, 1, 64))),
    ("spatial_transformer", small("SpatialTransformer"), {"image": 32}),
    ("spectrogram", small("Spectrogram"), floats(x=(1, 400))),
    ("experts", small("Experts"), floats(x=(3, 16))),
)

QUANTISED = in_family(
    "quantised",
    *(
        (f"{name}_{quantised}", make, {"image": 64, **fields, "quantised": quantised})
        for name, make, fields in (
            ("yolo_v8", small("YoloV8"), {}),
            ("style_transfer", small("StyleTransfer"), {"image": 32, **TORCHSCRIPT}),
            ("tv_resnet18", partial(from_torchvision, "resnet18"), TORCHSCRIPT),
            ("tv_mobilenet_v2", partial(from_torchvision, "mobilenet_v2"), {"batch": 2}),
        )
        for quantised in ("qdq", "operators")
    ),
    ("gru_attention_dynamic", small("SequenceToSequence"), {**SEQUENCES, "quantised": "dynamic"}),
    ("lstm_dynamic", small("Recurrent", "LSTM", 1, False), {**WORDS, "quantised": "dynamic"}),
    (
        "crnn_dynamic",
        small("Crnn"),
        {**floats(x=(1, 1, 16, 48)), **TORCHSCRIPT, "quantised": "dynamic"},
    ),
)

SMALL_NETWORKS: tuple[Network, ...] = (
    *RECURRENT,
    *SUPER_RESOLUTION,
    *DETECTION,
    *GENERATIVE,
    *OTHERS,
    *QUANTISED,
)
