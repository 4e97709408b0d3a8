# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a model with OpenVINO."""

from __future__ import annotations

import numpy as np
import openvino
from openvino import properties
from openvino.properties import hint

from runners.job import Job


class Runner:
    def __init__(self, job: Job) -> None:
        core = openvino.Core()
        model = core.read_model(job.model)
        model.reshape(list(job.shape))
        self.compiled = core.compile_model(
            model,
            "CPU",
            {
                hint.performance_mode: hint.PerformanceMode.LATENCY,
                # Without it, fp32 models are computed in bf16 where the CPU has it.
                hint.inference_precision: openvino.Type.f32,
                hint.enable_cpu_pinning: True,
                properties.inference_num_threads: job.threads,
                properties.num_streams: 1,
            },
        )
        self.request = self.compiled.create_infer_request()

    def set_input(self, x: np.ndarray) -> None:
        self.x = x
        self.request.set_input_tensor(openvino.Tensor(self.x, shared_memory=True))

    def run(self) -> np.ndarray:
        self.request.infer()
        return self.request.get_output_tensor(0).data
