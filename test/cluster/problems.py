# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Lists of problems for tests of a fleet: small, of several kinds, all different."""

from __future__ import annotations

import itertools
import random
from collections.abc import Iterator

# The targets of the tests: this machine, and a GPU that is emulated.
TARGETS = {"host": ("--target", "host"), "gfx942": ("--target", "gfx942", "--emulated")}
# As long as a search needs to have more than one round.
SEARCH = ("--search-iterations", "6", "--candidates", "4")


def make_problems(seed: int) -> Iterator[str]:
    """Convolutions and elementwise operations, without end."""
    draw = random.Random(seed)
    seen = set()
    for i in itertools.count():
        n, c, k = draw.randint(1, 2), 4 * draw.randint(1, 4), 8 * draw.randint(1, 4)
        h, w, filter_size = draw.randint(4, 11), draw.randint(4, 11), draw.choice((1, 3))
        lines = (
            f"conv -n {n} -c {c} -H {h} -W {w} -k {k} -y {filter_size} -x {filter_size} "
            f"-p {filter_size // 2} -q {filter_size // 2} -F 1",
            f"relu({n}x{c}x{h}x{w}xf32)->{n}x{c}x{h}x{w}xf32",
        )
        # Two convolutions, then an elementwise operation.
        line = lines[i % 3 == 2]
        if line not in seen:
            seen.add(line)
            yield line


def take(problems: Iterator[str], count: int) -> list[str]:
    return list(itertools.islice(problems, count))
