# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The stages of run-there in which compute-sanitizer looks into TarponGpuDeviceTests."""

from __future__ import annotations

from typing import Any

# compute-sanitizer's tools, and the fault of PlantedFaults.cpp that each has to find.
SANITIZERS = {
    "memcheck": "outside",
    "racecheck": "no-barrier",
    "initcheck": "unwritten",
    "synccheck": "divergent-barrier",
}
# The status of a program in which compute-sanitizer has found something.
FOUND = 9


def get_command(run: Any, tool: str, tests: str) -> list[str]:
    command = ["compute-sanitizer", "--tool", tool, "--error-exitcode", str(FOUND)]
    return [*command, run.program("TarponGpuDeviceTests"), f"--gtest_filter={tests}"]


def check_clean(run: Any, environment: dict[str, str]) -> None:
    """One problem of each kind."""
    one = {"TARPON_TEST_GPU_PROBLEMS": "1", "TARPON_TEST_JOBS": "0"}

    def check(tool: str) -> None:
        command = get_command(run, tool, "GpuDevice.S*")
        run.call(tool, command, environment={**environment, **one})

    run.each(list(SANITIZERS), check, workers=len(SANITIZERS))


def check_planted(run: Any, environment: dict[str, str]) -> None:
    """The fault of each tool, and the kernel without one, of which it has to say nothing."""

    def check(tool: str) -> None:
        for fault, status in (("none", 0), (SANITIZERS[tool], FOUND)):
            planted = {**environment, "TARPON_TEST_GPU_FAULT": fault}
            command = get_command(run, tool, "GpuDevice.PlantedFault")
            run.call(f"{tool}-{fault}", command, environment=planted, expected=status)

    run.each(list(SANITIZERS), check)
