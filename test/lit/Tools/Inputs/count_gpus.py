"""Prints how many AMD GPUs HIP finds, as graph-opt would; 0 without HIP.

A program of its own: HIP has threads and handlers that lit is better without.
"""

import ctypes
import os

names = [os.environ.get("TARPON_HIP_LIBRARY")] if os.environ.get(
    "TARPON_HIP_LIBRARY"
) else [f"libamdhip64.so{suffix}" for suffix in (".7", ".6", ".5", "")]


def count():
    for name in names:
        try:
            hip = ctypes.CDLL(name)
        except OSError:
            continue
        found = ctypes.c_int(0)
        if hip.hipInit(0) or hip.hipGetDeviceCount(ctypes.byref(found)):
            return 0
        return found.value
    return 0


print(count())
