# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Tests of scripts/failed-tests."""

import pathlib
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "failed-tests"

LOG = """\
1/2 Testing: TarponATests
[ RUN      ] ATest.Passes
remark: a good case's words
[       OK ] ATest.Passes (3 ms)
[ RUN      ] ATest.Fails
/a/file.cpp:12: Failure
[  FAILED  ] ATest.Fails (4 ms)
[==========] 2 tests ran.
[  FAILED  ] 1 test, listed below:
[  FAILED  ] ATest.Fails
[ RUN      ] BTest.Crashes/0
a backtrace
"""


def printed(log):
    with tempfile.NamedTemporaryFile("w") as file:
        file.write(log)
        file.flush()
        done = subprocess.run(
            [SCRIPT, file.name], capture_output=True, text=True, check=True
        )
    return done.stdout


class FailedTests(unittest.TestCase):
    def test_only_cases_that_failed_are_printed(self):
        self.assertEqual(
            printed(LOG),
            "[ RUN      ] ATest.Fails\n"
            "/a/file.cpp:12: Failure\n"
            "[  FAILED  ] ATest.Fails (4 ms)\n"
            "[ RUN      ] BTest.Crashes/0\n"
            "a backtrace\n"
            "(it never ended)\n",
        )

    def test_cases_with_parameters_end(self):
        case = "[ RUN      ] X/Y.z/0\nwhy\n[  FAILED  ] X/Y.z/0, where GetParam() = 3 (4 ms)\n"
        self.assertEqual(printed(case + "[==========] 1 test ran.\n"), case)

    def test_long_cases_are_shortened(self):
        case = "[ RUN      ] A.b\n" + "line\n" * 100 + "[  FAILED  ] A.b (1 ms)\n"
        lines = printed(case).splitlines()
        self.assertEqual(len(lines), 41)
        self.assertEqual(lines[20], "(62 lines)")
        self.assertEqual(lines[-1], "[  FAILED  ] A.b (1 ms)")


if __name__ == "__main__":
    unittest.main()
