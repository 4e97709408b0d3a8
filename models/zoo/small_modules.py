# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Small modules of families that the libraries have no network of: recurrent ones,
super resolution, a YOLO with its decoded boxes, generators, and others."""

from __future__ import annotations

from typing import Any

import torch
from torch import nn
from torch.nn import functional


class Recurrent(nn.Module):
    """A tagger: embedding, recurrent layers, one product."""

    def __init__(self, kind: str, layers: int, bidirectional: bool) -> None:
        super().__init__()
        self.embedding = nn.Embedding(50, 24)
        self.layers = getattr(nn, kind)(
            24, 32, layers, batch_first=True, bidirectional=bidirectional
        )
        self.head = nn.Linear(64 if bidirectional else 32, 7)

    def forward(self, words: torch.Tensor) -> torch.Tensor:
        return self.head(self.layers(self.embedding(words))[0])


class Stepper(nn.Module):
    """One step of an LSTM, whose state is passed in and out."""

    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.LSTMCell(16, 32)

    def forward(self, x: torch.Tensor, h: torch.Tensor, c: torch.Tensor) -> Any:
        h, c = self.cell(x, (h, c))
        return torch.tanh(h).sum(dim=1), h, c


class Crnn(nn.Module):
    """Reads text in images: convolutions, and an LSTM over the columns."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(
            nn.Conv2d(1, 16, 3, padding=1), nn.ReLU(), nn.MaxPool2d(2),
            nn.Conv2d(16, 32, 3, padding=1), nn.BatchNorm2d(32), nn.ReLU(), nn.MaxPool2d((4, 1)),
        )  # fmt: skip
        self.rnn = nn.LSTM(64, 32, bidirectional=True)
        self.head = nn.Linear(64, 20)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        columns = self.features(x).flatten(1, 2).permute(2, 0, 1)
        return functional.log_softmax(self.head(self.rnn(columns)[0]), dim=-1)


class SequenceToSequence(nn.Module):
    """Two GRUs and attention between them."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.GRU(16, 32, batch_first=True)
        self.decoder = nn.GRU(16, 32, batch_first=True)
        self.attention = nn.MultiheadAttention(32, 4, batch_first=True)

    def forward(self, source: torch.Tensor, target: torch.Tensor) -> torch.Tensor:
        memory, state = self.encoder(source)
        decoded = self.decoder(target, state)[0]
        return decoded + self.attention(decoded, memory, memory, need_weights=False)[0]


class Espcn(nn.Module):
    """Super resolution by sub-pixel convolution."""

    def __init__(self, factor: int) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.Conv2d(3, 32, 5, padding=2), nn.Tanh(), nn.Conv2d(32, 16, 3, padding=1), nn.Tanh(),
            nn.Conv2d(16, 3 * factor**2, 3, padding=1), nn.PixelShuffle(factor),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Edsr(nn.Module):
    """Super resolution by residual blocks, over the image enlarged by `mode`."""

    def __init__(self, mode: str) -> None:
        super().__init__()
        self.mode = mode
        self.head = nn.Conv2d(3, 24, 3, padding=1)
        self.blocks = nn.ModuleList(
            nn.Sequential(nn.Conv2d(24, 24, 3, padding=1), nn.PReLU(24),
                          nn.Conv2d(24, 24, 3, padding=1)) for _ in range(3)
        )  # fmt: skip
        self.tail = nn.Sequential(nn.Conv2d(24, 12, 3, padding=1), nn.PixelShuffle(2))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.head(x)
        for block in self.blocks:
            y = y + 0.1 * block(y)
        corners = None if self.mode == "nearest" else False
        large = functional.interpolate(x, scale_factor=2, mode=self.mode, align_corners=corners)
        return large + self.tail(y)


def conv(inputs: int, outputs: int, kernel: int = 1, stride: int = 1) -> nn.Module:
    return nn.Sequential(
        nn.Conv2d(inputs, outputs, kernel, stride, kernel // 2, bias=False),
        nn.BatchNorm2d(outputs), nn.SiLU(),
    )  # fmt: skip


class C2f(nn.Module):
    """YOLOv8's block: a split, a chain of bottlenecks, and all of them joined."""

    def __init__(self, channels: int) -> None:
        super().__init__()
        half = channels // 2
        self.enter = conv(channels, channels)
        self.blocks = nn.ModuleList(
            nn.Sequential(conv(half, half, 3), conv(half, half, 3)) for _ in range(2)
        )
        self.leave = conv(2 * channels, channels)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = list(self.enter(x).chunk(2, 1))
        for block in self.blocks:
            parts.append(parts[-1] + block(parts[-1]))
        return self.leave(torch.cat(parts, 1))


class Sppf(nn.Module):
    def __init__(self, channels: int) -> None:
        super().__init__()
        self.enter, self.leave = conv(channels, channels // 2), conv(2 * channels, channels)
        self.pool = nn.MaxPool2d(5, 1, 2)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        parts = [self.enter(x)]
        for _ in range(3):
            parts.append(self.pool(parts[-1]))
        return self.leave(torch.cat(parts, 1))


class YoloV8(nn.Module):
    """Anchor-free heads at two strides: distributions over distances become boxes."""

    classes, bins = 4, 8

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 16, 3, 2), conv(16, 32, 3, 2), C2f(32), conv(32, 32, 3, 2))
        self.deep = nn.Sequential(conv(32, 64, 3, 2), C2f(64), Sppf(64))
        self.merge = nn.Sequential(conv(96, 32), C2f(32))
        outputs = 4 * self.bins + self.classes
        self.heads = nn.ModuleList(nn.Conv2d(c, outputs, 1) for c in (32, 64))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        fine = self.stem(x)
        deep = self.deep(fine)
        fine = self.merge(torch.cat([functional.interpolate(deep, scale_factor=2.0), fine], 1))
        results = []
        for head, feature, stride in zip(self.heads, (fine, deep), (8, 16), strict=True):
            results.append(self.decode(head(feature), stride))
        return torch.cat(results, 2)

    def decode(self, y: torch.Tensor, stride: int) -> torch.Tensor:
        batch, _, height, width = y.shape
        distances, scores = y.flatten(2).split([4 * self.bins, self.classes], 1)
        weights = distances.view(batch, 4, self.bins, -1).softmax(2)
        steps = torch.arange(self.bins, dtype=y.dtype).view(1, 1, -1, 1)
        left, right = (weights * steps).sum(2).chunk(2, 1)
        rows, columns = torch.meshgrid(
            torch.arange(height, dtype=y.dtype) + 0.5, torch.arange(width, dtype=y.dtype) + 0.5,
            indexing="ij",
        )  # fmt: skip
        points = torch.stack((columns, rows)).flatten(1).unsqueeze(0)
        low, high = points - left, points + right
        boxes = torch.cat(((low + high) / 2, high - low), 1) * stride
        return torch.cat((boxes, scores.sigmoid()), 1)


class YoloV5(nn.Module):
    """Heads with three anchors each, decoded in place as YOLOv5 does."""

    def __init__(self) -> None:
        super().__init__()
        self.stem = nn.Sequential(conv(3, 16, 6, 2), conv(16, 32, 3, 2), conv(32, 32, 3, 2))
        self.head = nn.Conv2d(32, 3 * 9, 1)
        self.register_buffer("anchors", torch.tensor([[10.0, 13], [16, 30], [33, 23]]))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.head(self.stem(x))
        batch, _, height, width = y.shape
        y = y.view(batch, 3, 9, height, width).permute(0, 1, 3, 4, 2).contiguous().sigmoid()
        rows, columns = torch.meshgrid(torch.arange(height), torch.arange(width), indexing="ij")
        grid = torch.stack((columns, rows), 2).view(1, 1, height, width, 2).float() - 0.5
        y[..., 0:2] = (y[..., 0:2] * 2 + grid) * 8
        y[..., 2:4] = (y[..., 2:4] * 2) ** 2 * self.anchors.view(1, 3, 1, 1, 2)
        return y.view(batch, -1, 9)


class TopKHead(nn.Module):
    """The best 20 of a dense head's boxes, as DETR-like detectors choose them."""

    def __init__(self) -> None:
        super().__init__()
        self.features = nn.Sequential(conv(3, 16, 3, 2), conv(16, 16, 3, 2))
        self.boxes, self.scores = nn.Conv2d(16, 4, 1), nn.Conv2d(16, 5, 1)

    def forward(self, x: torch.Tensor) -> Any:
        features = self.features(x)
        boxes = self.boxes(features).flatten(2).transpose(1, 2).sigmoid()
        scores = self.scores(features).flatten(2).transpose(1, 2).sigmoid()
        best, index = scores.flatten(1).topk(20, dim=1)
        place = (index // 5).unsqueeze(-1).expand(-1, -1, 4)
        return best, index % 5, boxes.gather(1, place)


class Generator(nn.Module):
    """DCGAN's generator."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.ConvTranspose2d(32, 64, 4), nn.BatchNorm2d(64), nn.ReLU(),
            nn.ConvTranspose2d(64, 32, 4, 2, 1), nn.BatchNorm2d(32), nn.LeakyReLU(0.2),
            nn.ConvTranspose2d(32, 3, 4, 2, 1, output_padding=1), nn.Tanh(),
        )  # fmt: skip

    def forward(self, z: torch.Tensor) -> torch.Tensor:
        return self.layers(z)


class StyleTransfer(nn.Module):
    """Johnson's network: reflections, instance norms, enlarged by the nearest."""

    def __init__(self) -> None:
        super().__init__()
        self.layers = nn.Sequential(
            nn.ReflectionPad2d(4), nn.Conv2d(3, 16, 9), nn.InstanceNorm2d(16, affine=True), nn.ReLU(),
            nn.ReflectionPad2d(1), nn.Conv2d(16, 32, 3, 2), nn.InstanceNorm2d(32, affine=True),
            nn.ReLU(), nn.Upsample(scale_factor=2), nn.ReplicationPad2d(1), nn.Conv2d(32, 16, 3),
            nn.InstanceNorm2d(16), nn.ELU(), nn.Conv2d(16, 3, 1),
        )  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return self.layers(x)


class Autoencoder(nn.Module):
    """A variational autoencoder's two halves, and its quantised codes' numbers."""

    def __init__(self) -> None:
        super().__init__()
        self.encoder = nn.Sequential(nn.Conv2d(3, 16, 4, 2, 1), nn.GroupNorm(4, 16), nn.SiLU(),
                                     nn.Conv2d(16, 8, 4, 2, 1))  # fmt: skip
        self.codes = nn.Embedding(32, 8)
        self.decoder = nn.Sequential(nn.ConvTranspose2d(8, 16, 4, 2, 1), nn.SiLU(),
                                     nn.ConvTranspose2d(16, 3, 4, 2, 1))  # fmt: skip

    def forward(self, x: torch.Tensor) -> Any:
        z = self.encoder(x).permute(0, 2, 3, 1)
        distances = ((z.unsqueeze(-2) - self.codes.weight) ** 2).sum(-1)
        index = distances.argmin(-1)
        return self.decoder(self.codes(index).permute(0, 3, 1, 2)), index


class GraphConvolution(nn.Module):
    """Messages along edges, added to their targets."""

    def __init__(self) -> None:
        super().__init__()
        self.first, self.second = nn.Linear(16, 32), nn.Linear(32, 7)

    def forward(self, nodes: torch.Tensor, edges: torch.Tensor) -> torch.Tensor:
        for layer in (self.first, self.second):
            messages = layer(nodes)[edges[0]]
            zeros = torch.zeros(nodes.shape[0], messages.shape[1])
            nodes = torch.relu(zeros.index_add(0, edges[1], messages))
        return nodes


class Recommender(nn.Module):
    """A DLRM: embeddings, products of all pairs, two perceptrons."""

    def __init__(self) -> None:
        super().__init__()
        self.tables = nn.ModuleList(nn.Embedding(100, 16) for _ in range(4))
        self.dense = nn.Sequential(nn.Linear(13, 32), nn.ReLU(), nn.Linear(32, 16), nn.ReLU())
        self.top = nn.Sequential(nn.Linear(26, 32), nn.ReLU(), nn.Linear(32, 1), nn.Sigmoid())
        rows, columns = torch.tril_indices(5, 5, -1)
        self.register_buffer("rows", rows)
        self.register_buffer("columns", columns)

    def forward(self, dense: torch.Tensor, categories: torch.Tensor) -> torch.Tensor:
        x = self.dense(dense)
        vectors = [x] + [table(categories[:, i]) for i, table in enumerate(self.tables)]
        stacked = torch.stack(vectors, 1)
        products = torch.bmm(stacked, stacked.transpose(1, 2))[:, self.rows, self.columns]
        return self.top(torch.cat([x, products], 1))


class PointNet(nn.Module):
    """Points of a cloud, each through the same layers, and their maximum."""

    def __init__(self) -> None:
        super().__init__()
        self.points = nn.Sequential(nn.Conv1d(3, 32, 1), nn.BatchNorm1d(32), nn.ReLU(),
                                    nn.Conv1d(32, 64, 1), nn.ReLU())  # fmt: skip
        self.head = nn.Sequential(nn.Linear(64, 32), nn.ReLU(), nn.Linear(32, 10))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        return functional.log_softmax(self.head(self.points(x).amax(2)), -1)


class WaveNet(nn.Module):
    """Gated causal convolutions with growing dilations."""

    def __init__(self) -> None:
        super().__init__()
        self.enter = nn.Conv1d(1, 16, 1)
        self.layers = nn.ModuleList(nn.Conv1d(16, 32, 2, dilation=2**i) for i in range(4))
        self.leave = nn.Conv1d(16, 8, 1)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        y = self.enter(x)
        for layer in self.layers:
            gate, value = layer(functional.pad(y, (layer.dilation[0], 0))).chunk(2, 1)
            y = y + torch.sigmoid(gate) * torch.tanh(value)
        return self.leave(y)


class SpatialTransformer(nn.Module):
    """Resamples an image by an affine map that it computes from the image."""

    def __init__(self) -> None:
        super().__init__()
        self.map = nn.Sequential(nn.Conv2d(3, 8, 4, 4), nn.ReLU(), nn.AdaptiveAvgPool2d(2),
                                 nn.Flatten(), nn.Linear(32, 6), nn.Tanh())  # fmt: skip

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        grid = functional.affine_grid(self.map(x).view(-1, 2, 3), list(x.shape), align_corners=False)
        return functional.grid_sample(x, grid, align_corners=False)


class Diffusion(nn.Module):
    """A step of a diffusion model's U-Net: a time embedding, group norms, attention."""

    def __init__(self) -> None:
        super().__init__()
        self.time = nn.Sequential(nn.Linear(32, 32), nn.SiLU(), nn.Linear(32, 32))
        self.enter = nn.Conv2d(4, 32, 3, padding=1)
        self.down = nn.Conv2d(32, 32, 3, 2, 1)
        self.norm = nn.GroupNorm(8, 32)
        self.query = nn.Linear(32, 96)
        self.up = nn.Conv2d(64, 4, 3, padding=1)

    def forward(self, x: torch.Tensor, step: torch.Tensor) -> torch.Tensor:
        frequencies = torch.exp(-torch.arange(16) * 0.5)
        angles = step.float()[:, None] * frequencies
        time = self.time(torch.cat([angles.sin(), angles.cos()], 1))
        skip = self.enter(x) + time[:, :, None, None]
        y = self.norm(self.down(functional.silu(skip)))
        batch, channels, height, width = y.shape
        # The exporter wants a dimension of heads.
        q, k, v = self.query(y.flatten(2).transpose(1, 2)).unsqueeze(1).chunk(3, -1)
        y = y + functional.scaled_dot_product_attention(q, k, v).transpose(2, 3).reshape(y.shape)
        y = functional.interpolate(y, scale_factor=2, mode="nearest")
        return self.up(torch.cat([y, skip], 1))


class Spectrogram(nn.Module):
    """The logarithm of an STFT's energies in bands, and a classifier of it."""

    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("window", torch.hann_window(64))
        self.bands = nn.Linear(33, 16)
        self.head = nn.Conv1d(16, 5, 3)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        spectrum = torch.stft(x, 64, 16, window=self.window, center=False, return_complex=False)
        energy = spectrum.pow(2).sum(-1).transpose(1, 2)
        return self.head(torch.log(self.bands(energy).abs() + 1e-3).transpose(1, 2))


class Experts(nn.Module):
    """A mixture of experts, all computed and weighted by the best two."""

    def __init__(self) -> None:
        super().__init__()
        self.gate = nn.Linear(16, 4)
        self.experts = nn.Parameter(torch.randn(4, 16, 16))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        scores, index = self.gate(x).topk(2, -1)
        weights = torch.zeros(x.shape[0], 4).scatter(1, index, scores.softmax(-1))
        return torch.einsum("be,bi,eij->bj", weights, x, self.experts)
