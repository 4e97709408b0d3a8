# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs a model with ONNX Runtime."""

from __future__ import annotations

import numpy as np
import onnxruntime

from runners.job import UNOPTIMISED, Job


class Runner:
    def __init__(self, job: Job) -> None:
        options = onnxruntime.SessionOptions()
        levels = onnxruntime.GraphOptimizationLevel
        is_optimised = job.extra != UNOPTIMISED
        options.graph_optimization_level = (
            levels.ORT_ENABLE_ALL if is_optimised else levels.ORT_DISABLE_ALL
        )
        options.execution_mode = onnxruntime.ExecutionMode.ORT_SEQUENTIAL
        options.intra_op_num_threads = job.threads
        if job.threads > 1:
            # The calling thread is the first; the others count cores from 1.
            others = ";".join(str(core + 1) for core in job.cores[1:])
            options.add_session_config_entry("session.intra_op_thread_affinities", others)
        options.inter_op_num_threads = 1
        options.log_severity_level = 3
        # The symbolic batch of models/; other models do not have it.
        options.add_free_dimension_override_by_name("N", job.batch)
        self.session = onnxruntime.InferenceSession(
            job.model, options, providers=["CPUExecutionProvider"]
        )
        self.input = self.session.get_inputs()[0].name
        self.output = self.session.get_outputs()[0].name

    def set_input(self, x: np.ndarray) -> None:
        self.feed = {self.input: x}

    def run(self) -> np.ndarray:
        return self.session.run([self.output], self.feed)[0]
