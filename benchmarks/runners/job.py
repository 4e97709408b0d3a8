# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What a worker process is asked to run."""

from __future__ import annotations

import json
from dataclasses import asdict, dataclass
from pathlib import Path

# As `extra`: ONNX Runtime runs the operators as the model has them.
UNOPTIMISED = "unoptimised"


@dataclass(frozen=True)
class Job:
    """A model for one runner, and the cores that it may use, one thread each."""

    runner: str
    model: str  # a file, or for PyTorch also "zoo:NAME"
    cores: tuple[int, ...]
    shape: tuple[int, ...]
    # What the runner needs besides: Tarpon's library, or UNOPTIMISED.
    extra: str = ""

    @property
    def threads(self) -> int:
        return len(self.cores)

    @property
    def batch(self) -> int:
        return self.shape[0]

    @property
    def path(self) -> Path:
        return Path(self.model)

    def to_json(self) -> str:
        return json.dumps(asdict(self))

    @staticmethod
    def from_json(text: str) -> Job:
        fields = json.loads(text)
        for name in ("cores", "shape"):
            fields[name] = tuple(fields[name])
        return Job(**fields)
